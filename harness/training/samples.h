// Examples as the model reads them, from reproducible random streams.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/position_encoding.h"
#include "tasks/task.h"

namespace posbench {

/// A message for an invalid example of a task with these sizes of vocabulary and answers: a token, target or
/// scored position that does not fit the others. Empty if the example is valid.
std::string fault(const Example&, int vocabulary, int answers);

/// An endless stream of examples. Example n depends only on the task and its options, the seed, the purpose and n.
struct SampleStream {
  const Task& task;
  std::string purpose;  // "train", "train:further", "validation", "test:ood_sparse"
  std::uint64_t seed = 0;
  std::optional<int> length;  // of every example; if empty, drawn from the lengths of the task
  bool answers_only = false;  // predictions are chosen among the ids that answers can have
  std::uint64_t distinct = 0;  // if it is not 0, the stream repeats its first `distinct` samples
  int loops = 0;  // how often sequences pass through the layers; 0: as the model's shape says

  struct Sample {
    Example example;
    int length = 0;  // in the task's unit
  };
  Sample operator()(std::uint64_t index) const;
};

/// The length of all sequences of the batch of a step, where these have one length. A stream that repeats consists of
/// whole batches.
int length_of_batch(const SampleStream&, std::uint64_t step, int batch);

/// A sample and the model input made from it.
struct Drawn {
  std::uint64_t index = 0;  // in its stream, which goes on counting where its samples repeat
  SampleStream::Sample sample;
  Sequence sequence;         // target positions: all in training, the scored ones otherwise
  std::vector<int> targets;  // (target positions)
};

/// The samples first .. first + count - 1, longest first, so that shorter sequences can reuse the tables of longer
/// ones. Throws std::runtime_error
/// if one is faulty.
std::vector<Drawn> draw(const SampleStream&, const PositionEncoding&, bool training, std::uint64_t first,
                        int count);

}  // namespace posbench
