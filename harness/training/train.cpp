#include "harness/training/train.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "harness/training/evaluate.h"
#include "model/denormals.h"
#include "model/training_step.h"
#include "results/types/learning_curve.h"

namespace posbench {
namespace {

/// Makes one optimizer update at state.step.
StepResult update(const Model& model, SampleStream& samples, const TrainingOptions& options,
                  const Optimizer& optimizer, TrainingState& state, TrainingWorkspace& workspace) {
  const std::uint64_t first = static_cast<std::uint64_t>(state.step) * options.batch;
  if (options.lengths == BatchLengths::same)
    samples.length = length_of_batch(samples, static_cast<std::uint64_t>(state.step), options.batch);
  const std::vector<PreparedSample> drawn =
      draw_batch(samples, *model.encoding, true, first, options.batch, workspace.pool);
  std::vector<LabeledSequence> batch;
  for (const PreparedSample& d : drawn) batch.push_back({d.sequence, d.targets, samples.num_outputs()});
  const int start = state.end > options.steps ? state.end / 2 : 0;  // of the schedule, which a doubling repeats
  const int steps = state.end - start, warm_up = static_cast<int>(std::ceil(options.warm_up * steps));
  const double rate = state.learning_rate * schedule(options.decay, state.step - start, steps, warm_up);
  return training_step(
      {*model.transformer, optimizer, state.optimizer, state.parameters, workspace}, batch,
      [&](size_t n) { return make_rng(samples.seed, "dropout", first + n); }, options.clip, rate);
}

double fraction(const Count& count) {
  return count.total > 0 ? static_cast<double>(count.correct) / static_cast<double>(count.total) : 0;
}

/// Adds a point to the learning curve, and decides whether training stops early.
void validate(const Model& model, const TrainingStreams& streams, const TrainingOptions& options,
              TrainingState& state, ThreadPool& pool) {
  const auto measure = [&](const SampleStream& samples) {
    return evaluate(model, state.parameters, samples, options.validation_sequences, {}, pool);
  };
  const SplitResult validated = measure(streams.validation);
  state.curve.push_back(
      {state.step, state.loss_sum / state.loss_count, fraction(validated.token), fraction(validated.sequence)});
  for (const auto& [name, samples] : streams.validated_splits) {
    const SplitResult result = measure(samples);
    state.curve.back().splits.push_back({name, fraction(result.token), fraction(result.sequence)});
  }
  state.loss_sum = state.loss_count = 0;
  const bool perfect = validated.token.correct == validated.token.total;
  state.perfect_validations = perfect ? state.perfect_validations + 1 : 0;
  state.stopped_early =
      options.early_stop > 0 && state.perfect_validations >= options.early_stop && state.step < state.end;
  if (state.step == state.end && 2 * state.end <= options.most_steps() && is_unfinished(state.curve))
    state.end *= 2;
}

}  // namespace

TrainingState::TrainingState(const Model& model, const TrainingOptions& options, std::uint64_t seed, size_t rate)
    : learning_rate(options.learning_rates.at(rate)),
      parameters(initialize(model.layout, seed)),
      optimizer(make_optimizer(options, model.layout)->initial_state(model.layout)),
      end(options.steps) {
  model.transformer->constrain(parameters);
}

bool train(const Model& model, const TrainingStreams& streams, const TrainingOptions& options,
           TrainingState& state, const std::function<bool(const TrainingState&)>& on_step, ThreadPool& pool) {
  const FlushDenormals flush;
  SampleStream samples = streams.training;
  const std::unique_ptr<const Optimizer> optimizer = make_optimizer(options, model.layout);
  // With one group all but the validations is computed by the calling thread, so that no other thread waits.
  TrainingWorkspace workspace(model.layout, options.groups, options.groups > 1 ? pool : calling_thread());
  while (state.step < state.end && !state.stopped_early && !state.diverged_step) {
    const auto [loss, finite] = update(model, samples, options, *optimizer, state, workspace);
    if (!finite) {
      state.diverged_step = state.step;
      break;
    }
    ++state.step;
    state.loss = loss;
    state.loss_sum += loss;
    ++state.loss_count;
    if (state.step % options.validate_every == 0 || state.step == state.end)
      validate(model, streams, options, state, pool);
    if (on_step && !on_step(state)) return state.step == state.end || state.stopped_early;
  }
  return true;
}

}  // namespace posbench
