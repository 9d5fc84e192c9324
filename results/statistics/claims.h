// Judges claims of the literature by rules. docs/findings.md lists the claims that changed after their first run.
//
// A claim is a sentence with rules, all of which must hold. An order rule states that one accuracy is above
// another: it is reproduced if the difference of the means over seeds is above `least`, contradicted if it is
// below 0, and weaker if it is below `least`, all by permutation tests of accuracies from which the bound is
// subtracted. Holm's correction counts all order rules of the comparable claims, trained or not, so training
// another claim never undoes a verdict. It corrects the tests for `weaker` by themselves. A level rule states a
// bound of an accuracy: it is reproduced if at least nine in ten seeds reach it, contradicted if at most one in
// ten does, and weaker if a binomial test refutes that nine in ten do.
//
// An encoding that has not learned its task decides no rule out of distribution (results/statistics/learned.h);
// ClaimCell::learned_from is for sources whose own models learned it in part. An experiment that diverged or
// failed has an accuracy of 0. A rule is then not reproduced if it is about a level that this encoding stays
// below, or about another encoding with a higher accuracy. An order rule is not weaker if neither of its encodings
// has learned the task, or if the accuracy that should be lower is above 1 - least.
//
// The first that applies decides a claim: not comparable, if its setup differs too much from the source;
// contradicted, if a rule is; not run, if a rule has no results; weaker, if a rule is; inconclusive, if a rule is;
// otherwise reproduced.
#pragma once
#include <cstdint>
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

/// The smallest number of seeds with which a rule is judged.
constexpr size_t kClaimSeeds = 5;

/// The results that a rule uses: those of one encoding on one split of one task.
struct ClaimCell {
  std::string task, encoding;  // as named in the claim: the task by a key of ClaimFile::tasks
  std::string split;           // its name; in_distribution and out_of_distribution are means over all of that kind
  std::string run = {};        // the run that trains it; empty until the size of the models is chosen
  /// The accuracy in distribution, in the metric of the claim, from which a seed has learned the task. It is set
  /// only if the source's own model stays below the usual kLearned.
  std::optional<double> learned_from = {};
};

struct OrderRule {
  ClaimCell high, low;
  std::optional<double> gap;  // the published difference, if there are numbers
  double least = 0;           // the smallest difference that agrees with the claim: a quarter of the gap, if known
};

struct LevelRule {
  ClaimCell cell;
  std::optional<double> at_least, at_most;  // an accuracy; exactly one of the two is set
};

using Rule = std::variant<OrderRule, LevelRule>;
/// Returns pointers to the cells of a rule: to `high` and `low` of an order rule, or to the cell of a level rule.
std::vector<ClaimCell*> cells_of(Rule&);
std::vector<const ClaimCell*> cells_of(const Rule&);

/// One published number, as it was published.
struct Published {
  std::string what;  // "test error in %, flip-flop out of distribution"
  std::string encoding;
  double value = 0;
  std::string task;   // that the number is of; empty if the claim has no other number for the encoding
  std::string split;  // as `task`
};

/// The relation of a claim to its source.
enum class ClaimKind {
  published_number,   // the source has numbers of this comparison, which `published` lists
  published_finding,  // the source reports it for this task; the claim quotes no number
  other_task,         // the source reports it for another task
  argument,           // the source argues for it and trains nothing
  own_statement,      // it was made in this repository
};
constexpr ClaimKind kClaimKinds[] = {ClaimKind::published_number, ClaimKind::published_finding,
                                     ClaimKind::other_task, ClaimKind::argument, ClaimKind::own_statement};
std::string to_string(ClaimKind);  // "published number"

struct Claim {
  std::string name, statement, family, source;
  ClaimKind kind = ClaimKind::own_statement;
  std::string read_from, read_where;  // "paper text", "Table 3": the material that was read, and the place in it
  std::vector<Published> published;
  std::string expected;  // before any run: reproduced, contradicted, inconclusive or not comparable
  /// States how the experiments differ from the source, at the chosen size of the models: reduced, or full with
  /// `--full` (ClaimSize in results/reports/claim_json.h).
  std::string differs;
  bool comparable = true;  // at this size; if not, `differs` has the reason
  Metric metric = Metric::sequence;
  std::vector<Rule> rules;
};

/// The accuracies of the experiments of a run on one split.
struct Evidence {
  std::vector<std::uint64_t> seeds;
  std::vector<double> values;  // one for each seed; 0 if its experiment diverged or failed
  Learned learned;
  std::int64_t failed = 0;  // seeds whose experiment diverged or failed
};

/// Evidence by run, split and metric: "flip_flop-cope-1a2b3c4d ood_sparse sequence".
using AllEvidence = std::map<std::string, Evidence>;
std::string evidence_key(const ClaimCell&, Metric);

/// Returns the evidence for a cell in the report of its run. Throws InputError if the report has several tasks or
/// encodings, or no such split.
Evidence find_evidence(const NamedReport&, const ClaimCell&, Metric);

enum class ClaimVerdict { reproduced, weaker, contradicted, inconclusive, not_comparable, not_run };
constexpr ClaimVerdict kClaimVerdicts[] = {ClaimVerdict::reproduced,     ClaimVerdict::weaker,
                                           ClaimVerdict::contradicted,   ClaimVerdict::inconclusive,
                                           ClaimVerdict::not_comparable, ClaimVerdict::not_run};
std::string to_string(ClaimVerdict);  // "not comparable"
std::string word_of(ClaimVerdict);    // "not_comparable", as --verdict takes it
std::string meaning(ClaimVerdict);

struct RuleResult {
  ClaimVerdict verdict = ClaimVerdict::not_run;
  std::string reason;  // why it is weaker or inconclusive
  // For an order rule:
  std::optional<double> difference;
  std::optional<Interval> interval;                                  // 95 %, by permutation; not corrected
  std::optional<double> p_above_least, p_below_zero, p_below_least;  // one-sided, corrected
  // For a level rule:
  std::optional<Count> reached;  // seeds
  /// The number of seeds of each encoding that would decide with probability 0.8, if the true difference, or the
  /// fraction of seeds that reach the level, is the one that was found; empty if the rule is decided, or if no
  /// number up to 100 would decide it.
  std::optional<int> seeds_needed;
};

struct ClaimResult {
  ClaimVerdict verdict = ClaimVerdict::not_run;
  std::string reason;
  std::vector<RuleResult> rules;  // in the order of the claim
};

/// Returns the result of each claim, in order. `alpha` is the probability that any order rule is wrongly found
/// reproduced or contradicted, the probability that any is wrongly found weaker, and the level of the binomial
/// test.
std::vector<ClaimResult> judge_claims(std::span<const Claim>, const AllEvidence&, double alpha = 0.05);

}  // namespace posbench
