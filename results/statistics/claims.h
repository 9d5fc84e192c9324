// Judges claims of the literature by rules. docs/findings.md lists the claims that changed after their first run.
//
// A claim is a sentence with rules, all of which must hold. An order rule states that one accuracy is above
// another by more than `least`: it is about the fraction of all pairs of seeds in which this is so (seed_pairs.h).
// A level rule states a bound of an accuracy: it is about the fraction of all seeds that meet it. A rule is
// reproduced if a test shows that the fraction is above one half. It is contradicted if a test shows that the
// difference is negative in more than half of the pairs, or that more than half of the seeds miss the level. An
// order rule is weaker if a test shows that the difference is below `least` in more than half of the pairs.
//
// All rules at one size are one family of kRulesOfAllClaims, so a verdict does not depend on other claims.
// `by_itself` is the verdict on a rule as if no other rule was judged.
// The encoding that is claimed to be better must have learned its task before a rule out of distribution is judged
// (results/statistics/learned.h), and so must that of a level rule. ClaimCell::learned_from is for sources whose
// own models learned it in part. No difference can be seen where the bound is larger than the room above the rival
// or below the better encoding. A rival that is below its published accuracy in distribution by more than the
// bound is undertrained. An experiment that diverged or failed has an accuracy of 0. A rule is then not reproduced
// if it is about a level that this encoding stays below, or about another encoding with a higher accuracy.
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
#include "results/statistics/verdict.h"
#include "results/types/metric.h"

namespace posbench {

/// The smallest number of seeds that a claim file may have.
constexpr size_t kClaimSeeds = 5;
/// The number of rules for which every verdict is corrected, at each size. It is at least that of all claim files,
/// and stays the same when claims are added.
constexpr int kRulesOfAllClaims = 200;
constexpr double kClaimAlpha = 0.05;  // the probability of any wrong verdict

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
  std::optional<double> gap;  // the published difference, if the source has numbers
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

/// The registration of the one run that decides a claim. It is committed before the run.
struct Confirmation {
  std::string frozen;        // the commit that has the claim and the rules of the program
  std::string claim, rules;  // their hashes there (harness/runs/confirmation.h)
};

struct Claim {
  std::string name, statement, family, source;
  ClaimKind kind = ClaimKind::own_statement;
  std::string read_from, read_where;  // "paper text", "Table 3": the material that was read, and the place in it
  std::vector<Published> published;
  /// States how the experiments differ from the source, at the chosen size of the models: reduced, or full with
  /// `--full` (ClaimSize in results/reports/claim_json.h).
  std::string differs;
  bool comparable = true;  // at this size; if not, `differs` has the reason
  Metric metric = Metric::sequence;
  std::vector<Rule> rules;
  std::optional<Confirmation> confirm = {};  // empty without a registration
};

/// The accuracies of the experiments of a run on one split.
struct Evidence {
  std::vector<std::uint64_t> seeds;
  std::vector<double> values;  // one for each seed; 0 if its experiment diverged or failed
  Learned learned;
  std::int64_t failed = 0;                     // seeds whose experiment diverged or failed
  std::optional<double> in_distribution = {};  // the median of the seeds
  double floor = 0;  // the accuracy of the best trivial predictor or of a guess, if known
};

/// Evidence by run, split and metric: "flip_flop-cope-1a2b3c4d ood_sparse sequence".
using AllEvidence = std::map<std::string, Evidence>;
std::string evidence_key(const ClaimCell&, Metric);

/// Returns the evidence for a cell in the report of its run. Throws InputError if the report has several tasks or
/// encodings, or no such split.
Evidence find_evidence(const NamedReport&, const ClaimCell&, Metric);

/// Returns the published accuracy of a cell; empty if it is of another task, or if the claim has not just one
/// number for the cell.
std::optional<double> published_accuracy(const Claim&, const ClaimCell&);

struct RuleResult {
  Verdict verdict = Verdict::not_run;
  Verdict by_itself = Verdict::not_run;  // as if no other rule was judged
  std::string reason;                    // why it is neither reproduced nor contradicted
  /// The 95 % interval of the fraction of all pairs of seeds, or of all seeds, that meet the rule. It is not
  /// corrected.
  std::optional<Interval> fraction;
  // For an order rule:
  std::optional<double> difference;       // the median over all pairs of seeds
  std::optional<double> mean_difference;  // of the means, as sources state it; no verdict depends on it
  std::optional<Interval> interval;       // 95 %, of the median, for any distribution of seeds; not corrected
  std::optional<double> p_above_least, p_below_zero, p_below_least;  // one-sided, not corrected
  // For a level rule:
  std::optional<Count> reached;  // seeds
  /// The number of seeds of each encoding that would decide the verdict, if the fraction that was found stays the
  /// same; empty if the rule is decided, or if no number up to 100 would decide it.
  std::optional<int> seeds_needed;
};

struct ClaimResult {
  Verdict verdict = Verdict::not_run, by_itself = Verdict::not_run;
  std::string reason;
  std::vector<RuleResult> rules;  // in the order of the claim
};

/// Returns the result of each claim, in order. Up to kRulesOfAllClaims rules have any wrong verdict with a
/// probability of at most `alpha`, for any distributions of seeds. A rule is wrong by itself with a probability of
/// at most `alpha`.
std::vector<ClaimResult> judge_claims(std::span<const Claim>, const AllEvidence&, double alpha = kClaimAlpha);

}  // namespace posbench
