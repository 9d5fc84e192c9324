// One step of training: the loss of a batch, its gradient, and the update.
#pragma once
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

/// Memory of a step, reused from step to step.
struct TrainingWorkspace {
  explicit TrainingWorkspace(const ParameterLayout& layout) : gradients(layout) {}

  Gradients gradients;  // of the last batch; clipped if there was an update
  StepTables tables;
  Activations activations;
  Matrix d_logits;
};

/// The random stream of dropout for sequence n of a batch.
using DropoutStream = std::function<Rng(size_t n)>;

/// The sum of cross-entropies over the targets of a batch, times `weight`; its gradient goes to
/// workspace.gradients.
double loss_and_gradient(const Transformer&, const Parameters&, std::span<const LabelledSequence> batch,
                         double weight, const DropoutStream&, TrainingWorkspace&);

struct StepResult {
  double loss = 0;     // mean cross-entropy over the targets, before the update
  bool finite = true;  // of loss and gradient; else there was no update
};

/// Takes the gradient of the mean cross-entropy over the targets of a batch, clips it to `max_norm`, updates the
/// parameters and projects them back into their range.
StepResult training_step(const Transformer&, std::span<const LabelledSequence> batch, const DropoutStream&,
                         double max_norm, double learning_rate, const Optimizer&, OptimizerState&, Parameters&,
                         TrainingWorkspace&);

}  // namespace posbench
