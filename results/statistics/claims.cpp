#include "results/statistics/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "results/statistics/proportion.h"
#include "results/statistics/seed_pairs.h"

namespace posbench {
namespace {

constexpr int kMostSeeds = 100;  // that are proposed
constexpr const char* kInDistribution = "in_distribution";
constexpr const char* kMustLearn = "longer training or a larger model may decide";

std::string name(const ClaimCell& cell) { return fmt::format("{} on {}", cell.encoding, cell.task); }

const Evidence* find(const AllEvidence& all, const ClaimCell& cell, Metric metric) {
  const auto found = all.find(evidence_key(cell, metric));
  return found == all.end() ? nullptr : &found->second;
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

template <class Cell, class AnyRule>
std::vector<Cell*> list_cells(AnyRule& rule) {
  if (auto* order = std::get_if<OrderRule>(&rule)) return {&order->high, &order->low};
  return {&std::get<LevelRule>(rule).cell};
}

/// One of the things that a rule may show, with its p-value before the correction.
struct Finding {
  Verdict verdict = Verdict::inconclusive;
  double fraction = 0;  // of the pairs or seeds that show it
  double p = 1;
  const char* text = "";
};

/// A rule of a claim, with its evidence.
struct Judged {
  const Claim* claim;
  const Rule* rule;
  double alpha;
  std::vector<const Evidence*> evidence;  // of the cells; empty if a run is missing
  size_t seeds = 0;                       // of the encoding with fewer seeds
  std::array<Finding, 3> findings{};      // the first that is significant decides
  RuleResult result;

  const Evidence& high() const { return *evidence.front(); }  // also that of a level rule
  const Evidence& low() const { return *evidence.back(); }
  /// Returns the level of each of the two one-sided tests of a rule.
  double level() const { return alpha / 2 / kRulesOfAllClaims; }
};

/// Returns the p-value of a fraction of pairs or seeds, of so many seeds, that is above one half.
double p_of(const Judged& judged, double fraction, size_t seeds) {
  if (std::holds_alternative<OrderRule>(*judged.rule)) return pairs_p(fraction, seeds);
  const double reached = std::round(fraction * static_cast<double>(seeds));
  if (reached == 0) return 1;
  return cdf(complement(boost::math::binomial(static_cast<double>(seeds), 0.5), reached - 1));
}

void measure_order(Judged& judged) {
  const auto& rule = std::get<OrderRule>(*judged.rule);
  const SeedPairs pairs(judged.high().values, judged.low().values);
  RuleResult& result = judged.result;
  result.difference = pairs.median();
  result.mean_difference = mean(judged.high().values) - mean(judged.low().values);
  result.interval = pairs.median_interval();
  result.fraction = pairs.fraction_above(rule.least);
  result.p_above_least = pairs.p_above(rule.least);
  result.p_below_zero = pairs.p_below(0);
  result.p_below_least = pairs.p_below(rule.least);
  judged.findings = {
      Finding{Verdict::reproduced, pairs.above(rule.least), *result.p_above_least, "the claimed difference"},
      {Verdict::contradicted, pairs.below(0), *result.p_below_zero, "the opposite"},
      {Verdict::weaker, pairs.below(rule.least), *result.p_below_least, "that the difference is smaller"}};
}

void measure_level(Judged& judged) {
  const auto& rule = std::get<LevelRule>(*judged.rule);
  Count reached;
  for (const double value : judged.high().values)
    reached += {rule.at_least ? value >= *rule.at_least : value <= *rule.at_most, 1};
  judged.result.reached = reached;
  judged.result.fraction = clopper_pearson_interval(reached);
  const double right = accuracy(reached);
  judged.findings = {
      Finding{Verdict::reproduced, right, p_of(judged, right, judged.seeds), "that most seeds meet it"},
      {Verdict::contradicted, 1 - right, p_of(judged, 1 - right, judged.seeds), "that most seeds do not"},
      {}};
}

/// Returns the published accuracy in distribution of the rival in an order rule; empty if it is not known.
std::optional<double> published_in_distribution(const Claim& claim, ClaimCell cell) {
  if (cell.split == kInDistribution) return published_accuracy(claim, cell);
  cell.split = kInDistribution;
  const bool is_stated = std::ranges::any_of(claim.published, [&](const Published& published) {
    return published.encoding == cell.encoding && published.split == cell.split;
  });
  return is_stated ? published_accuracy(claim, cell) : std::nullopt;
}

/// Returns the verdict that replaces the one that was decided, and sets its reason; empty if nothing replaces it.
/// More seeds do not help.
std::optional<Verdict> find_obstacle(const Judged& judged, Verdict decided, std::string& reason) {
  const auto* order = std::get_if<OrderRule>(judged.rule);
  const ClaimCell& better = *cells_of(*judged.rule).front();
  const Learned& learned = judged.high().learned;
  if (better.split != kInDistribution && !learned.by_half_the_seeds()) {
    reason = fmt::format("{} is not learned in distribution ({} of {} seeds)", name(better), learned.seeds.correct,
                         learned.seeds.total);
    if (learned.late_gain) {
      reason += fmt::format(", and the last {:.0f} % of training gained {:+.2f}", 100 * kLateTraining,
                            *learned.late_gain);
    }
    reason += fmt::format("; {}", kMustLearn);
    return Verdict::not_learned;
  }
  const auto* level = std::get_if<LevelRule>(judged.rule);
  const ClaimCell* must_fail = order ? &order->low : level->at_most ? &level->cell : nullptr;
  if (decided == Verdict::reproduced && must_fail && judged.low().failed > 0) {
    reason = fmt::format(
        "{} diverged or failed in {} of {} seeds, and their accuracy of 0 supports no claim; a lower learning rate may "
        "decide",
        name(*must_fail), judged.low().failed, judged.low().values.size());
    return Verdict::inconclusive;
  }
  if (!order || decided == Verdict::contradicted) return std::nullopt;
  if (judged.findings.front().fraction > 0.5) {  // seeds can reproduce the rule
    const std::optional<double> published = published_in_distribution(*judged.claim, order->low);
    const double found = judged.low().in_distribution.value_or(1);
    if (!published || found >= *published - order->least) return std::nullopt;
    reason = fmt::format("{} has {:.3f} in distribution, where the source has {:.3f}; {}", name(order->low), found,
                         *published, kMustLearn);
    return Verdict::rival_undertrained;
  }
  const Learned& rival = judged.low().learned;
  const double high = median_of(judged.high().values), low = median_of(judged.low().values);
  const bool is_accuracy = metric_info(judged.claim->metric).is_accuracy;
  if (is_accuracy && (low > 1 - order->least || high < judged.high().floor + order->least)) {
    reason = fmt::format("nothing can be seen: {} is too {} for a difference of {:.3f}; only {} test would decide",
                         low > 1 - order->least ? order->low.encoding : order->high.encoding,
                         low > 1 - order->least ? "good" : "bad", order->least,
                         low > 1 - order->least ? "a harder" : "an easier");
  } else if (!learned.by_half_the_seeds() && !rival.by_half_the_seeds()) {
    reason = fmt::format("neither encoding has learned the task ({} of {} and {} of {} seeds); {}",
                         learned.seeds.correct, learned.seeds.total, rival.seeds.correct, rival.seeds.total,
                         kMustLearn);
  } else {
    return std::nullopt;
  }
  return Verdict::inconclusive;
}

/// Returns the verdict at a level of each one-sided test, without obstacles.
Verdict decide(const Judged& judged, double level) {
  for (const Finding& finding : judged.findings) {
    if (finding.p <= level) return finding.verdict;
  }
  return Verdict::inconclusive;
}

/// Explains a rule that is open because of its seeds, and sets the number that would decide it.
void explain_open(Judged& judged) {
  RuleResult& result = judged.result;
  const auto likely = std::ranges::find_if(judged.findings, [](const Finding& f) { return f.fraction > 0.5; });
  std::string text;
  if (likely != judged.findings.end()) {
    for (size_t n = judged.seeds + 1; n <= kMostSeeds && !result.seeds_needed; ++n) {
      if (p_of(judged, likely->fraction, n) <= judged.level()) result.seeds_needed = static_cast<int>(n);
    }
  }
  const bool is_order = std::holds_alternative<OrderRule>(*judged.rule);
  const char* of_each = is_order ? " of each encoding" : "";
  if (result.seeds_needed) {
    text = fmt::format("about {} seeds{} in all may show {}", *result.seeds_needed, of_each, likely->text);
  } else {
    const double fraction = judged.findings.front().fraction;
    text =
        fmt::format("the rule holds in {:.0f} % of the {}, and even {} seeds{} would not decide, by extrapolation",
                    100 * fraction, is_order ? "pairs of seeds" : "seeds", kMostSeeds, of_each);
  }
  result.reason = result.by_itself == Verdict::inconclusive
                      ? text
                      : fmt::format("{} by itself; among all claims {}", to_string(result.by_itself), text);
}

void judge_rule(Judged& judged) {
  RuleResult& result = judged.result;
  if (std::holds_alternative<OrderRule>(*judged.rule)) {
    measure_order(judged);
  } else {
    measure_level(judged);
  }
  const auto with_obstacles = [&](double level, std::string& reason) {
    const Verdict decided = decide(judged, level);
    return find_obstacle(judged, decided, reason).value_or(decided);
  };
  std::string reason_by_itself;
  result.by_itself = with_obstacles(judged.alpha / 2, reason_by_itself);
  result.verdict = with_obstacles(judged.level(), result.reason);
  if (result.reason.empty()) result.reason = reason_by_itself;
  if (result.verdict == Verdict::weaker) {
    result.reason = fmt::format("the difference is below {:.3f}, which the rule needs",
                                std::get<OrderRule>(*judged.rule).least);
  }
  if (result.verdict != Verdict::inconclusive || !result.reason.empty()) return;
  if (p_of(judged, 1, judged.seeds) > judged.level()) result.verdict = Verdict::too_few_seeds;
  explain_open(judged);
}

Judged look_up(const Claim& claim, const Rule& rule, const AllEvidence& all, double alpha) {
  Judged judged{.claim = &claim, .rule = &rule, .alpha = alpha, .evidence = {}, .result = {}};
  for (const ClaimCell* cell : cells_of(rule)) {
    judged.evidence.push_back(find(all, *cell, claim.metric));
    if (judged.evidence.back() && !judged.evidence.back()->values.empty()) continue;
    judged.evidence.clear();
    return judged;
  }
  judged.seeds = std::min(judged.high().values.size(), judged.low().values.size());
  return judged;
}

/// Returns the verdict of a claim by those of its rules, and the rule that decides it, if just one does.
template <class Member>
std::pair<Verdict, const RuleResult*> combine(const std::vector<RuleResult>& rules, Member verdict_of) {
  for (const Verdict verdict :
       {Verdict::contradicted, Verdict::not_run, Verdict::weaker, Verdict::rival_undertrained,
        Verdict::not_learned, Verdict::too_few_seeds, Verdict::inconclusive}) {
    const auto found = std::ranges::find(rules, verdict, verdict_of);
    if (found != rules.end()) return {verdict, &*found};
  }
  return {Verdict::reproduced, nullptr};
}

/// Returns the mean over the splits of the accuracy of a guess or of the best trivial predictor. They are known by
/// token, and so by sequence only if every sequence has one answer; otherwise returns 0.
double find_floor(const TaskBaseline& task, std::span<const std::string> splits,
                  const ExperimentResult& experiment, Metric metric) {
  const bool has_one_answer = std::ranges::all_of(
      experiment.splits, [](const SplitResult& split) { return split.token.total == split.sequence.total; });
  if (metric != Metric::token && (experiment.splits.empty() || !has_one_answer)) return 0;
  double sum = 0;
  for (const SplitBaseline& split : task.splits) {
    if (std::ranges::find(splits, split.name) == splits.end()) continue;
    double floor = split.chance;
    for (const auto& [predictor, right] : split.trivial) floor = std::max(floor, right);
    sum += floor;
  }
  return sum / static_cast<double>(splits.size());
}

/// Returns a published number as an accuracy from 0 to 1; empty if it is something else, such as a gain.
std::optional<double> as_accuracy(const Published& published) {
  const auto has = [&](const char* words) { return published.what.find(words) != std::string::npos; };
  if (has(" in %") && !has("gain")) return has("error") ? 1 - published.value / 100 : published.value / 100;
  return std::nullopt;
}

}  // namespace

std::vector<ClaimCell*> cells_of(Rule& rule) { return list_cells<ClaimCell>(rule); }

std::vector<const ClaimCell*> cells_of(const Rule& rule) { return list_cells<const ClaimCell>(rule); }

std::string evidence_key(const ClaimCell& cell, Metric metric) {
  return fmt::format("{} {} {}", cell.run, cell.split, to_string(metric)) +
         (cell.learned_from ? fmt::format(" learned from {}", *cell.learned_from) : "");
}

Evidence find_evidence(const NamedReport& named, const ClaimCell& cell, Metric metric) {
  const Report& report = named.report;
  if (report.tasks.size() != 1 || report.experiments.empty()) {
    throw InputError(fmt::format("{}: expected a report of one task", named.name));
  }
  const TaskBaseline& task = report.tasks.front();
  const std::vector<std::string> splits = select_splits(task, cell.split);
  if (splits.empty()) throw InputError(fmt::format("{}: no split '{}'", named.name, cell.split));
  Evidence evidence;
  std::vector<const ExperimentResult*> experiments;
  for (const ExperimentResult& experiment : report.experiments) {
    if (experiment.id.encoding != report.experiments.front().id.encoding) {
      throw InputError(fmt::format("{}: expected a report of one encoding", named.name));
    }
    evidence.seeds.push_back(experiment.id.seed);
    evidence.values.push_back(mean_accuracy(experiment, splits, metric));
    evidence.failed += experiment.status != Status::ok;
    experiments.push_back(&experiment);
  }
  evidence.floor = find_floor(task, splits, *experiments.front(), metric);
  evidence.learned = find_learned(report, task, experiments);
  const std::vector<std::string> in_distribution = select_splits(task, kInDistribution);
  std::vector<double> learned;
  for (const ExperimentResult* experiment : experiments)
    learned.push_back(mean_accuracy(*experiment, in_distribution, metric));
  if (!in_distribution.empty()) evidence.in_distribution = median_of(learned);
  if (!cell.learned_from) return evidence;
  evidence.learned.seeds.correct =
      std::ranges::count_if(learned, [&](double accuracy) { return accuracy >= *cell.learned_from; });
  return evidence;
}

std::string to_string(ClaimKind kind) {
  constexpr const char* kNames[] = {"published number", "published finding", "other task", "argument",
                                    "own statement"};
  return kNames[static_cast<size_t>(kind)];
}

std::optional<double> published_accuracy(const Claim& claim, const ClaimCell& cell) {
  if (claim.kind == ClaimKind::other_task || claim.kind == ClaimKind::own_statement) return std::nullopt;
  const auto is_of = [](const std::string& stated, const std::string& name) {
    return stated.empty() || stated == name;
  };
  std::vector<double> found;
  for (const Published& published : claim.published) {
    const std::optional<double> value = as_accuracy(published);
    if (value && published.encoding == cell.encoding && is_of(published.task, cell.task) &&
        is_of(published.split, cell.split))
      found.push_back(*value);
  }
  return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
}

std::vector<ClaimResult> judge_claims(std::span<const Claim> claims, const AllEvidence& all, double alpha) {
  std::vector<ClaimResult> results;
  for (const Claim& claim : claims) {
    ClaimResult& result = results.emplace_back();
    for (const Rule& rule : claim.rules) {
      Judged judged = look_up(claim, rule, all, alpha);
      if (!judged.evidence.empty()) judge_rule(judged);
      result.rules.push_back(std::move(judged.result));
    }
    if (!claim.comparable) {
      result.verdict = result.by_itself = Verdict::not_comparable;
      result.reason = claim.differs;
      continue;
    }
    const auto [verdict, decisive] = combine(result.rules, &RuleResult::verdict);
    result.verdict = verdict;
    if (decisive) result.reason = decisive->reason;
    result.by_itself = combine(result.rules, &RuleResult::by_itself).first;
  }
  return results;
}

}  // namespace posbench
