// Examples as the model reads them, from reproducible random streams.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/position_encoding.h"
#include "tasks/task.h"

namespace posbench {

/// What is wrong with an example of a task with these sizes of its vocabulary and answers, in words: a token, target or scored position that
/// does not fit the others. Empty where nothing is.
std::string fault(const Example&, int vocabulary, int answers);

/// One endless row of examples: the n-th depends on the task and its options, the seed, the purpose and n alone.
struct SampleStream {
  const Task& task;
  std::string purpose;  // "train", "validation", "test:ood_sparse"
  std::uint64_t seed = 0;
  std::optional<int> length;  // of every example; drawn from those of the task without it
  bool answers_only = false;  // predictions choose among the ids that answers can have

  struct Sample {
    Example example;
    int length = 0;  // in the task's unit
  };
  Sample operator()(std::uint64_t index) const;
};

/// A sample and the model input made from it.
struct Drawn {
  std::uint64_t index = 0;  // in its stream
  SampleStream::Sample sample;
  Sequence sequence;         // target positions: all in training, the scored ones otherwise
  std::vector<int> targets;  // (target positions)
};

/// The samples first .. first + count - 1, longest first, so that the tables of one serve those after it. Throws
/// std::runtime_error where one has a fault.
std::vector<Drawn> draw(const SampleStream&, const PositionEncoding&, bool training, std::uint64_t first,
                        int count);

}  // namespace posbench
