#include "harness/runs/task_products.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "harness/config/embedded_data.h"
#include "harness/training/experiment_progress.h"
#include "harness/training/packing.h"
#include "harness/training/samples.h"
#include "model/position_encoding.h"

namespace posbench {

double forward_products(const Transformer& transformer, const Example& e, bool training, int loops) {
  const auto targets = training ? std::ranges::count_if(e.targets, [](int target) { return target != kIgnore; })
                                : std::ssize(e.scored);
  return transformer.multiply_adds(std::ssize(e.tokens), targets, loops);
}

double relative_cost(const Spec& encoding) {
  const Costs& costs = board_costs().costs;
  const auto whole = costs.find(encoding.text()), name = costs.find(encoding.name);
  return whole != costs.end() ? whole->second : name != costs.end() ? name->second : 1;
}

TaskProducts::TaskProducts(const TaskSetup& task) {
  ParameterLayout layout;
  const PositionEncoding plain(task.model_config);
  const Transformer transformer(task.model_config, layout, plain);
  const Packing& packing = task.options.training.packing;
  const auto forward = [&](const Task& of, bool training, int loops = 0, bool joined = false) {
    const int count = of.lengths().values().size() == 1 ? 4 : 128;  // samples, whose mean is returned
    const SampleStream samples(of, "size", 0);
    double sum = 0;
    for (int n = 0; n < count; ++n) {
      const Example e = samples(n).example;
      const std::vector<Example> all(joined ? static_cast<size_t>(packing.samples) : 1, e);
      sum += forward_products(transformer, join(all, 0), training, loops) / count;
    }
    return sum;
  };
  const TrainingOptions& training = task.options.training;
  const EvaluationOptions& evaluation = task.options.evaluation;
  // Forward, and two products for the gradients.
  const auto step = [&](const Task& of) {
    const bool joined = packing.joins();
    return forward(of, true, 0, joined) * 3 * training.batch / (joined ? packing.samples : 1);
  };
  step_ = step(task.trained());
  for (size_t i = 0; i < task.tasks.size(); ++i) {
    const bool joined = task.splits[i].name == kPacked && packing.joins();
    tests_ += forward(*task.tasks[i], false, evaluation.loops, joined) * evaluation.sequences;
    if (i == 0 || (training.validate_splits && kind(task.splits[i]) == SplitKind::out_of_distribution))
      validation_ += forward(*task.tasks[i], false) * training.validation_sequences;
  }
  for (const TaskGrid& grid : task.grids) {
    for (const TaskGrid::Point& point : grid.points)
      tests_ += forward(*point.task, false, evaluation.loops) * expected_sequences(evaluation, point.multiple);
  }
  if (task.options.extend.steps == 0) return;
  further_step_ = step(task.further_training_task());
  further_validation_ = forward(task.further_training_task(), false) * training.validation_sequences;
}

Cost TaskProducts::cost(const Experiment& e) const {
  const TrainingOptions training = e.training();
  const double relative = relative_cost(e.encoding);
  const auto rates = static_cast<double>(training.learning_rates.size());
  Cost cost{.training = relative * count_steps(training) * step_,
            .tests = relative * ((e.tuning ? 0 : tests_) +
                                 rates * count_validations(training.steps, training) * validation_)};
  for (const Extension& extension : e.extensions) {
    const double of_extension = relative_cost(extension.encoding);
    cost.training += of_extension * extension.steps * further_step_;
    cost.tests += of_extension * (tests_ + count_validations(extension.steps, training) * further_validation_);
  }
  return cost;
}

}  // namespace posbench
