// Examples as the model reads them, from reproducible random streams.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/position_encoding.h"
#include "tasks/task.h"

namespace posbench {

/// An endless stream of examples. Example n depends only on the task and its options, the seed, the purpose and n.
struct SampleStream {
  const Task& task;
  std::string purpose;  // "train", "validation", "test:ood_sparse"
  std::uint64_t seed = 0;
  std::optional<int> length;  // of every example; if empty, drawn from the lengths of the task

  struct Sample {
    Example example;
    int length = 0;  // in the task's unit
  };
  Sample operator()(std::uint64_t index) const;
};

/// A sample and the model input made from it.
struct Drawn {
  SampleStream::Sample sample;
  Sequence sequence;         // target positions: all with a target in training, else the scored ones
  std::vector<int> targets;  // at the target positions
};

/// The samples first .. first + count - 1, longest first, so that shorter sequences can reuse the tables of longer
/// ones.
std::vector<Drawn> draw(const SampleStream&, const PositionEncoding&, bool training, std::uint64_t first,
                        int count);

}  // namespace posbench
