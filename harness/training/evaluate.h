// Measures the accuracy, the loss and the margin of a model on samples.
#pragma once
#include <cstdint>
#include <stop_token>
#include <vector>

#include "base/thread_pool.h"
#include "harness/training/make_model.h"
#include "harness/training/options.h"
#include "harness/training/samples.h"
#include "harness/training/tally.h"
#include "results/types/experiment_result.h"

namespace posbench {

/// Scores the answer in row n of the logits. Only ids below `outputs` can be predicted.
ScoredAnswer score_row(const Matrix& logits, Index n, Index outputs, const std::vector<int>& candidates,
                       int target);

/// The number of samples of a test.
struct TestSize {
  TestSize(int sequences) : most(sequences) {}
  TestSize(int sequences, bool until) : most(sequences), until_decided(until) {}
  /// Returns true if a test ends after its first `samples`, with these right sequences.
  bool is_enough(std::int64_t samples, Count sequence) const;

  int most;
  bool until_decided = false;  // ends after a multiple of 64 samples if is_decided() is true of their accuracy
};

/// Returns the size of the test at a multiple of a trained value. With grid_rules 2 it ends when it is decided.
TestSize test_size(const EvaluationOptions&, double multiple);

/// Returns accuracy, loss and margin on the first samples of a stream: overall, by length, by distance
/// and by position in the answer. It does not depend on the number of threads, because their results are added in
/// the order of the samples. It has fewer sequences if a stop is requested meanwhile.
SplitResult evaluate(const Model&, const Parameters&, const SampleStream&, TestSize, const std::stop_token& = {},
                     ThreadPool& = calling_thread());

}  // namespace posbench
