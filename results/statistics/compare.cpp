#include "results/statistics/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

#include "base/text.h"
#include "results/statistics/comparable.h"

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

/// The encodings of the candidate that one of the baseline pairs with.
std::vector<std::string> partners(const std::string& encoding, const CompareOptions& options) {
  std::vector<std::string> partners;
  for (const auto& [of_baseline, of_candidate] : options.match) {
    if (of_baseline == encoding && !contains(partners, of_candidate)) partners.push_back(of_candidate);
  }
  return partners.empty() ? std::vector{encoding} : partners;
}

struct Pair {
  const ExperimentResult *baseline, *candidate;
};

/// What is known of a row before the number of rows is.
ComparisonRow measure(ComparisonRow row, const std::vector<Pair>& pairs, Metric metric) {
  std::vector<double> baseline, candidate, differences;
  std::int64_t cases = 0;  // the fewest that an accuracy is over
  for (const Pair& pair : pairs) {
    row.seeds.push_back(pair.baseline->id.seed);
    row.baseline_unfinished += pair.baseline->status != Status::ok;
    row.candidate_unfinished += pair.candidate->status != Status::ok;
    baseline.push_back(split_accuracy(*pair.baseline, row.split, metric));
    candidate.push_back(split_accuracy(*pair.candidate, row.split, metric));
    differences.push_back(candidate.back() - baseline.back());
    for (const ExperimentResult* experiment : {pair.baseline, pair.candidate}) {
      const std::optional<Count> count = split_count(*experiment, row.split, metric);
      if (count) cases = cases == 0 ? count->total : std::min(cases, count->total);
    }
  }
  row.baseline_mean = mean(baseline);
  row.candidate_mean = mean(candidate);
  row.test = paired_t_test(differences, cases > 0 ? 1.0 / static_cast<double>(cases) : 0);
  row.equal = std::all_of(differences.begin(), differences.end(), [](double d) { return d == 0; });
  return row;
}

/// Compares one candidate: its rows, and what pairs with nothing.
class Pairing {
 public:
  Pairing(const NamedReport& baseline, const NamedReport& candidate, size_t number, const CompareOptions& options)
      : baseline_(baseline.report),
        candidate_(candidate.report),
        number_(number),
        options_(options),
        in_baseline_(index(baseline_)),
        in_candidate_(index(candidate_)) {}

  void add_to(Comparison& comparison) {
    const std::vector<std::string> names = encodings(baseline_);
    const size_t before = comparison.rows.size();
    for (const TaskBaseline& task : baseline_.tasks) {
      for (const std::string& encoding : names) {
        for (const std::string& other : partners(encoding, options_)) add_rows(task, encoding, other, comparison);
      }
    }
    if (comparison.rows.size() == before) {
      throw std::runtime_error(
          fmt::format("{} and {} cannot be compared: they have no task, encoding and seed in common",
                      comparison.baseline, comparison.candidates[number_]));
    }
    list_one_sided(in_baseline_, paired_baseline_, true, comparison);
    list_one_sided(in_candidate_, paired_candidate_, false, comparison);
  }

 private:
  void add_rows(const TaskBaseline& task, const std::string& encoding, const std::string& partner,
                Comparison& comparison) {
    const std::vector<Pair> pairs = find_pairs(task.task, encoding, partner);
    if (pairs.empty()) return;
    const TaskBaseline& other = posbench::baseline(candidate_, task.task);
    for (const SplitBaseline& split : task.splits) {
      const auto same = [&](const SplitBaseline& s) { return s.name == split.name && s.kind == split.kind; };
      if (std::none_of(other.splits.begin(), other.splits.end(), same)) continue;
      comparison.rows.push_back(measure({.candidate = number_,
                                         .task = task.task,
                                         .encoding = encoding,
                                         .candidate_encoding = partner,
                                         .split = split.name,
                                         .kind = split.kind},
                                        pairs, options_.metric));
    }
  }

  std::vector<Pair> find_pairs(const std::string& task, const std::string& encoding, const std::string& partner) {
    const auto ours = in_baseline_.find({task, encoding});
    const auto theirs = in_candidate_.find({task, partner});
    std::vector<Pair> pairs;
    if (ours == in_baseline_.end() || theirs == in_candidate_.end()) return pairs;
    for (const auto& [seed, experiment] : ours->second) {
      const auto found = theirs->second.find(seed);
      if (found == theirs->second.end()) continue;
      pairs.push_back({experiment, found->second});
      paired_baseline_.insert(experiment);
      paired_candidate_.insert(found->second);
    }
    return pairs;
  }

  void list_one_sided(const Index& all, const std::set<const ExperimentResult*>& paired, bool in_baseline,
                      Comparison& comparison) const {
    for (const auto& [key, by_seed] : all) {
      OneSided alone{.candidate = number_, .in_baseline = in_baseline, .task = key.first, .encoding = key.second};
      for (const auto& [seed, experiment] : by_seed) {
        if (!paired.contains(experiment)) alone.seeds.push_back(seed);
      }
      if (!alone.seeds.empty()) comparison.one_sided.push_back(std::move(alone));
    }
  }

  const Report &baseline_, &candidate_;
  size_t number_;
  const CompareOptions& options_;
  Index in_baseline_, in_candidate_;
  std::set<const ExperimentResult*> paired_baseline_, paired_candidate_;
};

