// What the literature says, judged by rules that were fixed before any run.
//
// A claim is a sentence with rules, all of which must hold. An order rule says that one accuracy lies above
// another: it holds where the difference of the means over seeds is above `least`, and is refuted where it is
// below 0, both by exact permutation tests of shifted seeds, corrected by Holm for all the rules that are judged
// together. A level rule says what an accuracy reaches: it holds where at least nine in ten seeds reach it, and is
// refuted where at most one in ten does. Out of distribution nothing follows from an encoding that has not learned
// its task; there the gate of results/statistics/learned.h stands before the rule.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "results/statistics/learned.h"
#include "results/statistics/statistics.h"
#include "results/types/metric.h"

namespace posbench {

/// Seeds below which nothing is judged.
constexpr size_t kClaimSeeds = 5;

/// What a rule looks at: one split of the experiments of one run.
struct ClaimCell {
  std::string task, encoding;  // as the claim names them: the task by a key of Claim::tasks
  std::string split;           // its name; in_distribution and out_of_distribution are means over all of that kind
  std::string run;             // that trains it; empty until the claim's size is chosen
};

struct OrderRule {
  ClaimCell high, low;
  std::optional<double> gap;  // the published difference, where there are numbers
  double least = 0;  // the smallest difference that agrees with the claim: a quarter of the gap, where known
};

struct LevelRule {
  ClaimCell cell;
  std::optional<double> at_least, at_most;  // an accuracy; one of both
};

using Rule = std::variant<OrderRule, LevelRule>;

/// One published number, as it was published.
struct Published {
  std::string what;  // "test error in %, flip-flop out of distribution"
  std::string encoding;
  double value = 0;
};

struct Claim {
  std::string name, statement, family, source;
  std::vector<Published> published;
  std::string expected;    // before any run: reproduced, contradicted, inconclusive or not comparable
  std::string differs;     // what the chosen size does otherwise than the source
  bool comparable = true;  // at the chosen size; where not, `differs` says why
  Metric metric = Metric::sequence;
  std::vector<Rule> rules;
};

/// What the experiments of a run reached on one split.
struct Evidence {
  std::vector<std::uint64_t> seeds;
  std::vector<double> values;  // one for each seed
  Learned learned;
};

/// By run, split and metric: "flip_flop-cope-1a2b3c4d ood_sparse sequence".
using AllEvidence = std::map<std::string, Evidence>;
std::string evidence_key(const ClaimCell&, Metric);

/// Of a report of one task and one encoding, on a split or a kind of splits. Throws std::runtime_error where it
/// has another number of them, or no such split.
Evidence find_evidence(const NamedReport&, const std::string& split, Metric);

enum class ClaimVerdict { reproduced, contradicted, inconclusive, not_comparable, not_run };
std::string to_text(ClaimVerdict);  // "not comparable"

struct RuleResult {
  ClaimVerdict verdict = ClaimVerdict::not_run;
  std::string reason;  // of inconclusive
  // Of an order rule:
  std::optional<double> difference;
  std::optional<Interval> interval;                   // 95 %, by permutation; not corrected
  std::optional<double> p_above_least, p_below_zero;  // one-sided, corrected
  // Of a level rule:
  std::optional<Count> reached;  // seeds
  /// How many seeds each encoding would need for a decision with probability 0.8, were the difference as found;
  /// nothing where it is decided, or where no number would do.
  std::optional<int> seeds_needed;
};

struct ClaimResult {
  ClaimVerdict verdict = ClaimVerdict::not_run;
  std::string reason;
  std::vector<RuleResult> rules;  // as the claim has them
};

/// Of each claim, in its order. `alpha`: the probability that any of the order rules is decided wrongly.
std::vector<ClaimResult> judge(std::span<const Claim>, const AllEvidence&, double alpha = 0.05);

}  // namespace posbench
