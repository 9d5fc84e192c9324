#include "harness/runs/time_estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel_for.h"
#include "base/system.h"
#include "harness/runs/task_products.h"
#include "harness/training/train.h"

namespace posbench {
namespace {

/// Returns the seconds of a multiply-add in the training of an experiment; 0 if the clock does not advance. A
/// large model is measured with one sequence.
double seconds_of_product(const Experiment& e) {
  constexpr double kEnough = 0.1;  // seconds, ten ticks of a coarse clock
  constexpr int kMaxBatch = 32, kMaxSteps = 100;
  const Model model = make_model(e.encoding, e.task->model_config);
  const TrainingStreams streams = e.task->training_streams(Purpose::train, 0);
  TrainingOptions options = e.settings();
  options.learning_rates = {1e-9};  // at which no training diverges
  options.lengths = BatchLengths::each;
  options.early_stop = 0;
  options.extend_while_gaining = 1;
  const int most = std::min(options.batch, kMaxBatch);
  TrainingState state(model, options, 0);
  double rate = 0;
  for (const auto& [batch, steps] : {std::pair(1, 1), std::pair(most, kMaxSteps)}) {
    options.batch = batch;
    state.end = options.steps = options.validate_every = state.step + steps + 1;  // more than are run
    const int first = state.step;
    const double start = thread_cpu_seconds();
    double seconds = 0, sum = 0;
    train(model, streams, options, state, [&](const TrainingState& now) {
      seconds = thread_cpu_seconds() - start;
      return now.step < first + steps && seconds < kEnough;
    });
    for (int n = first * batch; n < state.step * batch; ++n)
      sum += 3 * forward_products(*model.transformer, streams.training(static_cast<std::uint64_t>(n)).example,
                                  /*training=*/true);
    rate = seconds / (sum * relative_cost(e.encoding));
    if (seconds > kEnough) break;
  }
  return rate;
}

/// Returns the seconds of an experiment with several threads. `seconds`: with one thread.
double seconds_with(int threads, const Experiment& e, double seconds) {
  const TrainingOptions& training = e.task->options.training;
  const int groups = std::min(training.groups, training.batch);
  const int rounds = (groups + threads - 1) / threads;  // in which the threads compute the groups of a batch
  const double trained = e.cost.training / e.cost.all();
  return seconds * (trained * rounds / groups + (1 - trained) / threads);
}

}  // namespace

TimeEstimate estimate_time(const Suite& suite, int jobs, int threads,
                           const std::function<void(size_t done, size_t of)>& measured) {
  TimeEstimate estimate;
  if (suite.experiments.empty()) return estimate;
  std::map<const TaskSetup*, double> seconds_of_products;
  std::vector<const Experiment*> first;  // of each task
  for (const Experiment& e : suite.experiments) {
    if (seconds_of_products.emplace(e.task, 0).second) first.push_back(&e);
  }
  std::atomic<size_t> done{0};
  parallel_for(first.size(), jobs, [&](size_t i) {
    seconds_of_products.at(first[i]->task) = seconds_of_product(*first[i]);
    measured(++done, first.size());
  });
  const int cores = count_cores();
  const int at_once = std::min({jobs, cores, static_cast<int>(suite.experiments.size())});
  const int most = threads == kIdleCores ? cores : std::min(threads, cores);  // for the last experiment
  estimate.threads = std::min(most, cores / at_once);
  estimate.jobs = estimate.threads > 1 ? at_once : jobs;
  double wall = 0, longest = 0;
  for (const Experiment& e : suite.experiments) {
    const double seconds = e.cost.all() * seconds_of_products.at(e.task);
    estimate.seconds.push_back(seconds);
    estimate.core_seconds += seconds;
    wall += seconds_with(estimate.threads, e, seconds);
    longest = std::max(longest, seconds_with(most, e, seconds));
  }
  estimate.wall_seconds = std::max(wall / at_once, longest);
  return estimate;
}

size_t count_parameters(const Experiment& e) {
  return static_cast<size_t>(make_model(e.encoding, e.task->model_config).layout.count());
}

std::vector<TimeSums> sum_times(const Suite& suite, const TimeEstimate& plan, size_t most,
                                const std::function<std::string(const Experiment&)>& name) {
  const auto add = [](const TimeSums& one, TimeSums& to) {
    to.least = to.experiments == 0 ? one.least : std::min(to.least, one.least);
    to.most = std::max(to.most, one.most);
    to.experiments += one.experiments;
    to.seconds += one.seconds;
  };
  std::map<std::string, TimeSums> by_name;
  for (size_t i = 0; i < plan.seconds.size(); ++i) {
    const Experiment& e = suite.experiments[i];
    const size_t parameters = count_parameters(e);
    TimeSums& sums = by_name[name(e)];
    sums.name = name(e);
    add({sums.name, 1, parameters, parameters, plan.seconds[i]}, sums);
  }
  std::vector<TimeSums> rows;
  for (const auto& [key, sums] : by_name) rows.push_back(sums);
  std::ranges::stable_sort(rows, std::greater<>(), &TimeSums::seconds);
  for (; rows.size() > most + 1; rows.pop_back()) add(rows.back(), rows[most]);
  if (by_name.size() > rows.size()) rows[most].name = fmt::format("{} others", by_name.size() - most);
  return rows;
}

}  // namespace posbench
