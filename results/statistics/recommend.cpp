#include "results/statistics/recommend.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "results/statistics/learned.h"
#include "results/statistics/statistics.h"

namespace posbench {
namespace {

/// Returns a cost as tables show it, with one decimal.
double printed(double cost) { return std::nearbyint(10 * cost) / 10; }

/// By task and encoding.
using ExperimentsByTask = std::map<std::string, std::map<std::string, std::vector<const ExperimentResult*>>>;

ExperimentsByTask index_experiments(const Report& report) {
  ExperimentsByTask index;
  for (const ExperimentResult& experiment : report.experiments)
    index[experiment.id.task][experiment.id.encoding].push_back(&experiment);
  return index;
}

bool is_learned(const BoardReport& all, const std::string& task,
                const std::vector<const ExperimentResult*>& experiments) {
  return find_learned(all.report, find_baseline(all.report, task), experiments).by_half_the_seeds();
}

bool has_run_all(const ExperimentsByTask& index, const AspectTasks& aspect, const std::string& encoding) {
  return std::ranges::all_of(aspect.tasks, [&](const std::string& task) {
    return index.contains(task) && index.at(task).contains(encoding);
  });
}

/// Sorts the tasks of an aspect by what the encodings that ran all of them show at a multiple of the trained
/// length. A cost and other aspects have no effect, so that they remove encodings and change no number. One rule
/// decides for all encodings, because splits and grids give different lengths.
LengthTasks find_length_tasks(const BoardReport& all, const ExperimentsByTask& index,
                              const std::set<std::string>& encodings, const AspectTasks& aspect, double multiple) {
  LengthTasks tasks;
  for (const std::string& name : aspect.tasks) {
    std::vector<const std::vector<const ExperimentResult*>*> learned;
    for (const std::string& encoding : encodings) {
      if (!has_run_all(index, aspect, encoding)) continue;
      const std::vector<const ExperimentResult*>& experiments = index.at(name).at(encoding);
      if (is_learned(all, name, experiments)) learned.push_back(&experiments);
    }
    if (learned.empty()) {
      tasks.unlearned.push_back(name);
      continue;
    }
    LengthTask task{.task = name, .splits = {}};
    const auto is_tested = [&](const auto* experiments) {
      const std::optional<KeptLength> kept = find_kept_length(*experiments, multiple, task.basis);
      if (kept && task.splits.empty()) task.splits = kept->splits;
      return kept.has_value();
    };
    bool all_tested = std::ranges::all_of(learned, is_tested);
    if (!all_tested) {
      task.basis = LengthBasis::splits;
      all_tested = std::ranges::all_of(learned, is_tested);
    }
    (all_tested ? tasks.tested.push_back(std::move(task)) : tasks.too_short.push_back(name));
  }
  return tasks;
}

/// Measures an encoding that ran all of the tasks.
AtLength measure(const ExperimentsByTask& index, const LengthTasks& tasks, const std::string& encoding,
                 double multiple) {
  AtLength at;
  std::vector<double> means;
  for (const LengthTask& task : tasks.tested) {
    at.tasks.push_back(find_kept_length(index.at(task.task).at(encoding), multiple, task.basis));
    const std::optional<KeptLength>& kept = at.tasks.back();
    means.push_back(kept ? mean(kept->values) : 0);
    at.kept += kept && kept->is_kept ? 1 : 0;
  }
  at.mean = means.empty() ? 0 : mean(means);
  return at;
}

}  // namespace

double Recommendation::mean_score() const {
  double sum = 0;
  for (const AspectScore& score : scores) sum += score.mean;
  return sum / static_cast<double>(scores.size());
}

Recommendations recommend(const BoardReport& all, const Need& need) {
  const ExperimentsByTask index = index_experiments(all.report);
  std::set<std::string> encodings;
  for (const ExperimentResult& experiment : all.report.experiments) encodings.insert(experiment.id.encoding);
  Recommendations found;
  std::vector<std::string> compared;
  for (const std::string& encoding : encodings) {
    const auto ran = [&](const AspectTasks& aspect) { return has_run_all(index, aspect, encoding); };
    const auto cost = all.costs.find(encoding);
    const bool is_affordable = !need.cost || (cost != all.costs.end() && printed(cost->second) <= *need.cost);
    if (!is_affordable) continue;
    if (!std::ranges::all_of(need.aspects, ran)) {
      found.incomplete.push_back(encoding);
    } else {
      compared.push_back(encoding);
    }
  }
  for (const AspectTasks& aspect : need.aspects) {
    if (need.length) found.lengths.push_back(find_length_tasks(all, index, encodings, aspect, *need.length));
  }
  for (const std::string& encoding : compared) {
    const auto cost = all.costs.find(encoding);
    Recommendation one{.encoding = encoding,
                       .scores = score_aspects(all.report, encoding, need.aspects),
                       .at_length = {},
                       .cost = cost == all.costs.end() ? std::nullopt : std::optional(cost->second)};
    if (one.scores.size() != need.aspects.size()) continue;  // an aspect has no split out of distribution
    for (const LengthTasks& tasks : found.lengths) {
      const AtLength& at = one.at_length.emplace_back(measure(index, tasks, encoding, *need.length));
      const double least = need.share * static_cast<double>(tasks.tested.size());
      one.keeps_length = one.keeps_length && !tasks.tested.empty() && at.kept >= least;
    }
    found.encodings.push_back(std::move(one));
  }
  std::ranges::stable_sort(found.encodings, std::greater<>(), [](const Recommendation& one) {
    return std::pair(one.keeps_length, one.mean_score());
  });
  return found;
}

}  // namespace posbench
