#include "model/training_step.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "model/denormals.h"
#include "model/layers.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

struct Batch {
  const Transformer& model;
  const Parameters& parameters;
  std::span<const LabeledSequence> sequences;
  double weight;  // of each target's cross-entropy
  const DropoutStream& dropout;
};

/// Adds the gradient of the sequences n = group, group + num_groups, ... in this order. Returns their loss.
double add_group_gradient(const Batch& batch, size_t group, size_t num_groups, ThreadWorkspace& workspace,
                          Gradients& gradients) {
  const auto& [model, parameters, sequences, weight, dropout] = batch;
  auto& [tables, activations, d_logits] = workspace;
  double loss = 0;
  for (size_t n = group; n < sequences.size(); n += num_groups) {
    const auto& [sequence, targets, outputs] = sequences[n];
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

/// Adds the gradients of the other groups to that of the first, in their order.
void add_groups(TrainingWorkspace& workspace) {
  constexpr Index kRange = 1 << 14;  // entries, of which a few groups fit into the caches
  Vector& sum = workspace.gradients.flat;
  const auto ranges = static_cast<size_t>((sum.size() + kRange - 1) / kRange);
  workspace.pool.for_each(ranges, [&](size_t range, size_t) {
    const FlushDenormals flush;
    const Index first = static_cast<Index>(range) * kRange, size = std::min(kRange, sum.size() - first);
    for (const Gradients& gradients : workspace.group_gradients)
      sum.segment(first, size) += gradients.flat.segment(first, size);
  });
}

/// Writes the gradient of a batch of several groups. Returns its loss.
double add_groups_gradient(const Batch& batch, size_t num_groups, TrainingWorkspace& workspace) {
  workspace.threads.resize(static_cast<size_t>(workspace.pool.max_threads()));
  workspace.group_gradients.resize(num_groups - 1);
  workspace.group_losses.resize(num_groups);
  // The first sequence of a batch is the longest, so that the tables of most encodings serve all sequences.
  batch.model.prepare(batch.parameters, batch.sequences.front().sequence, workspace.shared, &workspace.gradients);
  const Index size = workspace.gradients.flat.size();
  workspace.pool.for_each(num_groups, [&](size_t group, size_t thread) {
    const FlushDenormals flush;
    ThreadWorkspace& own = workspace.threads[thread];
    own.tables.shared = &workspace.shared;
    Gradients& gradients = group == 0 ? workspace.gradients : workspace.group_gradients[group - 1];
    gradients.flat.setZero(size);
    workspace.group_losses[group] = add_group_gradient(batch, group, num_groups, own, gradients);
  });
  batch.model.finish(batch.parameters, workspace.shared, nullptr);
  add_groups(workspace);
  double loss = 0;
  for (const double of_group : workspace.group_losses) loss += of_group;
  return loss;
}

}  // namespace

double loss_and_gradient(const Transformer& model, const Parameters& parameters,
                         std::span<const LabeledSequence> batch, double weight, const DropoutStream& dropout,
                         TrainingWorkspace& workspace) {
  const Batch whole{model, parameters, batch, weight, dropout};
  const size_t num_groups = std::min(static_cast<size_t>(workspace.groups), batch.size());
  if (num_groups > 1) return add_groups_gradient(whole, num_groups, workspace);
  workspace.gradients.flat.setZero();
  return add_group_gradient(whole, 0, 1, workspace, workspace.gradients);
}

StepResult training_step(const TrainedModel& trained, std::span<const LabeledSequence> batch,
                         const DropoutStream& dropout, double max_norm, double learning_rate) {
  const auto& [model, optimizer, state, parameters, workspace] = trained;
  size_t targets = 0;
  for (const LabeledSequence& labeled : batch) targets += labeled.targets.size();
  const double loss =
      loss_and_gradient(model, parameters, batch, 1.0 / static_cast<double>(targets), dropout, workspace);
  if (!std::isfinite(loss) || !std::isfinite(clip(workspace.gradients, max_norm)))
    return {.loss = loss, .finite = false};
  optimizer.step(workspace.gradients, learning_rate, state, parameters);
  model.constrain(parameters);
  return {.loss = loss};
}

}  // namespace posbench::inline POSBENCH_REAL
