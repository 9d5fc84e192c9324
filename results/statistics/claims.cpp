#include "results/statistics/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/binomial.hpp>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "results/statistics/permutation.h"
#include "results/statistics/words.h"

namespace posbench {
namespace {

constexpr double kSolvingSeeds = 0.9, kFailingSeeds = 0.1;  // fractions of seeds that decide a level rule

bool out_of_distribution(const ClaimCell& cell) { return cell.split != "in_distribution"; }

std::string name(const ClaimCell& cell) { return fmt::format("{} on {}", cell.encoding, cell.task); }

const Evidence* find(const AllEvidence& all, const ClaimCell& cell, Metric metric) {
  const auto found = all.find(evidence_key(cell, metric));
  return found == all.end() ? nullptr : &found->second;
}

constexpr const char* kMustLearn = "longer training or a larger model may decide";

/// Returns why a cell cannot decide a rule, and what would; empty if it can decide it.
std::string why_not(const ClaimCell& cell, const Evidence& evidence) {
  if (evidence.values.size() < kClaimSeeds) {
    return fmt::format("{} has {} seeds, fewer than the {} that a rule needs", name(cell), evidence.values.size(),
                       kClaimSeeds);
  }
  if (!out_of_distribution(cell) || evidence.learned.by_half_the_seeds()) return "";
  const Count seeds = evidence.learned.seeds;
  std::string text =
      fmt::format("{} is not learned in distribution ({} of {} seeds)", name(cell), seeds.correct, seeds.total);
  if (evidence.learned.late_gain) {
    text += fmt::format(", and the last {:.0f} % of training gained {:+.2f}", 100 * kLateTraining,
                        *evidence.learned.late_gain);
  }
  return fmt::format("{}; {}", text, kMustLearn);
}

template <class Cell, class AnyRule>
std::vector<Cell*> list_cells(AnyRule& rule) {
  if (auto* order = std::get_if<OrderRule>(&rule)) return {&order->high, &order->low};
  return {&std::get<LevelRule>(rule).cell};
}

/// A rule of a claim, with its evidence.
struct Judged {
  const Rule* rule;
  Metric metric;
  const Evidence *high = nullptr, *low = nullptr;  // both are the evidence of a level rule
  RuleResult result;
};

Judged look_up(const Claim& claim, const Rule& rule, const AllEvidence& all) {
  Judged judged{.rule = &rule, .metric = claim.metric};
  const std::vector<const ClaimCell*> cells = cells_of(rule);
  std::vector<const Evidence*> found;
  for (const ClaimCell* cell : cells) {
    found.push_back(find(all, *cell, claim.metric));
    if (!found.back()) return judged;  // not run
  }
  judged.result.verdict = ClaimVerdict::inconclusive;
  for (size_t i = 0; i < cells.size(); ++i) {
    judged.result.reason = why_not(*cells[i], *found[i]);
    if (!judged.result.reason.empty()) break;
  }
  judged.high = found.front();
  judged.low = found.back();
  return judged;
}

/// Makes a reproduced rule inconclusive if low accuracies of a cell support it, and some are 0 because the
/// experiment diverged or failed.
void refuse_failed(const ClaimCell& cell, const Evidence& evidence, RuleResult& result) {
  if (result.verdict != ClaimVerdict::reproduced || evidence.failed == 0) return;
  result.verdict = ClaimVerdict::inconclusive;
  result.reason = fmt::format(
      "{} diverged or failed in {} of {} seeds, and their accuracy of 0 supports no claim; a lower learning rate may "
      "decide",
      name(cell), evidence.failed, evidence.values.size());
}

constexpr int kMostSeeds = 100;  // that are proposed

/// Returns the probability that so few seeds or fewer reach a level which this fraction of all seeds reach.
double reaching_p(Count reached, double fraction) {
  const boost::math::binomial distribution(static_cast<double>(reached.total), fraction);
  return cdf(distribution, static_cast<double>(reached.correct));
}

/// Returns the smallest number of seeds with which the binomial test refutes, with a probability of 0.8, that nine
/// in ten reach the level, if the fraction of those that reach it stays the same; empty above kMostSeeds.
std::optional<int> seeds_to_refute(Count reached, double alpha) {
  constexpr double kPower = 0.8;
  for (auto n = static_cast<int>(reached.total) + 1; n <= kMostSeeds; ++n) {
    int refuted = -1;  // the greatest number that refutes it
    while (reaching_p({refuted + 1, n}, kSolvingSeeds) <= alpha) ++refuted;
    if (refuted >= 0 && reaching_p({refuted, n}, accuracy(reached)) >= kPower) return n;
  }
  return std::nullopt;
}

void judge_level(Judged& judged, double alpha) {
  const auto& rule = std::get<LevelRule>(*judged.rule);
  Count reached;
  for (const double value : judged.high->values) {
    reached += {rule.at_least ? value >= *rule.at_least : value <= *rule.at_most, 1};
  }
  judged.result.reached = reached;
  if (!judged.result.reason.empty()) return;
  if (accuracy(reached) >= kSolvingSeeds) judged.result.verdict = ClaimVerdict::reproduced;
  if (accuracy(reached) <= kFailingSeeds) judged.result.verdict = ClaimVerdict::contradicted;
  if (rule.at_most) refuse_failed(rule.cell, *judged.high, judged.result);
  if (judged.result.verdict != ClaimVerdict::inconclusive || !judged.result.reason.empty()) return;
  const double p = reaching_p(reached, kSolvingSeeds);
  const std::string p_text = p < 0.001 ? "p < 0.001" : fmt::format("p = {:.3f}", p);
  const std::string found = fmt::format("{} of {} seeds", reached.correct, reached.total);
  if (p <= alpha) {
    judged.result.verdict = ClaimVerdict::weaker;
    judged.result.reason = fmt::format("{}; nine in ten are unlikely ({})", found, p_text);
    return;
  }
  judged.result.seeds_needed = seeds_to_refute(reached, alpha);
  judged.result.reason = fmt::format(
      "{}; nine in ten remain possible ({}); {}", found, p_text,
      judged.result.seeds_needed
          ? fmt::format("about {} seeds in all would show that fewer do", *judged.result.seeds_needed)
          : fmt::format("it would be reproduced with {} seeds if the others meet it",
                        static_cast<int>(std::lround(static_cast<double>(reached.total - reached.correct) /
                                                     (1 - kSolvingSeeds)))));
}

void measure_order(Judged& judged) {
  const auto& rule = std::get<OrderRule>(*judged.rule);
  judged.result.difference = mean(judged.high->values) - mean(judged.low->values);
  if (!judged.result.reason.empty()) return;
  judged.result.interval = shift_interval(judged.low->values, judged.high->values);
  judged.result.p_above_least = shift_p(judged.low->values, judged.high->values, rule.least);
  judged.result.p_below_zero = shift_p(judged.high->values, judged.low->values, 0);
  judged.result.p_below_least = shift_p(judged.high->values, judged.low->values, -rule.least);
}

/// Returns the smallest number of seeds of each encoding, more than `trained`, with which a t-test of this effect
/// has a power of 0.8 at that level, and with which a permutation test can reach the level at all; empty above
/// kMostSeeds.
std::optional<int> seeds_needed(double effect, double deviation, double level, size_t trained) {
  for (auto n = static_cast<unsigned>(trained + 1); n <= kMostSeeds; ++n) {
    if (boost::math::binomial_coefficient<double>(2 * n, n) * level < 1) continue;
    const double freedom = 2.0 * n - 2;
    const double critical = quantile(complement(boost::math::students_t(freedom), level));
    const double detectable = detectable_noncentrality(critical, freedom) * deviation * std::sqrt(2.0 / n);
    if (detectable <= effect) return static_cast<int>(n);
  }
  return std::nullopt;
}

bool has_neither_learned(const Judged& judged) {
  return !judged.high->learned.by_half_the_seeds() && !judged.low->learned.by_half_the_seeds();
}

/// Returns the reason why a small difference does not make the rule weaker; empty if there is none.
std::string why_not_weaker(const Judged& judged) {
  const auto& rule = std::get<OrderRule>(*judged.rule);
  if (has_neither_learned(judged)) {
    const Count high = judged.high->learned.seeds, low = judged.low->learned.seeds;
    return fmt::format("neither encoding has learned the task ({} of {} and {} of {} seeds); {}", high.correct,
                       high.total, low.correct, low.total, kMustLearn);
  }
  if (metric_info(judged.metric).is_accuracy && mean(judged.low->values) > 1 - rule.least) {
    return fmt::format("{} is too good for a difference of {:.3f}; only a harder test would decide",
                       rule.low.encoding, rule.least);
  }
  return "";
}

/// Explains an order rule that is weaker or inconclusive. `tests` and `tests_weaker` are the numbers of tests that
/// were corrected together.
void explain_order(Judged& judged, double alpha, size_t tests, size_t tests_weaker) {
  const auto& rule = std::get<OrderRule>(*judged.rule);
  RuleResult& result = judged.result;
  const double difference = *result.difference;
  const auto seeds_for = [&](double effect, size_t corrected) {
    const double high = standard_deviation(judged.high->values), low = standard_deviation(judged.low->values);
    return seeds_needed(effect, std::sqrt((high * high + low * low) / 2), alpha / static_cast<double>(corrected),
                        std::max(judged.high->values.size(), judged.low->values.size()));
  };
  if (result.verdict == ClaimVerdict::weaker) {
    result.reason = fmt::format("the difference is below {:.3f}, which the rule needs", rule.least);
    const std::optional<int> seeds = difference < 0 ? seeds_for(-difference, tests) : std::nullopt;
    if (seeds)
      result.reason += fmt::format("; about {} seeds of each encoding in all would show the opposite", *seeds);
    return;
  }
  const bool is_greater = difference > rule.least;
  if (!is_greater) result.reason = why_not_weaker(judged);
  // Seeds can still contradict the rule if the rival is too good for it to be weaker.
  const bool is_opposite = !result.reason.empty() && difference < 0 && !has_neither_learned(judged);
  if (!result.reason.empty() && !is_opposite) return;
  const double effect = is_opposite ? -difference : std::abs(difference - rule.least);
  result.seeds_needed = seeds_for(effect, is_greater || is_opposite ? tests : tests_weaker);
  if (result.seeds_needed) {
    result.reason = fmt::format("about {} seeds of each encoding in all would show {}", *result.seeds_needed,
                                is_greater    ? "the claimed difference"
                                : is_opposite ? "the opposite"
                                              : "that the difference is smaller");
  } else if (!is_opposite) {
    result.reason = fmt::format(
        "the seeds vary too much to tell the difference from {:.3f}, which the rule needs; even {} seeds would not "
        "decide, by extrapolation; {} if the seeds then vary less",
        rule.least, kMostSeeds, kMustLearn);
  }
}

/// Corrects the p-values of all order rules by Holm's method: those of `reproduced` and `contradicted` together,
/// those of `weaker` by themselves. A rule that was not tested counts with p-values of 1, so training another
/// claim never undoes a verdict.
void judge_orders(std::vector<Judged*>& orders, double alpha) {
  std::vector<double> p, p_weaker;
  for (const Judged* judged : orders) {
    p.push_back(judged->result.p_above_least.value_or(1));
    p.push_back(judged->result.p_below_zero.value_or(1));
    p_weaker.push_back(judged->result.p_below_least.value_or(1));
  }
  const std::vector<double> corrected = holm_correction(p), corrected_weaker = holm_correction(p_weaker);
  for (size_t i = 0; i < orders.size(); ++i) {
    RuleResult& result = orders[i]->result;
    if (!result.p_above_least) continue;
    result.p_above_least = corrected[2 * i];
    result.p_below_zero = corrected[2 * i + 1];
    result.p_below_least = corrected_weaker[i];
    if (*result.p_below_least <= alpha && why_not_weaker(*orders[i]).empty())
      result.verdict = ClaimVerdict::weaker;
    if (*result.p_above_least <= alpha) result.verdict = ClaimVerdict::reproduced;
    refuse_failed(std::get<OrderRule>(*orders[i]->rule).low, *orders[i]->low, result);
    if (*result.p_below_zero <= alpha) result.verdict = ClaimVerdict::contradicted;
    if (result.reason.empty() &&
        (result.verdict == ClaimVerdict::weaker || result.verdict == ClaimVerdict::inconclusive))
      explain_order(*orders[i], alpha, p.size(), p_weaker.size());
  }
}

ClaimResult combine(const Claim& claim, std::span<const Judged> rules) {
  ClaimResult result;
  for (const Judged& judged : rules) result.rules.push_back(judged.result);
  const auto find_rule = [&](ClaimVerdict verdict) {
    return std::find_if(result.rules.begin(), result.rules.end(),
                        [&](const RuleResult& rule) { return rule.verdict == verdict; });
  };
  if (!claim.comparable) {
    result.verdict = ClaimVerdict::not_comparable;
    result.reason = claim.differs;
  } else if (find_rule(ClaimVerdict::contradicted) != result.rules.end()) {
    result.verdict = ClaimVerdict::contradicted;
  } else if (find_rule(ClaimVerdict::not_run) != result.rules.end()) {
    result.verdict = ClaimVerdict::not_run;
  } else if (const auto weaker = find_rule(ClaimVerdict::weaker); weaker != result.rules.end()) {
    result.verdict = ClaimVerdict::weaker;
    result.reason = weaker->reason;
  } else if (const auto open = find_rule(ClaimVerdict::inconclusive); open != result.rules.end()) {
    result.verdict = ClaimVerdict::inconclusive;
    result.reason = open->reason;
  } else {
    result.verdict = ClaimVerdict::reproduced;
  }
  return result;
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
  evidence.learned = find_learned(report, task, experiments);
  if (!cell.learned_from) return evidence;
  const std::vector<std::string> in_distribution = select_splits(task, "in_distribution");
  evidence.learned.seeds.correct = std::ranges::count_if(experiments, [&](const ExperimentResult* experiment) {
    return mean_accuracy(*experiment, in_distribution, metric) >= *cell.learned_from;
  });
  return evidence;
}

std::string to_string(ClaimKind kind) {
  constexpr const char* kNames[] = {"published number", "published finding", "other task", "argument",
                                    "own statement"};
  return kNames[static_cast<size_t>(kind)];
}

std::string to_string(ClaimVerdict verdict) {
  constexpr const char* kNames[] = {"reproduced",  "weaker",         "contradicted",
                                    kInconclusive, "not comparable", "not run"};
  return kNames[static_cast<size_t>(verdict)];
}

std::string word_of(ClaimVerdict verdict) {
  std::string word = to_string(verdict);
  std::ranges::replace(word, ' ', '_');
  return word;
}

std::string meaning(ClaimVerdict verdict) {
  switch (verdict) {
    case ClaimVerdict::reproduced:
      return "the difference is significantly above the bound of the rule, or nine in ten seeds meet the rule";
    case ClaimVerdict::weaker:
      return "the difference is significantly below the bound and may be 0, or a binomial test shows that fewer than nine "
             "in ten seeds meet the rule";
    case ClaimVerdict::contradicted:
      return "the difference is significantly below 0, or at most one in ten seeds meet the rule";
    case ClaimVerdict::inconclusive:
      return "the runs show none of reproduced, weaker and contradicted; the reason states what may decide";
    case ClaimVerdict::not_comparable:
      return "the suite cannot train what the source trained; the reason lists the differences";
    case ClaimVerdict::not_run:
      return "a run that the claim needs is missing or not finished";
  }
  return "";
}

std::vector<ClaimResult> judge_claims(std::span<const Claim> claims, const AllEvidence& all, double alpha) {
  std::vector<std::vector<Judged>> judged;
  for (const Claim& claim : claims) {
    std::vector<Judged>& rules = judged.emplace_back();
    for (const Rule& rule : claim.rules) {
      Judged& one = rules.emplace_back(look_up(claim, rule, all));
      if (one.result.verdict == ClaimVerdict::not_run) continue;
      if (std::holds_alternative<LevelRule>(rule)) {
        judge_level(one, alpha);
      } else {
        measure_order(one);
      }
    }
  }
  std::vector<Judged*> orders;
  for (size_t i = 0; i < claims.size(); ++i) {
    for (Judged& one : judged[i]) {
      if (std::holds_alternative<OrderRule>(*one.rule) && claims[i].comparable) orders.push_back(&one);
    }
  }
  judge_orders(orders, alpha);
  std::vector<ClaimResult> results;
  for (size_t i = 0; i < claims.size(); ++i) results.push_back(combine(claims[i], judged[i]));
  return results;
}

}  // namespace posbench
