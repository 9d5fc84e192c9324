#include "model/training_step.h"

#include <cmath>
#include <optional>
#include <span>

#include "model/layers.h"

namespace posbench {

double loss_and_gradient(const Transformer& model, const Parameters& parameters,
                         std::span<const LabelledSequence> batch, double weight, const DropoutStream& dropout,
                         TrainingWorkspace& workspace) {
  auto& [gradients, tables, activations, d_logits] = workspace;
  gradients.flat.setZero();
  double loss = 0;
  for (size_t n = 0; n < batch.size(); ++n) {
    const auto& [sequence, targets, outputs] = batch[n];
    model.prepare(parameters, sequence, tables, &gradients);
    std::optional<Rng> rng;  // its seeding would be 4 % of the step of a tiny model
    if (model.drops(sequence)) rng = dropout(n);
    model.forward(parameters, sequence, tables, rng ? &*rng : nullptr, activations);
    d_logits.resize(activations.logits.rows(), activations.logits.cols());
    const Index used = outputs > 0 ? outputs : d_logits.cols();
    d_logits.rightCols(d_logits.cols() - used).setZero();
    loss += cross_entropy(activations.logits.leftCols(used), targets, weight, d_logits.leftCols(used));
    model.backward(parameters, sequence, tables, activations, d_logits, gradients);
  }
  model.finish(parameters, tables, &gradients);
  return loss;
}

StepResult training_step(const TrainedModel& trained, std::span<const LabelledSequence> batch,
                         const DropoutStream& dropout, double max_norm, double learning_rate) {
  const auto& [model, optimizer, state, parameters, workspace] = trained;
  size_t targets = 0;
  for (const LabelledSequence& labelled : batch) targets += labelled.targets.size();
  const double loss =
      loss_and_gradient(model, parameters, batch, 1.0 / static_cast<double>(targets), dropout, workspace);
  if (!std::isfinite(loss) || !std::isfinite(clip(workspace.gradients, max_norm)))
    return {.loss = loss, .finite = false};
  optimizer.step(workspace.gradients, learning_rate, state, parameters);
  model.constrain(parameters);
  return {.loss = loss};
}

}  // namespace posbench
