// Measures the trivial baselines of a task: the accuracy of predictors that ignore most of the question, and the
// fraction of samples that training has shown already.
#pragma once
#include <stop_token>

#include "harness/training/task_setup.h"
#include "results/types/task_baseline.h"

namespace posbench {

constexpr int kBaselineSamples = 4000;
constexpr int kTrainingSamplesPerSample = 5;  // the most training samples that are drawn for each baseline sample

/// Returns the number of different training samples that a run draws, but at most `limit`.
int num_training_samples(const TrainingOptions&, int limit = kTrainingSamplesPerSample * kBaselineSamples);

/// The predictors read nothing (constant), the last two tokens (last_token), the position in the sequence and the
/// length (position), or the multiset of the tokens read before (bag_of_tokens). Each learns the most frequent
/// answer for each key on one half of the samples and is scored on the other half. `seen_in_training` is the
/// fraction of the samples, or with training.reserve of test samples, that also occur among the first training
/// samples of seed 0. If a stop is requested meanwhile, the remaining splits are missing.
TaskBaseline measure_baselines(const TaskSetup&, int samples = kBaselineSamples, const std::stop_token& = {});

}  // namespace posbench
