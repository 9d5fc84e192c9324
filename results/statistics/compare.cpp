#include "results/statistics/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>

#include "base/printable.h"
#include "base/text.h"
#include "results/statistics/comparable.h"
#include "results/statistics/moderated_variance.h"
#include "results/statistics/permutation.h"
#include "results/statistics/proportion.h"
#include "results/statistics/summary.h"

namespace posbench {
namespace {

using BySeed = std::map<std::uint64_t, const ExperimentResult*>;
using Index = std::map<std::pair<std::string, std::string>, BySeed>;  // by task and encoding

Index index(const Report& report) {
  Index index;
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
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The encodings of the candidate that one of the baseline is compared with.
std::vector<std::string> partners(const std::string& encoding, const CompareOptions& options) {
  std::vector<std::string> partners;
  for (const auto& [of_baseline, of_candidate] : options.match) {
    if (of_baseline == encoding && !contains(partners, of_candidate)) partners.push_back(of_candidate);
  }
  return partners.empty() ? std::vector{encoding} : partners;
}

using Experiments = std::vector<const ExperimentResult*>;

/// A task and an encoding on both sides. Its rows, one for each split, are contiguous.
struct Cell {
  Experiments before, after;
  std::vector<ComparisonRow> rows;
  bool pairs = false;  // the experiments of both sides correspond, seed by seed
};

/// The same training: the same learning curve, and the same counts on every split.
bool identical(const ExperimentResult& a, const ExperimentResult& b) {
  if (a.status != b.status || a.final_loss != b.final_loss || a.learning_curve != b.learning_curve) return false;
  return std::equal(a.splits.begin(), a.splits.end(), b.splits.begin(), b.splits.end(),
                    [](const SplitResult& x, const SplitResult& y) {
                      const bool same_loss = !x.loss || !y.loss || x.loss == y.loss;  // older reports have none
                      return x.name == y.name && x.token == y.token && x.sequence == y.sequence && same_loss;
                    });
}

/// The values of a metric that the finished experiments of a report have. Throws std::runtime_error where one has none.
std::vector<double> finished_values(const NamedReport& report, const Experiments& experiments, const std::string& split,
                                    Metric metric) {
  std::vector<double> values;
  for (const ExperimentResult* experiment : experiments) {
    if (experiment->status != Status::ok) continue;
    const std::optional<double> value = split_value(*experiment, split, metric);
    if (!value) {
      throw std::runtime_error(printable(fmt::format(
          "{} has no {} of split '{}' of '{}' by '{}': an older posbench did not record it, or its answers came without "
          "logits; compare by another --metric",
          report.name, to_text(metric), split, experiment->id.task, experiment->id.encoding)));
    }
    values.push_back(*value);
  }
  return values;
}

/// What the experiments have on a split; those that did not finish have `unfinished`.
std::vector<double> values_of(const Experiments& experiments, const std::string& split, Metric metric,
                              double unfinished) {
  std::vector<double> values;
  for (const ExperimentResult* experiment : experiments)
    values.push_back(split_value(*experiment, split, metric).value_or(unfinished));
  return values;
}

ComparisonSide describe(const Report& report, const TaskBaseline& task, const Experiments& experiments,
                        const std::string& split, const std::vector<double>& values) {
  ComparisonSide side{.mean = mean(values), .values = values, .learned = find_learned(report, task, experiments)};
  for (const ExperimentResult* experiment : experiments) {
    side.seeds.push_back(experiment->id.seed);
    side.unfinished += experiment->status != Status::ok;
    side.solved += {split_accuracy(*experiment, split, Metric::sequence) >= kSolved, 1};
  }
  return side;
}

/// Finds the cells that a candidate and the baseline have in common, and what only one side has.
class Pairing {
 public:
  Pairing(const NamedReport& baseline, const NamedReport& candidate, size_t number, const CompareOptions& options)
      : named_baseline_(baseline),
        named_candidate_(candidate),
        baseline_(baseline.report),
        candidate_(candidate.report),
        number_(number),
        options_(options),
        in_baseline_(index(baseline_)),
        in_candidate_(index(candidate_)) {}

  void add_to(Comparison& comparison, std::vector<Cell>& cells) {
    const std::vector<std::string> names = encodings(baseline_);
    const size_t before = cells.size();
    for (const TaskBaseline& task : baseline_.tasks) {
      for (const std::string& encoding : names) {
        for (const std::string& other : partners(encoding, options_)) add_cell(task, encoding, other, cells);
      }
    }
    if (cells.size() == before) {
      throw std::runtime_error(
          fmt::format("{} and {} cannot be compared: they have no task, encoding and seed in common",
                      comparison.baseline, comparison.candidates[number_]));
    }
    list_one_sided(in_baseline_, used_baseline_, true, comparison);
    list_one_sided(in_candidate_, used_candidate_, false, comparison);
  }

 private:
  void add_cell(const TaskBaseline& task, const std::string& encoding, const std::string& partner,
                std::vector<Cell>& cells) {
    Cell cell = find_experiments(task.task, encoding, partner);
    if (cell.before.empty()) return;
    const TaskBaseline& other = posbench::baseline(candidate_, task.task);
    for (const SplitBaseline& split : task.splits) {
      const auto same = [&](const SplitBaseline& s) { return s.name == split.name && s.kind == split.kind; };
      if (std::none_of(other.splits.begin(), other.splits.end(), same)) continue;
      const Metric metric = options_.metric;
      std::vector<double> finished = finished_values(named_baseline_, cell.before, split.name, metric);
      const std::vector<double> others = finished_values(named_candidate_, cell.after, split.name, metric);
      finished.insert(finished.end(), others.begin(), others.end());
      const double unfinished = unfinished_value(metric, split.chance, finished);
      cell.rows.push_back({.candidate = number_,
                           .task = task.task,
                           .encoding = encoding,
                           .candidate_encoding = partner,
                           .split = split.name,
                           .kind = split.kind,
                           .before = describe(baseline_, task, cell.before, split.name,
                                              values_of(cell.before, split.name, metric, unfinished)),
                           .after = describe(candidate_, other, cell.after, split.name,
                                             values_of(cell.after, split.name, metric, unfinished))});
    }
    if (!cell.rows.empty()) cells.push_back(std::move(cell));
  }

  /// If the encoding is the same, the experiments whose seed both sides have; otherwise all.
  Cell find_experiments(const std::string& task, const std::string& encoding, const std::string& partner) {
    Cell cell{.pairs = encoding == partner};
    const auto ours = in_baseline_.find({task, encoding});
    const auto theirs = in_candidate_.find({task, partner});
    if (ours == in_baseline_.end() || theirs == in_candidate_.end()) return cell;
    for (const auto& [seed, experiment] : ours->second) {
      if (!cell.pairs || theirs->second.contains(seed)) cell.before.push_back(experiment);
    }
    for (const auto& [seed, experiment] : theirs->second) {
      if (!cell.pairs || ours->second.contains(seed)) cell.after.push_back(experiment);
    }
    used_baseline_.insert(cell.before.begin(), cell.before.end());
    used_candidate_.insert(cell.after.begin(), cell.after.end());
    return cell;
  }

  void list_one_sided(const Index& all, const std::set<const ExperimentResult*>& used, bool in_baseline,
                      Comparison& comparison) const {
    for (const auto& [key, by_seed] : all) {
      OneSided alone{.candidate = number_, .in_baseline = in_baseline, .task = key.first, .encoding = key.second};
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
  Index in_baseline_, in_candidate_;
  std::set<const ExperimentResult*> used_baseline_, used_candidate_;
};

void check_options(const CompareOptions& options, const NamedReport& baseline,
                   std::span<const NamedReport> candidates) {
  if (!(options.alpha > 0 && options.alpha < 1)) {
    throw std::invalid_argument(
        fmt::format("--alpha is {}, expected a number above 0 and below 1", options.alpha));
  }
  const double most = info(options.metric).is_accuracy ? 1 : 1e6;
  if (!(options.threshold >= 0 && options.threshold <= most)) {
    throw std::invalid_argument(
        fmt::format("--threshold is {}, expected a number from 0 to {}", options.threshold, most));
  }
  if (candidates.empty()) throw std::invalid_argument("there is no candidate to compare with the baseline");
  const auto check = [](const std::string& encoding, const std::vector<std::string>& known,
                        const std::string& where) {
    if (contains(known, encoding)) return;
    throw std::invalid_argument(fmt::format("--match: no encoding '{}' in {}{} (it has {})", encoding, where,
                                            did_you_mean(encoding, known), fmt::join(known, ", ")));
  };
  for (const auto& [of_baseline, of_candidate] : options.match) {
    check(of_baseline, encodings(baseline.report), baseline.name);
    check(of_candidate, encodings(candidates), candidates.size() == 1 ? candidates[0].name : "the candidates");
  }
}

/// The variance that rounding to counts of right answers adds to an accuracy: a step of 1 / n has step^2 / 12. Other
/// metrics are taken to have steps of 1e-6.
double rounding_variance(const Cell& cell, const ComparisonRow& row, Metric metric) {
  std::int64_t fewest = info(metric).is_accuracy ? 0 : 1'000'000;
  for (const Experiments* side : {&cell.before, &cell.after}) {
    for (const ExperimentResult* experiment : *side) {
      const SplitResult* split = find_split(*experiment, row.split);
      const std::int64_t cases = split ? info(metric).cases(*split) : 0;
      if (cases > 0) fewest = fewest == 0 ? cases : std::min(fewest, cases);
    }
  }
  return fewest == 0 ? 0 : 1 / (12.0 * static_cast<double>(fewest) * static_cast<double>(fewest));
}

/// The noise of one row within its sides, from which its standard error is computed.
struct RowNoise {
  double variance = 0, freedom = 0;  // of one accuracy, or of one pair's difference; 0 with one seed
  double seeds = 0;                  // the difference of the means has the variance `variance` / `seeds`
};

RowNoise row_noise(const SplitValues& values, bool in_pairs) {
  const double before = static_cast<double>(values.before.size()),
               after = static_cast<double>(values.after.size());
  RowNoise noise;
  const auto squares = [](std::span<const double> x) {
    const double deviation = x.size() < 2 ? 0 : standard_deviation(x);
    return deviation * deviation * static_cast<double>(x.size() - 1);
  };
  double sum = 0;
  if (in_pairs) {
    std::vector<double> differences;
    for (size_t i = 0; i < values.before.size(); ++i) differences.push_back(values.after[i] - values.before[i]);
    sum = squares(differences), noise.freedom = before - 1, noise.seeds = before;
  } else {
    sum = squares(values.before) + squares(values.after);
    noise.freedom = before + after - 2, noise.seeds = 1 / (1 / before + 1 / after);
  }
  if (noise.freedom > 0) noise.variance = std::max(sum / noise.freedom, values.least_variance);
  return noise;
}

Interval around(double middle, double variance, double freedom, double seeds) {
  const double half = t_half_width(freedom) * std::sqrt(variance / seeds);
  return {middle - half, middle + half};
}

/// Student's t for a permutation statistic, which is in standard errors of all values together.
double as_t(double statistic, const RowNoise& noise) {
  const double left = noise.freedom + 1 - statistic * statistic;  // of the degrees of freedom of all values
  return left > 0 ? statistic * std::sqrt(noise.freedom / left) : std::numeric_limits<double>::infinity();
}

/// Differences, intervals, p-values and detectable differences, of all cells together.
class Tests {
 public:
  Tests(std::vector<Cell>& cells, const CompareOptions& options) : cells_(cells), options_(options) {}

  /// Returns the number of tests.
  size_t run() {
    for (Cell& cell : cells_) measure(cell);
    add_intervals();
    add_p_values();
    return hypotheses_.size();
  }

 private:
  void measure(Cell& cell) {
    bool same = cell.pairs;
    for (size_t i = 0; same && i < cell.before.size(); ++i) same = identical(*cell.before[i], *cell.after[i]);
    constexpr size_t kEnoughPairs = 6;
    const bool in_pairs = cell.pairs && cell.before.size() >= kEnoughPairs;
    const bool enough = std::min(cell.before.size(), cell.after.size()) >= kEnoughSeeds;
    std::vector<SplitValues> splits;
    for (ComparisonRow& row : cell.rows) {
      row.in_pairs = in_pairs;
      row.identical = same;
      row.difference = row.after.mean - row.before.mean;
      row.solved_p = boschloo(row.before.solved, row.after.solved);
      splits.push_back({row.before.values, row.after.values,
                        (in_pairs ? 2 : 1) * rounding_variance(cell, row, options_.metric)});
      rows_.push_back(&row);
      noises_.push_back(row_noise(splits.back(), in_pairs));
    }
    if (!enough) return;
    first_row_.push_back(rows_.size() - cell.rows.size());
    hypotheses_.push_back(relabel(splits, in_pairs));
  }

  void add_intervals() {
    std::vector<double> variances, freedoms;
    for (const RowNoise& noise : noises_) {
      if (noise.freedom > 0) variances.push_back(noise.variance), freedoms.push_back(noise.freedom);
    }
    const VariancePrior prior = fit_variance_prior(variances, freedoms);
    for (size_t i = 0; i < rows_.size(); ++i) {
      const RowNoise& noise = noises_[i];
      if (noise.freedom == 0) continue;
      const double variance = moderated(prior, noise.variance, noise.freedom);
      rows_[i]->noise = std::sqrt(variance);
      rows_[i]->interval = around(rows_[i]->difference, variance, noise.freedom + prior.freedom, noise.seeds);
      rows_[i]->own = around(rows_[i]->difference, noise.variance, noise.freedom, noise.seeds);
    }
  }

  void add_p_values() {
    const std::vector<std::vector<double>> corrected = corrected_p(hypotheses_);
    const double critical = critical_statistic(hypotheses_, options_.alpha);
    for (size_t h = 0; h < hypotheses_.size(); ++h) {
      for (size_t s = 0; s < corrected[h].size(); ++s) {
        ComparisonRow& row = *rows_[first_row_[h] + s];
        const RowNoise& noise = noises_[first_row_[h] + s];
        row.p = hypotheses_[h].p(hypotheses_[h].statistics[s]);
        row.p_corrected = corrected[h][s];
        const double t = as_t(critical, noise);
        if (std::isfinite(t)) {
          row.detectable = detectable_noncentrality(t, noise.freedom) * *row.noise / std::sqrt(noise.seeds);
        }
      }
    }
  }

  std::vector<Cell>& cells_;
  const CompareOptions& options_;
  std::vector<ComparisonRow*> rows_;    // of all cells
  std::vector<RowNoise> noises_;        // of the same
  std::vector<Relabelled> hypotheses_;  // of the cells with enough seeds
  std::vector<size_t> first_row_;       // of each of them, in rows_
};

Verdict judge(const ComparisonRow& row, const CompareOptions& options) {
  const auto none_finished = [](const ComparisonSide& side) {
    return side.unfinished == static_cast<int>(side.seeds.size());
  };
  if (row.before.unfinished == 0 && none_finished(row.after)) return Verdict::worse;
  if (row.after.unfinished == 0 && none_finished(row.before)) return Verdict::better;
  if (row.identical) return Verdict::same;
  const bool learned = row.before.learned.most() && row.after.learned.most();
  const MetricInfo& metric = info(options.metric);
  if (metric.is_accuracy && row.kind == SplitKind::out_of_distribution && !learned) return Verdict::not_learned;
  if (!row.p_corrected) return Verdict::too_few_seeds;
  if (*row.p_corrected < options.alpha && std::abs(row.difference) >= options.threshold) {
    return (row.difference < 0) == metric.lower_is_better ? Verdict::better : Verdict::worse;
  }
  const auto within = [&](const Interval& interval) {
    return interval.low > -options.threshold && interval.high < options.threshold;
  };
  const bool as_many_solve =
      !metric.is_accuracy ||
      row.before.solved.correct * row.after.solved.total == row.after.solved.correct * row.before.solved.total;
  return within(*row.interval) && within(*row.own) && as_many_solve ? Verdict::same : Verdict::undecided;
}

void warn_of_few_seeds(Comparison& comparison) {
  const auto few = std::count_if(comparison.rows.begin(), comparison.rows.end(),
                                 [](const ComparisonRow& row) { return !row.p_corrected; });
  if (few == 0) return;
  comparison.warnings.push_back(fmt::format(
      "{} of {} rows have fewer than {} seeds on a side, and no verdict: seeds solve a task or do not, and so few "
      "could differ as much by chance; run with -s {}",
      few, comparison.rows.size(), kEnoughSeeds, kEnoughSeeds));
}

}  // namespace

std::string to_text(Verdict verdict) {
  constexpr const char* kNames[] = {"better", "worse", "same", "not learned", "too few seeds", "undecided"};
  return kNames[static_cast<size_t>(verdict)];
}

Comparison compare(const NamedReport& baseline, std::span<const NamedReport> candidates,
                   const CompareOptions& options) {
  check_options(options, baseline, candidates);
  Comparison comparison{.options = options, .baseline = baseline.name};
  const auto warn_of_unfinished = [&](const NamedReport& run) {
    if (!run.report.so_far.empty()) comparison.warnings.push_back(fmt::format("{}: {}", run.name, run.report.so_far));
  };
  warn_of_unfinished(baseline);
  std::vector<Cell> cells;
  for (size_t i = 0; i < candidates.size(); ++i) {
    comparison.candidates.push_back(candidates[i].name);
    warn_of_unfinished(candidates[i]);
    for (std::string& warning : check_comparable(baseline, candidates[i], options.allow_different_budget)) {
      comparison.warnings.push_back(std::move(warning));
    }
    Pairing(baseline, candidates[i], i, options).add_to(comparison, cells);
  }
  comparison.tests = Tests(cells, options).run();
  for (Cell& cell : cells) {
    for (ComparisonRow& row : cell.rows) {
      row.verdict = judge(row, options);
      comparison.rows.push_back(std::move(row));
    }
  }
  warn_of_few_seeds(comparison);
  return comparison;
}

bool regression(const Comparison& comparison) {
  return std::any_of(comparison.rows.begin(), comparison.rows.end(),
                     [](const ComparisonRow& row) { return row.verdict == Verdict::worse; });
}

std::pair<std::string, std::string> parse_match(const std::string& text, const NamedReport& baseline,
                                                std::span<const NamedReport> candidates) {
  const std::vector<std::string> ours = encodings(baseline.report), theirs = encodings(candidates);
  for (size_t equals = text.find('='); equals != text.npos; equals = text.find('=', equals + 1)) {
    std::pair match{text.substr(0, equals), text.substr(equals + 1)};
    if (contains(ours, match.first) && contains(theirs, match.second)) return match;
  }
  throw std::invalid_argument(
      fmt::format("--match: '{}' is not ENCODING=ENCODING with one of {} ({}) and one of the candidates ({})",
                  text, baseline.name, fmt::join(ours, ", "), fmt::join(theirs, ", ")));
}

}  // namespace posbench
