// Training of one model, with validation. One value holds all state that later steps depend on.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/spec.h"
#include "harness/training/options.h"
#include "harness/training/samples.h"
#include "model/optimizer.h"
#include "model/transformer.h"
#include "results/types/experiment_result.h"

namespace posbench {

/// One model with one encoding. The parts are on the heap because the transformer refers to its encoding, whose
/// address must not change when a Model is moved.
struct Model {
  ModelShape shape;
  ParameterLayout layout;
  std::unique_ptr<PositionEncoding> encoding;
  std::unique_ptr<Transformer> transformer;
};

/// Throws std::invalid_argument if the encoding is not defined for the shape.
Model make_model(const Spec& encoding, const ModelShape&);

/// The whole state of training at one learning rate, between two steps.
struct TrainingState {
  /// Starts at the learning rate with index `rate` of the options.
  TrainingState(const Model&, const TrainingOptions&, std::uint64_t seed, size_t rate = 0);

  double learning_rate;  // the peak
  Parameters parameters;
  OptimizerState optimizer;
  int step = 0;         // updates done
  double loss = 0;      // of the last update
  double loss_sum = 0;  // since the last validation
  int loss_count = 0;
  int perfect_validations = 0;  // in a row
  std::vector<CurvePoint> curve;
  bool stopped_early = false;
  std::optional<int> diverged_step;
};

/// The whole state of training at each learning rate in turn, between two steps. All rates have the same initial
/// values and the same samples.
struct LearningRateSweep {
  LearningRateSweep(const Model&, const TrainingOptions&, std::uint64_t seed);

  std::vector<RateResult> tried;      // results of the finished learning rates
  std::optional<TrainingState> best;  // the best of them
  TrainingState state;                // of the current learning rate
};

/// The id with the largest logit in row n: among the candidates if there are any, otherwise among the ids below
/// `outputs`.
int answer(const Matrix& logits, Index n, const std::vector<int>& candidates, Index outputs);

/// Accuracies, loss and margin of a model on the first `sequences` samples of a stream: overall, by length, by distance
/// and by position in the answer. If
/// `go_on` is given and returns false, the result has fewer sequences.
SplitResult evaluate(const Model&, const Parameters&, const SampleStream&, int sequences,
                     const std::function<bool()>& go_on = {});

/// Another stream to validate on, and the name of its split. Nothing but the learning curve depends on these.
struct ValidatedSplit {
  std::string name;
  SampleStream samples;
};

/// Trains up to options.steps. `after_step` may interrupt after each step by returning false; a later call resumes
/// from the state. Returns whether training is finished. `purpose`: of the samples.
bool train(const Model&, const Task&, const TrainingOptions&, std::uint64_t seed, TrainingState&,
           const std::function<bool(const TrainingState&)>& after_step, const std::vector<ValidatedSplit>& splits = {},
           const std::string& purpose = "train");

/// The same at every learning rate of the options. The best rate has the highest sequence accuracy in its last
/// validation. Ties are broken by token accuracy, then by the lowest mean training loss since the validation
/// before, then by the lowest rate. A rate that diverged is worse than any that did not.
bool train(const Model&, const Task&, const TrainingOptions&, std::uint64_t seed, LearningRateSweep&,
           const std::function<bool(const LearningRateSweep&)>& after_step, const std::vector<ValidatedSplit>& splits = {});

}  // namespace posbench
