#include "harness/training/evaluate.h"

#include <algorithm>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "harness/training/tally.h"
#include "harness/training/task_grid.h"
#include "model/denormals.h"
#include "model/training_step.h"

namespace posbench {
namespace {

/// Returns the scores of the model's answers to a sample.
std::vector<ScoredAnswer> answer(const Model& model, const Parameters& parameters, const PreparedSample& drawn,
                                 const SampleStream& samples, ThreadWorkspace& workspace) {
  auto& [tables, activations, d_logits] = workspace;
  const Index outputs = samples.num_outputs();
  if (samples.cache.mode == CacheMode::off) {
    model.transformer->prepare(parameters, drawn.sequence, tables, nullptr);
    model.transformer->forward(parameters, drawn.sequence, tables, nullptr, activations);
  } else {
    activations.logits = decode(model, parameters, drawn.sequence, samples.cache, tables, activations);
  }
  std::vector<ScoredAnswer> answers;
  for (size_t n = 0; n < drawn.targets.size(); ++n) {
    answers.push_back(score_row(activations.logits, static_cast<Index>(n), outputs,
                                drawn.sample.example.candidates, drawn.targets[n]));
  }
  return answers;
}

}  // namespace

ScoredAnswer score_row(const Matrix& logits, Index n, Index outputs, const std::vector<int>& candidates,
                       int target) {
  static thread_local std::vector<double> values;
  const auto row = logits.row(n).head(outputs);
  values.assign(row.begin(), row.end());
  return score_answer(values, candidates, target);
}

bool TestSize::is_enough(std::int64_t samples, Count sequence) const {
  if (samples >= most) return true;
  return until_decided && samples > 0 && samples % kGridStep == 0 && is_decided(sequence);
}

TestSize test_size(const EvaluationOptions& options, double multiple) {
  return {most_sequences(options, multiple), options.grid_rules == 2};
}

SplitResult evaluate(const Model& model, const Parameters& parameters, const SampleStream& samples, TestSize size,
                     const std::stop_token& stop, ThreadPool& pool) {
  const FlushDenormals flush;
  Tally tally;
  StepCache shared;
  std::vector<ThreadWorkspace> threads(static_cast<size_t>(pool.max_threads()));
  for (ThreadWorkspace& thread : threads) thread.tables.shared = &shared;
  for (int first = 0; !size.is_enough(first, tally.sequence()) && !stop.stop_requested(); first += kGridStep) {
    const int count = std::min(kGridStep, size.most - first);
    const std::vector<PreparedSample> batch = draw_batch(samples, *model.encoding, false, first, count, pool);
    model.transformer->prepare(parameters, batch.front().sequence, shared, nullptr);
    std::vector<std::vector<ScoredAnswer>> answers(batch.size());
    std::vector<const PreparedSample*> in_order(batch.size());
    pool.for_each(batch.size(), [&](size_t n, size_t thread) {
      const FlushDenormals flush_here;
      const size_t at = batch[n].index - static_cast<std::uint64_t>(first);
      in_order[at] = &batch[n];
      answers[at] = answer(model, parameters, batch[n], samples, threads[thread]);
    });
    // Sums of losses must not depend on the order of the batch.
    for (size_t n = 0; n < batch.size(); ++n)
      tally.add(in_order[n]->sample.example, in_order[n]->sample.length, answers[n]);
  }
  return tally.result();
}

}  // namespace posbench
