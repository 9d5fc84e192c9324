// Counts the multiply-adds of experiments, by which their time is estimated.
#pragma once
#include "base/spec.h"
#include "harness/training/experiment.h"
#include "harness/training/task_setup.h"
#include "model/transformer.h"
#include "tasks/task.h"

namespace posbench {

/// Returns the multiply-adds of a forward pass over an example.
double forward_products(const Transformer&, const Example&, bool training, int loops = 0);

/// Returns the time of a training step with an encoding, divided by that of plain attention
/// (results/data/board/cost.json); 1 for an encoding that is not there.
double relative_cost(const Spec& encoding);

/// Counts the multiply-adds of a task in a model with plain attention: those of the products with weights and of
/// attention. Grids count with all their multiples.
class TaskProducts {
 public:
  explicit TaskProducts(const TaskSetup&);

  /// Returns the cost of an experiment on the task. Each multiply-add counts as often as the encoding is slower
  /// than plain attention (results/data/board/cost.json; 1 for an encoding that is not there). Training counts
  /// with all its steps.
  Cost cost(const Experiment&) const;

 private:
  double step_ = 0, further_step_ = 0;  // of training, and of further training
  double tests_ = 0, validation_ = 0, further_validation_ = 0;
};

}  // namespace posbench