void check_options(const CompareOptions& options, const NamedReport& baseline,
                   std::span<const NamedReport> candidates) {
  if (!(options.alpha > 0 && options.alpha < 1)) {
    throw std::invalid_argument(
        fmt::format("--alpha is {}, expected a number above 0 and below 1", options.alpha));
  }
  if (!(options.threshold >= 0 && options.threshold <= 1)) {
    throw std::invalid_argument(
        fmt::format("--threshold is {}, expected a number from 0 to 1", options.threshold));
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

/// The noise of each row: its own deviation, or the pooled one of its task where that is greater.
void find_noise(std::vector<ComparisonRow>& rows) {
  struct Pool {
    double squares = 0, freedom = 0;
  };
  std::map<std::pair<size_t, std::string>, Pool> pools;  // by candidate and task
  for (const ComparisonRow& row : rows) {
    if (!row.test.deviation) continue;
    const double freedom = static_cast<double>(row.seeds.size() - 1);
    Pool& pool = pools[{row.candidate, row.task}];
    pool.squares += freedom * *row.test.deviation * *row.test.deviation;
    pool.freedom += freedom;
  }
  for (ComparisonRow& row : rows) {
    if (!row.test.deviation) continue;
    const Pool& pool = pools[{row.candidate, row.task}];
    row.noise = std::max(*row.test.deviation, std::sqrt(pool.squares / pool.freedom));
  }
}

/// The corrected p-value of each row that has a test, and what it could have detected.
void test_rows(Comparison& comparison) {
  find_noise(comparison.rows);
  std::vector<double> p;
  for (const ComparisonRow& row : comparison.rows) {
    if (row.noise) p.push_back(t_test_p(row.test.difference, *row.noise, static_cast<int>(row.seeds.size())));
  }
  const std::vector<double> corrected = holm(p);
  std::map<size_t, double> effects;  // by number of pairs
  size_t next = 0;
  for (ComparisonRow& row : comparison.rows) {
    if (!row.noise) continue;
    row.p_corrected = corrected[next++];
    const size_t pairs = row.seeds.size();
    const auto [effect, is_new] = effects.emplace(pairs, 0);
    if (is_new) {
      effect->second =
          detectable_effect(static_cast<int>(pairs), comparison.options.alpha / static_cast<double>(p.size()));
    }
    row.detectable = effect->second * *row.noise;
  }
}

Verdict judge(const ComparisonRow& row, const CompareOptions& options) {
  const int pairs = static_cast<int>(row.seeds.size());
  if (row.baseline_unfinished == 0 && row.candidate_unfinished == pairs) return Verdict::worse;
  if (row.baseline_unfinished == pairs && row.candidate_unfinished == 0) return Verdict::better;
  if (row.equal) return Verdict::same;
  if (!row.p_corrected) return Verdict::undecided;
  const bool matters = std::abs(row.test.difference) >= options.threshold;
  if (*row.p_corrected < options.alpha && matters) {
    return row.test.difference < 0 ? Verdict::worse : Verdict::better;
  }
  const bool within = row.test.interval->low > -options.threshold && row.test.interval->high < options.threshold;
  return within ? Verdict::same : Verdict::undecided;
}

/// From here on a seed more no longer changes much what the t-test can find.
constexpr size_t kEnoughSeeds = 5;

void warn_of_few_seeds(Comparison& comparison) {
  const auto fewer = [](const ComparisonRow& a, const ComparisonRow& b) {
    return a.seeds.size() < b.seeds.size();
  };
  const size_t pairs = std::min_element(comparison.rows.begin(), comparison.rows.end(), fewer)->seeds.size();
  const auto tests = std::count_if(comparison.rows.begin(), comparison.rows.end(),
                                   [](const ComparisonRow& row) { return row.p_corrected.has_value(); });
  if (pairs == 1) {
    comparison.warnings.push_back("only 1 seed in common for some rows: there is nothing to test them by");
  } else if (pairs < kEnoughSeeds) {
    const double effect =
        detectable_effect(static_cast<int>(pairs), comparison.options.alpha / static_cast<double>(tests));
    comparison.warnings.push_back(fmt::format(
        "few seeds: with {} seeds and {} rows, a difference shows from {:.1f} times its standard deviation "
        "over seeds",
        pairs, tests, effect));
  }
}

}  // namespace

std::string to_text(Verdict verdict) {
  constexpr const char* kNames[] = {"better", "worse", "same", "undecided"};
  return kNames[static_cast<size_t>(verdict)];
}

Comparison compare(const NamedReport& baseline, std::span<const NamedReport> candidates,
                   const CompareOptions& options) {
  check_options(options, baseline, candidates);
  Comparison comparison{.options = options, .baseline = baseline.name};
  for (size_t i = 0; i < candidates.size(); ++i) {
    comparison.candidates.push_back(candidates[i].name);
    for (std::string& warning : check_comparable(baseline, candidates[i], options.allow_different_budget)) {
      comparison.warnings.push_back(std::move(warning));
    }
    Pairing(baseline, candidates[i], i, options).add_to(comparison);
  }
  test_rows(comparison);
  for (ComparisonRow& row : comparison.rows) row.verdict = judge(row, options);
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
  for (size_t cut = text.find('='); cut != text.npos; cut = text.find('=', cut + 1)) {
    std::pair match{text.substr(0, cut), text.substr(cut + 1)};
    if (contains(ours, match.first) && contains(theirs, match.second)) return match;
  }
  throw std::invalid_argument(
      fmt::format("--match: '{}' is not ENCODING=ENCODING with one of {} ({}) and one of the candidates ({})",
                  text, baseline.name, fmt::join(ours, ", "), fmt::join(theirs, ", ")));
}

}  // namespace posbench
