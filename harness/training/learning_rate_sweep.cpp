#include "harness/training/learning_rate_sweep.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>

namespace posbench {
namespace {

RateResult summarize(const TrainingState& state) {
  RateResult result{
      .learning_rate = state.learning_rate, .steps = state.step, .diverged_step = state.diverged_step};
  if (state.diverged_step) return result;
  const CurvePoint& last = state.curve.back();
  result.final_loss = last.loss;
  result.validation_token = last.validation_token;
  result.validation_sequence = last.validation_sequence;
  return result;
}

/// Returns whether the learning rate of `a` is preferred to that of `b`.
bool is_better(const TrainingState& a, const TrainingState& b) {
  if (a.diverged_step || b.diverged_step) return b.diverged_step && (!a.diverged_step || a.step > b.step);
  const auto rank = [](const TrainingState& state) {
    const CurvePoint& last = state.curve.back();
    return std::tuple(last.validation_sequence, last.validation_token, -last.loss.value_or(HUGE_VAL));
  };
  return rank(a) > rank(b);
}

}  // namespace

LearningRateSweep::LearningRateSweep(const Model& model, const TrainingOptions& options, std::uint64_t seed)
    : state(model, options, seed) {}

bool sweep_learning_rates(const Model& model, const TrainingStreams& streams, const TrainingOptions& options,
                          LearningRateSweep& sweep, const std::function<bool(const LearningRateSweep&)>& on_step,
                          ThreadPool& pool) {
  const size_t rates = options.learning_rates.size();
  while (sweep.tried.size() < rates) {
    bool continues = true;
    const auto after_step = [&](const TrainingState&) { return continues = !on_step || on_step(sweep); };
    const bool finished = train(model, streams, options, sweep.state, after_step, pool);
    if (!finished) return false;
    sweep.tried.push_back(summarize(sweep.state));
    if (!sweep.best || is_better(sweep.state, *sweep.best)) sweep.best = std::move(sweep.state);
    if (sweep.tried.size() == rates) break;
    sweep.state = TrainingState(model, options, streams.training.seed, sweep.tried.size());
    if (!continues) return false;
  }
  return true;
}

}  // namespace posbench
