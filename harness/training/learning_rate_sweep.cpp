#include "harness/training/learning_rate_sweep.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
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

/// Returns true if the learning rate of `a` is preferred to that of `b`.
bool is_better(const RateResult& a, const RateResult& b) {
  if (a.diverged_step || b.diverged_step) return b.diverged_step && (!a.diverged_step || a.steps > b.steps);
  const auto rank = [](const RateResult& r) {
    return std::tuple(r.validation_sequence, r.validation_token, -r.final_loss.value_or(HUGE_VAL));
  };
  return rank(a) > rank(b);
}

/// Adds a part of a seed's result to the mean at one learning rate.
void add(const RateResult& seed, double part, RateResult& mean) {
  const auto add_part = [&](const std::optional<double>& value, std::optional<double>& sum) {
    if (value) sum = sum.value_or(0) + part * *value;
  };
  mean.learning_rate = seed.learning_rate;
  mean.steps = std::max(mean.steps, seed.steps);
  add_part(seed.final_loss, mean.final_loss);
  add_part(seed.validation_token, mean.validation_token);
  add_part(seed.validation_sequence, mean.validation_sequence);
  if (!seed.diverged_step) return;
  mean.diverged_step = std::min(*seed.diverged_step, mean.diverged_step.value_or(*seed.diverged_step));
}

}  // namespace

LearningRateSweep::LearningRateSweep(const Model& model, const TrainingOptions& options, std::uint64_t seed)
    : state(model, options, seed) {}

TunedRate choose_rate(const std::vector<const ExperimentResult*>& seeds) {
  TunedRate chosen;
  chosen.tried.resize(seeds.front()->learning_rates.size());
  for (const ExperimentResult* seed : seeds) {
    for (size_t i = 0; i < chosen.tried.size(); ++i)
      add(seed->learning_rates.at(i), 1.0 / static_cast<double>(seeds.size()), chosen.tried[i]);
  }
  const RateResult* best = nullptr;
  for (RateResult& rate : chosen.tried) {
    if (rate.diverged_step) {
      rate.steps = *rate.diverged_step;
      rate.final_loss = rate.validation_token = rate.validation_sequence = std::nullopt;
    }
    if (best == nullptr || is_better(rate, *best)) best = &rate;
  }
  chosen.learning_rate = best->learning_rate;
  return chosen;
}

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
    if (!sweep.best || is_better(sweep.tried.back(), summarize(*sweep.best))) sweep.best = std::move(sweep.state);
    if (sweep.tried.size() == rates) break;
    sweep.state = TrainingState(model, options, streams.training.seed, sweep.tried.size());
    if (!continues) return false;
  }
  return true;
}

}  // namespace posbench
