// Measures the accuracy, the loss and the margin of a model on samples.
#pragma once
#include <stop_token>
#include <vector>

#include "base/thread_pool.h"
#include "harness/training/make_model.h"
#include "harness/training/samples.h"
#include "results/types/experiment_result.h"

namespace posbench {

/// Returns the id with the largest logit in row n: among the candidates if there are any, otherwise among the ids
/// below `outputs`. If logits are equal, the first id wins.
int predicted_token(const Matrix& logits, Index n, const std::vector<int>& candidates, Index outputs);

/// Returns accuracy, loss and margin on the first `sequences` samples of a stream: overall, by length, by distance
/// and by position in the answer. It does not depend on the number of threads, because their results are added in the
/// order of the samples. It has fewer sequences if a stop is requested meanwhile.
SplitResult evaluate(const Model&, const Parameters&, const SampleStream&, int sequences,
                     const std::stop_token& = {}, ThreadPool& = calling_thread());

}  // namespace posbench
