#include "harness/training/trainer.h"

#include <cmath>
#include <tuple>

#include "encodings/registry.h"
#include "harness/training/tally.h"
#include "model/denormals.h"
#include "model/training_step.h"

namespace posbench {
namespace {

/// One optimizer update at state.step.
StepResult update(const Model& model, SampleStream& samples, const TrainingOptions& options,
                  const Optimizer& optimizer, TrainingState& state, TrainingWorkspace& workspace) {
  const std::uint64_t first = static_cast<std::uint64_t>(state.step) * options.batch;
  if (options.lengths == BatchLengths::same)
    samples.length = length_of_batch(samples, static_cast<std::uint64_t>(state.step), options.batch);
  const std::vector<Drawn> drawn = draw(samples, *model.encoding, true, first, options.batch);
  const Index outputs = samples.answers_only ? samples.task.answers() : samples.task.vocabulary();
  std::vector<LabelledSequence> batch;
  for (const Drawn& d : drawn) batch.push_back({d.sequence, d.targets, outputs});
  const int warm_up = static_cast<int>(std::ceil(options.warm_up * options.steps));
  const double rate = state.learning_rate * schedule(options.decay, state.step, options.steps, warm_up);
  return training_step(
      *model.transformer, batch, [&](size_t n) { return stream(samples.seed, "dropout", first + n); },
      options.clip, rate, optimizer, state.optimizer, state.parameters, workspace);
}

RateResult figures(const TrainingState& state) {
  RateResult figures{
      .learning_rate = state.learning_rate, .steps = state.step, .diverged_step = state.diverged_step};
  if (state.diverged_step) return figures;
  const CurvePoint& last = state.curve.back();
  figures.final_loss = last.loss;
  figures.validation_token = last.validation_token;
  figures.validation_sequence = last.validation_sequence;
  return figures;
}

double fraction(const Count& count) {
  return count.total > 0 ? static_cast<double>(count.correct) / static_cast<double>(count.total) : 0;
}

/// Whether the learning rate of `a` is preferred to that of `b`.
bool better(const TrainingState& a, const TrainingState& b) {
  if (a.diverged_step || b.diverged_step) return b.diverged_step && (!a.diverged_step || a.step > b.step);
  const auto rank = [](const TrainingState& state) {
    const CurvePoint& last = state.curve.back();
    return std::tuple(last.validation_sequence, last.validation_token, -last.loss.value_or(HUGE_VAL));
  };
  return rank(a) > rank(b);
}

}  // namespace

int answer(const Matrix& logits, Index n, const std::vector<int>& candidates, Index outputs) {
  if (candidates.empty()) {
    Index best = 0;
    logits.row(n).head(outputs).maxCoeff(&best);
    return static_cast<int>(best);
  }
  int best = candidates.front();
  for (const int id : candidates) {
    if (logits(n, id) > logits(n, best)) best = id;
  }
  return best;
}

Model make_model(const Spec& encoding, const ModelShape& shape) {
  Model model;
  model.shape = shape;
  model.encoding = make_encoding(encoding, shape, model.layout);
  model.transformer = std::make_unique<Transformer>(shape, model.layout, *model.encoding);
  return model;
}

TrainingState::TrainingState(const Model& model, const TrainingOptions& options, std::uint64_t seed, size_t rate)
    : learning_rate(options.learning_rates.at(rate)),
      parameters(initialize(model.layout, seed)),
      optimizer(make_optimizer(options.optimizer_options(), model.layout)->initial_state(model.layout)) {
  model.transformer->constrain(parameters);
}

LearningRateSweep::LearningRateSweep(const Model& model, const TrainingOptions& options, std::uint64_t seed)
    : state(model, options, seed) {}

SplitResult evaluate(const Model& model, const Parameters& parameters, const SampleStream& samples, int sequences,
                     const std::function<bool()>& go_on) {
  const FlushDenormals flush;
  constexpr int kChunk = 64;
  const Index outputs = samples.answers_only ? samples.task.answers() : samples.task.vocabulary();
  Tally tally;
  StepTables tables;
  Activations activations;
  std::vector<double> logits;
  for (int first = 0; first < sequences && (!go_on || go_on()); first += kChunk) {
    const int count = std::min(kChunk, sequences - first);
    const std::vector<Drawn> batch = draw(samples, *model.encoding, false, first, count);
    std::vector<std::vector<ScoredAnswer>> answers(batch.size());
    std::vector<const Drawn*> in_order(batch.size());  // sums of losses must not depend on the order of the batch
    for (const Drawn& drawn : batch) {
      model.transformer->prepare(parameters, drawn.sequence, tables, nullptr);
      model.transformer->forward(parameters, drawn.sequence, tables, nullptr, activations);
      const size_t at = drawn.index - static_cast<std::uint64_t>(first);
      in_order[at] = &drawn;
      for (size_t n = 0; n < drawn.targets.size(); ++n) {
        const auto row = activations.logits.row(static_cast<Index>(n)).head(outputs);
        logits.assign(row.begin(), row.end());
        answers[at].push_back(score_answer(logits, drawn.sample.example.candidates, drawn.targets[n]));
      }
    }
    for (size_t n = 0; n < batch.size(); ++n)
      tally.add(in_order[n]->sample.example, in_order[n]->sample.length, answers[n]);
  }
  return tally.result();
}

bool train(const Model& model, const Task& task, const TrainingOptions& options, std::uint64_t seed,
           TrainingState& state, const std::function<bool(const TrainingState&)>& after_step,
           const std::vector<ValidatedSplit>& splits, const std::string& purpose) {
  const FlushDenormals flush;
  const bool answers_only = options.outputs == Outputs::answers;
  SampleStream samples{task, purpose, seed, std::nullopt, answers_only, static_cast<std::uint64_t>(options.samples)};
  const SampleStream validation{task, "validation", seed, std::nullopt, answers_only};
  const std::unique_ptr<const Optimizer> optimizer = make_optimizer(options.optimizer_options(), model.layout);
  TrainingWorkspace workspace(model.layout);
  while (state.step < options.steps && !state.stopped_early && !state.diverged_step) {
    const auto [loss, finite] = update(model, samples, options, *optimizer, state, workspace);
    if (!finite) {
      state.diverged_step = state.step;
      break;
    }
    ++state.step;
    state.loss = loss;
    state.loss_sum += loss;
    ++state.loss_count;
    if (state.step % options.validate_every == 0 || state.step == options.steps) {
      const SplitResult validated = evaluate(model, state.parameters, validation, options.validation_sequences);
      state.curve.push_back(
          {state.step, state.loss_sum / state.loss_count, fraction(validated.token), fraction(validated.sequence)});
      for (const ValidatedSplit& split : splits) {
        const SplitResult result = evaluate(model, state.parameters, split.samples, options.validation_sequences);
        state.curve.back().splits.push_back({split.name, fraction(result.token), fraction(result.sequence)});
      }
      state.loss_sum = state.loss_count = 0;
      const bool perfect = validated.token.correct == validated.token.total;
      state.perfect_validations = perfect ? state.perfect_validations + 1 : 0;
      state.stopped_early =
          options.early_stop > 0 && state.perfect_validations >= options.early_stop && state.step < options.steps;
    }
    const bool done = state.step == options.steps || state.stopped_early;
    if (!after_step(state)) return done;
  }
  return true;
}

bool train(const Model& model, const Task& task, const TrainingOptions& options, std::uint64_t seed,
           LearningRateSweep& sweep, const std::function<bool(const LearningRateSweep&)>& after_step,
           const std::vector<ValidatedSplit>& splits) {
  const size_t rates = options.learning_rates.size();
  while (sweep.tried.size() < rates) {
    bool go_on = true;
    const bool done = train(model, task, options, seed, sweep.state,
                            [&](const TrainingState&) { return go_on = after_step(sweep); }, splits);
    if (!done) return false;
    sweep.tried.push_back(figures(sweep.state));
    if (!sweep.best || better(sweep.state, *sweep.best)) sweep.best = std::move(sweep.state);
    if (sweep.tried.size() == rates) break;
    sweep.state = TrainingState(model, options, seed, sweep.tried.size());
    if (!go_on) return false;
  }
  return true;
}

}  // namespace posbench
