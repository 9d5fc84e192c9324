// Draws examples from reproducible random streams and prepares them for a model.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "harness/training/decode.h"
#include "harness/training/packing.h"
#include "harness/training/reserve.h"
#include "model/position_encoding.h"
#include "tasks/task.h"

namespace posbench {

constexpr const char* kInDistribution = "in_distribution";  // the split that has the training distribution
constexpr const char* kShift = "shift";                     // the same samples, whose positions begin later
constexpr const char* kPacked = "packed";  // the same samples, several in a sequence as in training

/// Names one stream of samples of a run.
struct StreamId {
  Purpose purpose = Purpose::train;
  std::string split = kInDistribution;  // train and further_training have this split only
  std::uint64_t seed = 0;
  std::string grid = "";  // a point of a grid, "length=2x", for a test that belongs to no split

  /// Returns "train", "train:further", "validation", "validation:ood_sparse", "test:ood_sparse" or
  /// "grid:length=2x". This text seeds the generator, so it must not change.
  std::string text() const;
};

/// Returns a message if the example is invalid for a task with these numbers of tokens and answers: a token,
/// target, candidate or scored position does not fit the others. Returns "" if the example is valid.
std::string validate(const Example&, int vocabulary, int answers);

/// An endless stream of examples. Example n depends only on the task and its options, on the text and the seed of
/// the stream and on n. The task must outlive the stream. TaskSetup::stream makes the streams of a run.
struct SampleStream {
  SampleStream(const Task&, const StreamId&);
  /// Makes a stream for a measurement, which no run trains or tests on. `text` seeds the generator.
  SampleStream(const Task&, std::string text, std::uint64_t seed);

  struct Sample {
    Example example;
    int length = 0;  // in the task's unit
  };
  Sample operator()(std::uint64_t index) const;

  /// Predictions are chosen among the ids below this number.
  int num_outputs() const { return answers_only ? task.answers() : task.outputs(); }

  const Task& task;
  std::string text;
  std::uint64_t seed = 0;
  Purpose purpose = Purpose::test;
  std::optional<int> length = std::nullopt;  // of every example; empty: drawn from the lengths of the task
  bool answers_only = false;                 // predictions are chosen among the ids that answers can have
  std::uint64_t distinct = 0;        // the stream repeats its first `distinct` samples; 0: it does not repeat
  int loops = 0;                     // passes of a sequence through the layers; 0: those of the model
  const Reserve* reserve = nullptr;  // the questions that only tests draw; null: tests may repeat training
  /// Sample n scores as many answers, chosen at random, as sample n of this stream has. Null: it scores all.
  std::shared_ptr<const SampleStream> answers_as = nullptr;
  int largest_shift = 0;  // positions begin at 1 ... largest_shift, drawn for each sample; 0: they begin at 0
  Packing packing = {};
  CacheOptions cache = {};
  Rounding rounding = Rounding::none;

 private:
  Example draw(int length, Rng&) const;
};

/// The streams of one training run.
struct TrainingStreams {
  SampleStream training, validation;
  /// More streams to validate on, with the names of their splits. Nothing but the learning curve depends on them.
  std::vector<std::pair<std::string, SampleStream>> validated_splits;
};

/// Returns the length of all sequences of one step, for batches whose sequences have the same length. A stream
/// that repeats consists of whole batches.
int length_of_batch(const SampleStream&, std::uint64_t step, int batch);

/// A sample and the model input made from it. If a sequence has several samples, the example is all of them: a
/// test scores the one with this index, and training those from this index on.
struct PreparedSample {
  std::uint64_t index = 0;  // in the stream, not reduced modulo `distinct`: a repeated sample has a new index
  SampleStream::Sample sample;
  Sequence sequence;         // target positions: all in training, otherwise the scored ones
  std::vector<int> targets;  // (target positions)
};

/// Returns the samples first ... first + count - 1, longest first, so that shorter sequences can reuse the tables
/// of longer ones. In training without a mask of packed samples, each result has all samples of a sequence. They
/// are the same for any number of threads. Throws InputError if the task makes an invalid example.
std::vector<PreparedSample> draw_batch(const SampleStream&, const PositionEncoding&, bool training,
                                       std::uint64_t first, int count, ThreadPool& = calling_thread());

}  // namespace posbench
