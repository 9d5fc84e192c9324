// Compares two runs (design, section 10): what changed, and is it more than the noise of the seeds?
//
// Seeds of these tasks are bimodal: an experiment solves its task or does not. So nothing is assumed about their
// distribution. For each task and encoding an exact permutation test, with the largest statistic over all splits,
// tests whether the labels before and after are exchangeable; p-values are corrected for all tests together
// (results/statistics/permutation.h). Experiments pair by seed only between two builds of one encoding, whose
// seeds correlate, and only from six pairs on: five pairs have 32 sign flips, and a p-value of 2 in 32 is too
// large. Seeds of different encodings do not correlate out of distribution, and count as two independent groups.
//
// A row is
//   better, worse  if its corrected p-value is below alpha and the difference is the threshold or more; or if every
//                  experiment finished on one side and none on the other;
//   same           if the experiments are the same to the last count; or if the 95 % interval of the difference lies
//                  within the threshold on both sides of 0, by the row's own noise and by the moderated one, and as
//                  many seeds solve the split on both sides;
//   not learned    out of distribution, where most seeds of one side have not learned the task in distribution;
//   too few seeds  with fewer than five on either side;
//   undecided      otherwise: more seeds may decide.
// An experiment that diverged or failed counts with an accuracy of 0, as in the summary. If the metric is no accuracy
// (loss, margin), it counts with the worst value of the row, or that of a uniform guess if that is worse, and the
// verdict does not depend on what was learned or solved.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "results/statistics/learned.h"
#include "results/statistics/statistics.h"
#include "results/types/metric.h"
#include "results/types/report.h"

namespace posbench {

/// The seeds on each side that a verdict needs. The smallest p-value of four seeds is 2 in 70, which is above 0.05
/// after a correction for two tests.
constexpr size_t kEnoughSeeds = 5;

struct CompareOptions {
  double alpha = 0.05;      // the probability of any better or worse in a comparison of equals
  double threshold = 0.02;  // the smallest difference of the metric that matters
  Metric metric = Metric::sequence;
  bool allow_different_budget = false;
  /// Encodings that are compared although their specs differ, of the baseline and of the candidates: {"cope",
  /// "cope:positions=16"}. An encoding of the baseline named here is compared with these encodings only.
  std::vector<std::pair<std::string, std::string>> match;
};

enum class Verdict { better, worse, same, not_learned, too_few_seeds, undecided };
std::string to_text(Verdict);  // "too few seeds"

/// One side of a row.
struct ComparisonSide {
  std::vector<std::uint64_t> seeds;
  int unfinished = 0;  // experiments that diverged or failed
  double mean = 0;
  std::vector<double> values;  // of the metric, one for each seed
  Count solved;     // seeds with a sequence accuracy of kSolved or more
  Learned learned;  // in distribution
};

struct ComparisonRow {
  size_t candidate = 0;  // its index
  std::string task, encoding, candidate_encoding, split;
  SplitKind kind = SplitKind::in_distribution;
  ComparisonSide before, after;
  bool in_pairs = false;  // a paired test; then both sides have the same seeds
  bool identical =
      false;  // each pair of experiments has the same counts on all splits, and the same learning curve
  double difference = 0;              // of the means, after - before
  std::optional<double> noise;        // moderated standard deviation of one accuracy, or of one pair's difference
  std::optional<Interval> interval;   // 95 % of the difference, with that noise
  std::optional<Interval> own;        // the same with the noise of this row alone
  std::optional<double> solved_p;     // of equal fractions of seeds that solve, by Boschloo's test, not corrected
  std::optional<double> p;            // exact, of this task and encoding alone; nothing with too few seeds
  std::optional<double> p_corrected;  // for all tests
  std::optional<double> detectable;   // the smallest difference found with probability 0.8, were the noise normal
  Verdict verdict = Verdict::undecided;
};

/// Experiments of a task and an encoding that only one side has.
struct OneSided {
  size_t candidate = 0;      // the one compared
  bool in_baseline = false;  // whether the baseline has them; otherwise the candidate
  std::string task, encoding;
  std::vector<std::uint64_t> seeds;
};

struct Comparison {
  CompareOptions options;
  std::string baseline;
  std::vector<std::string> candidates;
  std::vector<ComparisonRow> rows;  // by candidate; then as the baseline lists tasks, encodings and splits
  size_t tests = 0;                 // tasks and encodings with a p-value, which are corrected for
  std::vector<OneSided> one_sided;
  std::vector<std::string> warnings;
};

/// Throws std::runtime_error, with the reason, if the reports are not comparable: a task has another version, or a
/// split of the user other options; the budget differs (the config's sections `model` and `training`, the
/// `overrides` for a task of both, and `evaluation.layout`) and that is not allowed; or they have nothing in
/// common.
Comparison compare(const NamedReport& baseline, std::span<const NamedReport> candidates,
                   const CompareOptions& = {});

/// Whether any row is worse.
bool regression(const Comparison&);

/// `cope=cope:positions=16`, as a user writes a match: an encoding of the baseline, '=', one of a candidate. Specs
/// contain '=' too, so the known names decide at which '=' to split. Throws std::invalid_argument.
std::pair<std::string, std::string> parse_match(const std::string& text, const NamedReport& baseline,
                                                std::span<const NamedReport> candidates);

}  // namespace posbench
