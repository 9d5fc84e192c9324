// Training of one model: fresh samples, validation, and everything that a later step depends on in one value.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/spec.h"
#include "harness/training/options.h"
#include "harness/training/samples.h"
#include "model/optimizer.h"
#include "model/transformer.h"
#include "results/types/experiment_result.h"

namespace posbench {

/// One model under one encoding. Heap-allocated parts keep their addresses, since the transformer refers to its
/// encoding.
struct Model {
  ModelShape shape;
  ParameterLayout layout;
  std::unique_ptr<PositionEncoding> encoding;
  std::unique_ptr<Transformer> transformer;
};

/// Throws std::invalid_argument where the encoding is not defined for the shape.
Model make_model(const Spec& encoding, const ModelShape&);

/// Training at one learning rate, between two steps. Nothing else is remembered from one to the next.
struct TrainingState {
  /// At the learning rate of the options with this index.
  TrainingState(const Model&, const TrainingOptions&, std::uint64_t seed, size_t rate = 0);

  double learning_rate;  // at its peak
  Parameters parameters;
  OptimizerState optimizer;
  int step = 0;         // updates done
  double loss_sum = 0;  // since the last point of the curve
  int loss_count = 0;
  int perfect = 0;  // looks at the validation stream in a row without an error
  std::vector<CurvePoint> curve;
  bool stopped_early = false;
  std::optional<int> diverged_step;
};

/// Training at each learning rate in turn, from the same initial values and on the same samples, between two
/// steps.
struct LearningRateSweep {
  LearningRateSweep(const Model&, const TrainingOptions&, std::uint64_t seed);

  std::vector<RateResult> tried;      // the learning rates that are done with
  std::optional<TrainingState> best;  // of those
  TrainingState state;                // at the next one, while there is one
};

/// The likeliest id for row n of the logits, among the candidates where there are any.
int answer(const Matrix& logits, Index n, const std::vector<int>& candidates);

/// Accuracies of a model on the samples of a stream, in all and by length and distance.
SplitResult evaluate(const Model&, const Parameters&, const SampleStream&, int sequences);

/// Trains up to options.steps. After each step `after_step` may stop it for later by answering false; the state
/// then goes on where it stands. Returns whether there is nothing left to do.
bool train(const Model&, const Task&, const TrainingOptions&, std::uint64_t seed, TrainingState&,
           const std::function<bool(const TrainingState&)>& after_step);

/// The same at every learning rate of the options. The best is the one whose last look at the validation stream
/// found the most sequences right; among equals the most tokens; then the one with the lowest loss since the look
/// before; then the lowest rate. One that diverged is worse than any that did not.
bool train(const Model&, const Task&, const TrainingOptions&, std::uint64_t seed, LearningRateSweep&,
           const std::function<bool(const LearningRateSweep&)>& after_step);

}  // namespace posbench
