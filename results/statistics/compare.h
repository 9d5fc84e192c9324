// Compares runs and decides which differences exceed the noise of the seeds.
//
// Results of these tasks are bimodal: an experiment solves its task or does not. So the tests assume no
// distribution. For each task and encoding, an exact permutation test, with the largest statistic over all splits,
// tests whether the two runs differ. P-values are corrected for all tests together
// (results/statistics/permutation.h). Experiments are paired by seed only between two builds of one encoding,
// whose results correlate by seed, and only from six pairs on: five pairs have 32 sign flips, and a p-value of 2
// in 32 is too large. Results of different encodings do not correlate by seed out of distribution, and count as
// two independent groups.
//
// The first rule that applies decides the verdict of a row:
//   better, worse  every experiment finished on one side and none on the other;
//   same           both sides have the same counts, learning curves and losses;
//   not learned    out of distribution, where most seeds of one side have not learned the task in distribution;
//   too few seeds  fewer than five on either side;
//   better, worse  the corrected p-value is alpha or less, and the difference is the threshold or more;
//   same           the 95 % interval of the difference lies within the threshold on both sides of 0, with the
//                  variance of the row and with the moderated one (moderated_variance.h), and the same fraction of
//                  seeds solves the split on both sides;
//   inconclusive   otherwise: more seeds may decide.
// An experiment that diverged or failed counts with an accuracy and an effective length of 0, as in the summary.
// In a comparison by loss or margin it has the worst value of the row, or that of a uniform guess if that is
// worse. Such a comparison does not apply `not learned` and ignores the solved seeds.
#pragma once
#include <span>
#include <string>
#include <utility>

#include "results/statistics/comparison.h"
#include "results/types/report.h"

namespace posbench {

/// Compares runs. Throws InputError with the reason if the reports are not comparable: a task has another version,
/// a split of the user has other options, the reports have nothing in common, or the budget differs and that is
/// not allowed. The budget is the sections `model`, `training` and `match_compute` of the config, the `overrides`
/// for a task of both, `evaluation.layout` and `evaluation.loops`, and `extend.length` if both have
/// `extend.steps`.
Comparison compare(const NamedReport& baseline, std::span<const NamedReport> candidates,
                   const CompareOptions& = {});

/// Returns true if a row is worse.
bool has_regression(const Comparison&);

/// Parses a match, `cope=cope:positions=16`: an encoding of the baseline, '=', an encoding of a candidate. Specs
/// contain '=' too, so the known names decide at which '=' to split. Throws InputError.
std::pair<std::string, std::string> parse_match(const std::string& text, const NamedReport& baseline,
                                                std::span<const NamedReport> candidates);

}  // namespace posbench
