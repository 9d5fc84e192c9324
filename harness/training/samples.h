// Examples as the model reads them, drawn from streams that anyone can draw again.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/position_encoding.h"
#include "tasks/task.h"

namespace posbench {

/// One endless row of examples: the n-th depends on the task and its options, the seed, the purpose and n alone.
struct SampleStream {
  const Task& task;
  std::string purpose;  // "train", "validation", "test:ood_sparse"
  std::uint64_t seed = 0;
  std::optional<int> length;  // of every example; drawn from those of the task without it

  struct Sample {
    Example example;
    int length = 0;  // in the task's unit
  };
  Sample operator()(std::uint64_t index) const;
};

/// A sample with what the model needs besides.
struct Drawn {
  SampleStream::Sample sample;
  Sequence sequence;         // its target positions: all with a target in training, the scored ones otherwise
  std::vector<int> targets;  // at the target positions
};

/// The samples first .. first + count - 1, longest first, so that the tables of one serve those after it.
std::vector<Drawn> draw(const SampleStream&, const PositionEncoding&, bool training, std::uint64_t first,
                        int count);

}  // namespace posbench
