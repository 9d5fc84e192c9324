// Computes one step of training: the loss of a batch, its gradient, and the update.
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "model/optimizer.h"
#include "model/transformer.h"

namespace posbench {

/// A sequence with its targets. Both must outlive the batch.
struct LabelledSequence {
  const Sequence& sequence;
  const std::vector<int>& targets;  // (A): the expected ids at the sequence's target positions
  Index outputs = 0;                // the loss is over the ids below this; 0: over the whole vocabulary
};

/// Memory that all steps reuse.
struct TrainingWorkspace {
  explicit TrainingWorkspace(const ParameterLayout& layout) : gradients(layout) {}

  Gradients gradients;  // of the last batch; clipped if there was an update
  StepCache tables;
  SequenceWorkspace activations;
  Matrix d_logits;
};

/// Returns the random stream of dropout for sequence n of a batch.
using DropoutStream = std::function<Rng(size_t n)>;

/// Returns the sum of cross-entropies over the targets of a batch, times `weight`. Writes its gradient to
/// workspace.gradients.
double loss_and_gradient(const Transformer&, const Parameters&, std::span<const LabelledSequence> batch,
                         double weight, const DropoutStream&, TrainingWorkspace&);

struct StepResult {
  double loss = 0;     // mean cross-entropy over the targets, before the update
  bool finite = true;  // false: loss or gradient is infinite or NaN, and there was no update
};

/// A model in training. All members must outlive it.
struct TrainedModel {
  const Transformer& transformer;
  const Optimizer& optimizer;
  OptimizerState& state;
  Parameters& parameters;
  TrainingWorkspace& workspace;
};

/// Computes the gradient of the mean cross-entropy over the targets of a batch, clips it to `max_norm`, updates
/// the parameters and projects them back into their range.
StepResult training_step(const TrainedModel&, std::span<const LabelledSequence> batch, const DropoutStream&,
                         double max_norm, double learning_rate);

}  // namespace posbench
