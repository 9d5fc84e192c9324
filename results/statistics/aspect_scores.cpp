#include "results/statistics/aspect_scores.h"

#include <algorithm>
#include <map>

#include "results/statistics/aggregate.h"
#include "results/statistics/learned.h"
#include "results/statistics/summary.h"
#include "results/types/metric.h"

namespace posbench {
namespace {

constexpr int kScoreResamples = 1000;

/// An encoding on one task.
struct TaskResult {
  std::vector<double> values;  // the score of each seed
  bool learned = false;
};

/// Returns the mean over the splits that are out of distribution.
double score_seed(const TaskBaseline& task, const ExperimentResult& experiment) {
  std::vector<double> scores;
  for (const SplitBaseline& split : task.splits) {
    if (split.kind == SplitKind::out_of_distribution)
      scores.push_back(above_trivial(split, split_accuracy(experiment, split.name, Metric::token)));
  }
  return mean(scores);
}

/// Returns the results of an encoding on the tasks that it ran and that have a split out of distribution.
std::map<std::string, TaskResult> task_results(const Report& report, const std::string& encoding) {
  std::map<std::string, Experiments> experiments;
  for (const ExperimentResult& experiment : report.experiments) {
    if (experiment.id.encoding == encoding) experiments[experiment.id.task].push_back(&experiment);
  }
  std::map<std::string, TaskResult> results;
  for (const auto& [name, of_task] : experiments) {
    const TaskBaseline& task = find_baseline(report, name);
    if (std::ranges::none_of(
            task.splits, [](const SplitBaseline& split) { return split.kind == SplitKind::out_of_distribution; }))
      continue;
    TaskResult& result = results[name];
    for (const ExperimentResult* experiment : of_task) result.values.push_back(score_seed(task, *experiment));
    result.learned = find_learned(report, task, of_task).by_half_the_seeds();
  }
  return results;
}

Interval bootstrap(const TaskScores& scores) {
  Rng rng = make_rng(0, "aspect scores");
  std::vector<double> draws;
  for (int n = 0; n < kScoreResamples; ++n) {
    std::vector<double> means;
    for (const std::vector<double>& drawn : resample(scores, rng)) means.push_back(mean(drawn));
    draws.push_back(mean(means));
  }
  return percentile_interval(std::move(draws));
}

}  // namespace

std::vector<AspectScore> score_aspects(const Report& report, const std::string& encoding,
                                       const std::vector<AspectTasks>& aspects) {
  const std::map<std::string, TaskResult> results = task_results(report, encoding);
  std::vector<AspectScore> scores;
  for (const AspectTasks& aspect : aspects) {
    TaskScores of_aspect;
    std::vector<double> means;
    int learned = 0;
    for (const std::string& task : aspect.tasks) {
      const auto found = results.find(task);
      if (found == results.end()) continue;
      of_aspect.push_back(found->second.values);
      means.push_back(mean(found->second.values));
      learned += found->second.learned ? 1 : 0;
    }
    if (of_aspect.empty()) continue;
    scores.push_back({.aspect = aspect.aspect,
                      .mean = mean(means),
                      .interval = bootstrap(of_aspect),
                      .tasks = static_cast<int>(of_aspect.size()),
                      .of = static_cast<int>(aspect.tasks.size()),
                      .learned = learned});
  }
  return scores;
}

}  // namespace posbench
