#include "results/statistics/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "base/text.h"
#include "results/statistics/comparable.h"
#include "results/statistics/effective_length.h"
#include "results/statistics/hypothesis_tests.h"
#include "results/statistics/learned.h"
#include "results/statistics/summary.h"

namespace posbench {
namespace {

using BySeed = std::map<std::uint64_t, const ExperimentResult*>;
using ExperimentIndex = std::map<std::pair<std::string, std::string>, BySeed>;  // by task and encoding

ExperimentIndex make_index(const Report& report) {
  ExperimentIndex index;
  for (const ExperimentResult& e : report.experiments) index[{e.id.task, e.id.encoding}][e.id.seed] = &e;
  return index;
}

std::vector<std::string> encodings(const Report& report) {
  std::vector<std::string> names;  // by their first experiment
  std::set<std::string> known;
  for (const ExperimentResult& e : report.experiments) {
    if (known.insert(e.id.encoding).second) names.push_back(e.id.encoding);
  }
  return names;
}

std::vector<std::string> encodings(std::span<const NamedReport> reports) {
  std::vector<std::string> names;
  for (const NamedReport& report : reports) {
    for (std::string& name : encodings(report.report)) names.push_back(std::move(name));
  }
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// Returns the encodings of the candidate that an encoding of the baseline is compared with.
std::vector<std::string> partners(const std::string& encoding, const CompareOptions& options) {
  std::vector<std::string> partners;
  for (const auto& [of_baseline, of_candidate] : options.match) {
    if (of_baseline == encoding && !contains(partners, of_candidate)) partners.push_back(of_candidate);
  }
  return partners.empty() && !options.only_matched ? std::vector{encoding} : partners;
}

/// A place where two sides are compared: a split, or for the effective length an option that has a grid ("length"
/// or "distance").
struct ComparedPlace {
  std::string name;  // of the split or of the option
  SplitKind kind = SplitKind::out_of_distribution;
  double chance = 0;  // accuracy of a uniform guess; 0 for an option
};

/// Returns the splits that both sides have, or for the effective length the options with a grid in an experiment
/// of either side.
std::vector<ComparedPlace> compared_places(const TaskBaseline& before, const TaskBaseline& after,
                                           const ComparedPair& pair, Metric metric) {
  std::vector<ComparedPlace> places;
  if (metric == Metric::effective_length) {
    for (const char* option : {kFarGrid, "length", "distance"}) {
      const auto has_grid = [&](const ExperimentResult* e) { return find_grid(*e, option) != nullptr; };
      if (std::ranges::any_of(pair.before, has_grid) || std::ranges::any_of(pair.after, has_grid))
        places.push_back({.name = option});
    }
    return places;
  }
  for (const SplitBaseline& split : before.splits) {
    const auto same = [&](const SplitBaseline& s) { return s.name == split.name && s.kind == split.kind; };
    if (std::ranges::any_of(after.splits, same))
      places.push_back({.name = split.name, .kind = split.kind, .chance = split.chance});
  }
  return places;
}

/// Returns the value at a place, given by its name. Returns nothing if the experiment did not finish or its report
/// does not have the metric.
std::optional<double> value_at(const ExperimentResult& experiment, const std::string& place, Metric metric) {
  if (metric != Metric::effective_length) return split_value(experiment, place, metric);
  const GridResult* grid = find_grid(experiment, place);
  return grid ? std::optional(kept_multiple(*grid)) : std::nullopt;
}

/// Returns true if the sequence accuracy of a split is kSolved or more, or if every tested multiple of a grid is
/// kept.
bool is_solved(const ExperimentResult& experiment, const std::string& place, Metric metric) {
  if (metric != Metric::effective_length) return split_accuracy(experiment, place, Metric::sequence) >= kSolved;
  const GridResult* grid = find_grid(experiment, place);
  return grid && !grid->points.empty() && kept_multiple(*grid) == grid->points.back().multiple;
}

/// Throws InputError if no experiment of the report has a grid, and the metric needs one.
void require_grids(const NamedReport& named, Metric metric) {
  const auto has_grid = [](const ExperimentResult& e) { return !e.grids.empty(); };
  if (metric != Metric::effective_length || std::ranges::any_of(named.report.experiments, has_grid)) return;
  throw InputError(to_printable(fmt::format(
      "{} has no grid of lengths, from which effective lengths follow; run it with --set evaluation.grid=256, or compare "
      "by another --metric",
      named.name)));
}

/// Returns the values of a metric of the finished experiments. Throws InputError if one has none.
std::vector<double> finished_values(const NamedReport& report, const Experiments& experiments,
                                    const std::string& split, Metric metric) {
  std::vector<double> values;
  for (const ExperimentResult* experiment : experiments) {
    if (experiment->status != Status::ok) continue;
    const std::optional<double> value = value_at(*experiment, split, metric);
    if (!value && metric == Metric::effective_length) {
      throw InputError(to_printable(fmt::format(
          "{} has no grid by {} of '{}' by '{}'; run it with --set evaluation.grid=256, or compare by another --metric",
          report.name, split, experiment->id.task, experiment->id.encoding)));
    }
    if (!value) {
      throw InputError(to_printable(fmt::format(
          "{} has no {} of split '{}' of '{}' by '{}': an older posbench did not record it, or its answers came without "
          "logits; compare by another --metric",
          report.name, to_string(metric), split, experiment->id.task, experiment->id.encoding)));
    }
    values.push_back(*value);
  }
  return values;
}

/// Returns the values of the experiments on a split. Experiments that did not finish have the value `unfinished`.
std::vector<double> values_of(const Experiments& experiments, const std::string& split, Metric metric,
                              double unfinished) {
  std::vector<double> values;
  for (const ExperimentResult* experiment : experiments)
    values.push_back(value_at(*experiment, split, metric).value_or(unfinished));
  return values;
}

/// Fills every field of a side except `solved`.
ComparisonSide describe(const Report& report, const TaskBaseline& task, const Experiments& experiments,
                        const std::vector<double>& values) {
  ComparisonSide side{.mean = mean(values), .values = values, .learned = find_learned(report, task, experiments)};
  for (const ExperimentResult* experiment : experiments) {
    side.seeds.push_back(experiment->id.seed);
    side.unfinished += experiment->status != Status::ok;
  }
  return side;
}

Count count_solved(const Experiments& experiments, const std::string& place, Metric metric) {
  Count solved;
  for (const ExperimentResult* experiment : experiments) solved += {is_solved(*experiment, place, metric), 1};
  return solved;
}

/// Finds the pairs that a candidate and the baseline have in common, and the experiments of only one side.
class Pairing {
 public:
  Pairing(const NamedReport& baseline, const NamedReport& candidate, size_t number, const CompareOptions& options)
      : named_baseline_(baseline),
        named_candidate_(candidate),
        baseline_(baseline.report),
        candidate_(candidate.report),
        number_(number),
        options_(options),
        in_baseline_(make_index(baseline_)),
        in_candidate_(make_index(candidate_)) {}

  void add_to(Comparison& comparison, std::vector<ComparedPair>& pairs) {
    const std::vector<std::string> names = encodings(baseline_);
    const size_t old_size = pairs.size();
    for (const TaskBaseline& task : baseline_.tasks) {
      for (const std::string& encoding : names) {
        for (const std::string& other : partners(encoding, options_)) add_pair(task, encoding, other, pairs);
      }
    }
    if (pairs.size() == old_size) refuse();
    if (options_.only_matched) return;
    list_one_sided(in_baseline_, used_baseline_, true, comparison);
    list_one_sided(in_candidate_, used_candidate_, false, comparison);
  }

 private:
  void add_pair(const TaskBaseline& task, const std::string& encoding, const std::string& partner,
                std::vector<ComparedPair>& pairs) {
    ComparedPair pair = find_experiments(task.task, encoding, partner);
    if (pair.before.empty()) return;
    const TaskBaseline& other = find_baseline(candidate_, task.task);
    const Metric metric = options_.metric;
    for (const ComparedPlace& place : compared_places(task, other, pair, metric)) {
      std::vector<double> finished = finished_values(named_baseline_, pair.before, place.name, metric);
      const std::vector<double> others = finished_values(named_candidate_, pair.after, place.name, metric);
      finished.insert(finished.end(), others.begin(), others.end());
      const double unfinished = unfinished_value(metric, place.chance, finished);
      const auto values = [&](const Experiments& side) { return values_of(side, place.name, metric, unfinished); };
      ComparisonRow& row = pair.rows.emplace_back(
          ComparisonRow{.candidate = number_,
                        .task = task.task,
                        .encoding = encoding,
                        .candidate_encoding = partner,
                        .split = place.name,
                        .kind = place.kind,
                        .before = describe(baseline_, task, pair.before, values(pair.before)),
                        .after = describe(candidate_, other, pair.after, values(pair.after))});
      row.before.solved = count_solved(pair.before, place.name, metric);
      row.after.solved = count_solved(pair.after, place.name, metric);
    }
    if (!pair.rows.empty()) pairs.push_back(std::move(pair));
  }

  /// If both sides have the same encoding and share a seed, returns the experiments of the shared seeds; otherwise
  /// all.
  ComparedPair find_experiments(const std::string& task, const std::string& encoding, const std::string& partner) {
    ComparedPair pair;
    const auto of_baseline = in_baseline_.find({task, encoding});
    const auto of_candidate = in_candidate_.find({task, partner});
    if (of_baseline == in_baseline_.end() || of_candidate == in_candidate_.end()) return pair;
    pair.by_seed = encoding == partner && std::ranges::any_of(of_baseline->second, [&](const auto& experiment) {
                     return of_candidate->second.contains(experiment.first);
                   });
    for (const auto& [seed, experiment] : of_baseline->second) {
      if (!pair.by_seed || of_candidate->second.contains(seed)) pair.before.push_back(experiment);
    }
    for (const auto& [seed, experiment] : of_candidate->second) {
      if (!pair.by_seed || of_baseline->second.contains(seed)) pair.after.push_back(experiment);
    }
    used_baseline_.insert(pair.before.begin(), pair.before.end());
    used_candidate_.insert(pair.after.begin(), pair.after.end());
    return pair;
  }

  /// Throws InputError with a pair of encodings that can be compared, if the reports have a common task.
  [[noreturn]] void refuse() const {
    std::string why = "they have no task in common; compare runs of the same tasks";
    for (const auto& [ours, before] : in_baseline_) {
      for (const auto& [theirs, after] : in_candidate_) {
        if (ours.first != theirs.first) continue;
        why = fmt::format("they have no task and encoding in common; --match '{}={}' compares different encodings",
                          ours.second, theirs.second);
      }
    }
    throw InputError(to_printable(
        fmt::format("{} and {} cannot be compared: {}", named_baseline_.name, named_candidate_.name, why)));
  }

  void list_one_sided(const ExperimentIndex& all, const std::set<const ExperimentResult*>& used, bool in_baseline,
                      Comparison& comparison) const {
    for (const auto& [key, by_seed] : all) {
      UnmatchedExperiments alone{
          .candidate = number_, .in_baseline = in_baseline, .task = key.first, .encoding = key.second};
      for (const auto& [seed, experiment] : by_seed) {
        if (!used.contains(experiment)) alone.seeds.push_back(seed);
      }
      if (!alone.seeds.empty()) comparison.one_sided.push_back(std::move(alone));
    }
  }

  const NamedReport &named_baseline_, &named_candidate_;
  const Report &baseline_, &candidate_;
  size_t number_;
  const CompareOptions& options_;
  ExperimentIndex in_baseline_, in_candidate_;
  std::set<const ExperimentResult*> used_baseline_, used_candidate_;
};

void check_options(const CompareOptions& options, const NamedReport& baseline,
                   std::span<const NamedReport> candidates) {
  if (!(options.alpha > 0 && options.alpha < 1)) {
    throw InputError(fmt::format("--alpha is {}, expected a number above 0 and below 1", options.alpha));
  }
  const double most = metric_info(options.metric).is_accuracy ? 1 : 1e6;
  if (!(options.threshold >= 0 && options.threshold <= most)) {
    throw InputError(fmt::format("--threshold is {}, expected a number from 0 to {}", options.threshold, most));
  }
  if (candidates.empty()) throw InputError("there is no candidate to compare with the baseline");
  const auto check = [](const std::string& encoding, const std::vector<std::string>& known,
                        const std::string& where) {
    if (contains(known, encoding)) return;
    throw InputError(fmt::format("--match: no encoding '{}' in {}{} (it has {})", encoding, where,
                                 did_you_mean(encoding, known), fmt::join(known, ", ")));
  };
  for (const auto& [of_baseline, of_candidate] : options.match) {
    check(of_baseline, encodings(baseline.report), baseline.name);
    check(of_candidate, encodings(candidates), candidates.size() == 1 ? candidates[0].name : "the candidates");
  }
}

Verdict judge(const ComparisonRow& row, const CompareOptions& options) {
  const auto none_finished = [](const ComparisonSide& side) {
    return side.unfinished == static_cast<int>(side.seeds.size());
  };
  if (row.before.unfinished == 0 && none_finished(row.after)) return Verdict::worse;
  if (row.after.unfinished == 0 && none_finished(row.before)) return Verdict::better;
  if (row.identical) return Verdict::same;
  const bool learned = row.before.learned.by_half_the_seeds() && row.after.learned.by_half_the_seeds();
  const MetricInfo& metric = metric_info(options.metric);
  if (metric.needs_learning && row.kind != SplitKind::in_distribution && !learned) return Verdict::not_learned;
  if (!row.p_corrected) return Verdict::too_few_seeds;
  if (*row.p_corrected <= options.alpha && std::abs(row.difference) >= options.threshold) {
    return (row.difference < 0) == metric.lower_is_better ? Verdict::better : Verdict::worse;
  }
  const auto within = [&](const Interval& interval) {
    return interval.low > -options.threshold && interval.high < options.threshold;
  };
  const bool as_many_solve = !metric.needs_learning || row.before.solved.correct * row.after.solved.total ==
                                                           row.after.solved.correct * row.before.solved.total;
  return within(*row.interval) && within(*row.unmoderated_interval) && as_many_solve ? Verdict::same
                                                                                     : Verdict::inconclusive;
}

void warn_of_few_seeds(Comparison& comparison) {
  const auto few = std::ranges::count_if(comparison.rows, [](const ComparisonRow& row) {
    return !row.p_corrected && row.verdict != Verdict::better && row.verdict != Verdict::worse;
  });
  if (few == 0) return;
  comparison.warnings.push_back(fmt::format(
      "{} of {} rows have fewer than {} seeds on a side, so no test can call them better or worse: seeds solve a task "
      "or do not, and so few could differ as much by chance; run with -s {}",
      few, comparison.rows.size(), kEnoughSeeds, kEnoughSeeds));
}

}  // namespace

double default_threshold(Metric metric) { return metric == Metric::effective_length ? 0.5 : 0.02; }

Comparison compare(const NamedReport& baseline, std::span<const NamedReport> candidates,
                   const CompareOptions& options) {
  check_options(options, baseline, candidates);
  require_grids(baseline, options.metric);
  Comparison comparison{.options = options, .baseline = baseline.name};
  const auto warn_of_unfinished = [&](const NamedReport& run) {
    if (!run.report.so_far.empty())
      comparison.warnings.push_back(fmt::format("{}: {}", run.name, run.report.so_far));
  };
  warn_of_unfinished(baseline);
  std::vector<ComparedPair> pairs;
  for (size_t i = 0; i < candidates.size(); ++i) {
    comparison.candidates.push_back(candidates[i].name);
    require_grids(candidates[i], options.metric);
    warn_of_unfinished(candidates[i]);
    for (std::string& warning : check_comparable(baseline, candidates[i], options.allow_different_budget)) {
      comparison.warnings.push_back(std::move(warning));
    }
    Pairing(baseline, candidates[i], i, options).add_to(comparison, pairs);
  }
  comparison.tests = test_hypotheses(pairs, options);
  for (ComparedPair& pair : pairs) {
    for (ComparisonRow& row : pair.rows) {
      row.verdict = judge(row, options);
      comparison.rows.push_back(std::move(row));
    }
  }
  warn_of_few_seeds(comparison);
  return comparison;
}

bool has_regression(const Comparison& comparison) {
  return std::ranges::find(comparison.rows, Verdict::worse, &ComparisonRow::verdict) != comparison.rows.end();
}

std::pair<std::string, std::string> parse_match(const std::string& text, const NamedReport& baseline,
                                                std::span<const NamedReport> candidates) {
  const std::vector<std::string> of_baseline = encodings(baseline.report), of_candidates = encodings(candidates);
  for (size_t equals = text.find('='); equals != text.npos; equals = text.find('=', equals + 1)) {
    std::pair match{text.substr(0, equals), text.substr(equals + 1)};
    if (contains(of_baseline, match.first) && contains(of_candidates, match.second)) return match;
  }
  throw InputError(
      fmt::format("--match: '{}' is not ENCODING=ENCODING with one of {} ({}) and one of the candidates ({})",
                  text, baseline.name, fmt::join(of_baseline, ", "), fmt::join(of_candidates, ", ")));
}

}  // namespace posbench
