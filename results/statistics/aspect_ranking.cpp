#include "results/statistics/aspect_ranking.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/statistics/learned.h"
#include "results/statistics/statistics.h"

namespace posbench {
namespace {

/// The experiments of one encoding on the tasks of the aspects.
struct EncodingResults {
  bool is_users = false;
  std::map<std::string, Experiments> by_task;
  std::map<std::string, Experiments> learned;  // of these tasks
};

std::vector<std::string> all_tasks(const std::vector<AspectTasks>& aspects) {
  std::vector<std::string> tasks;
  for (const AspectTasks& aspect : aspects) {
    for (const std::string& task : aspect.tasks) {
      if (std::ranges::find(tasks, task) == tasks.end()) tasks.push_back(task);
    }
  }
  return tasks;
}

std::map<std::string, EncodingResults> collect_results(const BoardReport& all,
                                                       const std::vector<std::string>& tasks) {
  std::map<std::string, EncodingResults> results;
  for (const ExperimentResult& experiment : all.report.experiments) {
    if (std::ranges::find(tasks, experiment.id.task) == tasks.end()) continue;
    EncodingResults& of_encoding = results[experiment.id.encoding];
    of_encoding.is_users = all.user_experiments.contains(experiment.id);
    of_encoding.by_task[experiment.id.task].push_back(&experiment);
  }
  for (auto& [encoding, of_encoding] : results) {
    for (const auto& [task, experiments] : of_encoding.by_task) {
      if (find_learned(all.report, find_baseline(all.report, task), experiments).by_half_the_seeds())
        of_encoding.learned.emplace(task, experiments);
    }
  }
  return results;
}

/// Finds the results that decide on a task. One rule decides for all encodings, because splits and grids give
/// different lengths.
LengthTask find_basis(const std::string& task, const std::map<std::string, EncodingResults>& ranked,
                      double multiple) {
  for (const LengthBasis basis : {LengthBasis::far_grid, LengthBasis::grid, LengthBasis::splits}) {
    LengthTask found{.task = task, .basis = basis, .splits = {}};
    for (const auto& [encoding, results] : ranked) {
      const auto learned = results.learned.find(task);
      if (learned == results.learned.end()) continue;
      const std::optional<KeptLength> kept = find_kept_length(learned->second, multiple, basis);
      if (!kept) found.basis.reset();
      if (kept && found.splits.empty()) found.splits = kept->splits;
    }
    if (found.basis) return found;
  }
  return {.task = task, .basis = {}, .splits = {}};
}

}  // namespace

double AspectRow::mean_score() const {
  std::vector<double> means;
  for (const AspectScore& score : scores) means.push_back(score.mean);
  return means.empty() ? 0 : mean(means);
}

AspectRanking rank_by_aspects(const BoardReport& all, const std::vector<AspectTasks>& aspects,
                              std::optional<double> length) {
  const std::vector<std::string> tasks = all_tasks(aspects);
  std::map<std::string, EncodingResults> results = collect_results(all, tasks);
  AspectRanking ranking{.aspects = aspects, .length = length, .tasks = {}, .rows = {}, .incomplete = {}};
  for (const auto& [encoding, of_encoding] : results) {
    if (!of_encoding.is_users && of_encoding.by_task.size() < tasks.size()) ranking.incomplete.push_back(encoding);
  }
  if (ranking.incomplete.size() == results.size()) ranking.incomplete.clear();
  for (const std::string& encoding : ranking.incomplete) results.erase(encoding);
  if (length) {
    for (const std::string& task : tasks) ranking.tasks.push_back(find_basis(task, results, *length));
  }
  for (const auto& [encoding, of_encoding] : results) {
    AspectRow row{.encoding = encoding,
                  .is_users = of_encoding.is_users,
                  .scores = score_aspects(all.report, encoding, aspects),
                  .ran = static_cast<int>(of_encoding.by_task.size()),
                  .learned = static_cast<int>(of_encoding.learned.size()),
                  .tested = 0,
                  .kept = {},
                  .cost = {}};
    if (const auto cost = all.costs.find(encoding); cost != all.costs.end()) row.cost = cost->second;
    for (const LengthTask& task : ranking.tasks) {
      if (!task.basis || !of_encoding.learned.contains(task.task)) continue;
      ++row.tested;
      if (find_kept_length(of_encoding.learned.at(task.task), *length, *task.basis)->is_kept)
        row.kept.push_back(task.task);
    }
    ranking.rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(ranking.rows, std::greater<>(),
                           [](const AspectRow& row) { return std::pair(row.kept.size(), row.mean_score()); });
  return ranking;
}

}  // namespace posbench
