// Two runs side by side (design, section 10): what changed, and whether it is more than the noise of the seeds.
//
// Experiments pair by task, encoding and seed: under one seed both sides trained and were tested on the same
// samples. For every task, encoding and split, the mean difference over the pairs is tested by Student's paired
// t-test, corrected by Holm for all the rows that are shown together. A row is
//   better, worse  if the corrected p-value is below alpha and the difference is the threshold or more; or if
//   every
//                  experiment finished on one side and none on the other;
//   same           if the 95 % interval of the difference lies within the threshold on both sides of 0; or if each
//   pair
//                  has one and the same accuracy;
//   undecided      otherwise: more seeds would tell.
// An experiment that diverged or failed counts with an accuracy of 0, as in the summary.
//
// The t-test believes in normal differences. Where some seeds solve a task and others do not, they are not: three
// seeds that solve it before and not after, which happens by chance, have three equal differences and so no noise
// at all. So a row is tested with the noise of its task, the pooled standard deviation of all its rows, where its
// own is smaller.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "results/types/report.h"
#include "results/statistics/statistics.h"

namespace posbench {

struct CompareOptions {
  double alpha = 0.05;      // the chance of any better or worse in a comparison of equals
  double threshold = 0.02;  // the smallest difference of accuracy that matters
  Metric metric = Metric::sequence;
  bool allow_different_budget = false;
  /// Encodings that pair although their specs differ, of the baseline and of the candidates: {"cope",
  /// "cope:positions=16"}. An encoding of the baseline named here pairs as it says here only.
  std::vector<std::pair<std::string, std::string>> match;
};

enum class Verdict { better, worse, same, undecided };
std::string to_text(Verdict);

struct ComparisonRow {
  size_t candidate = 0;  // its index
  std::string task, encoding, candidate_encoding, split;
  SplitKind kind = SplitKind::in_distribution;
  std::vector<std::uint64_t> seeds;                       // of the pairs
  int baseline_unfinished = 0, candidate_unfinished = 0;  // diverged or failed among the pairs
  double baseline_mean = 0, candidate_mean = 0;
  PairedTest test;                    // candidate - baseline, of this row alone
  std::optional<double> noise;        // the standard deviation of one difference that it is tested with
  bool equal = false;                 // each pair has one and the same accuracy
  std::optional<double> p_corrected;  // with that noise, and by Holm
  std::optional<double> detectable;   // the smallest difference found with probability 0.8 at alpha / rows tested
  Verdict verdict = Verdict::undecided;
};

/// Experiments of a task and an encoding that have no partner.
struct OneSided {
  size_t candidate = 0;      // the one compared
  bool in_baseline = false;  // and not in the candidate; or the reverse
  std::string task, encoding;
  std::vector<std::uint64_t> seeds;
};

struct Comparison {
  CompareOptions options;
  std::string baseline;
  std::vector<std::string> candidates;
  std::vector<ComparisonRow> rows;  // by candidate; then as the baseline lists tasks, encodings and splits
  std::vector<OneSided> one_sided;
  std::vector<std::string> warnings;
};

/// Throws std::runtime_error, naming why, where the reports are not comparable: a task has another version, or a
/// split of the user's own another meaning; the budget differs (the config's sections `model` and `training`, what
/// `overrides` says for a task of both, and `evaluation.layout`) and that is not allowed; or nothing pairs.
Comparison compare(const NamedReport& baseline, std::span<const NamedReport> candidates,
                   const CompareOptions& = {});

/// Is any row worse?
bool regression(const Comparison&);

/// `cope=cope:positions=16`, as a user writes a match: an encoding of the baseline, '=', one of a candidate. Specs
/// have
/// '=' in them too, so it is the known names that tell where to cut. Throws std::invalid_argument.
std::pair<std::string, std::string> parse_match(const std::string& text, const NamedReport& baseline,
                                                std::span<const NamedReport> candidates);

}  // namespace posbench
