// Compares runs and decides which differences exceed the noise of the seeds.
//
// Seeds of these tasks are bimodal: an experiment solves its task or does not. So the tests assume no distribution. For each task and encoding an exact permutation test, with the largest statistic over all splits,
// tests whether the labels before and after are exchangeable; p-values are corrected for all tests together
// (results/statistics/permutation.h). Experiments pair by seed only between two builds of one encoding with a
// seed in common, whose seeds correlate, and only from six pairs on: five pairs have 32 sign flips, and a p-value of 2 in 32 is too
// large. Seeds of different encodings do not correlate out of distribution, and count as two independent groups.
//
// A row is
//   better, worse  if its corrected p-value is below alpha and the difference is the threshold or more; or if every
//                  experiment finished on one side and none on the other;
//   same           if the experiments have the same counts; or if the 95 % interval of the difference lies
//                  within the threshold on both sides of 0, by the row's own noise and by the moderated one, and as
//                  many seeds solve the split on both sides;
//   not learned    out of distribution, where most seeds of one side have not learned the task in distribution;
//   too few seeds  with fewer than five on either side;
//   undecided      otherwise: more seeds may decide.
// An experiment that diverged or failed counts with an accuracy of 0, as in the summary. If the metric is no accuracy
// (loss, margin), it counts with the worst value of the row, or that of a uniform guess if that is worse, and the
// verdict does not depend on what was learned or solved.
#pragma once
#include <span>
#include <string>
#include <utility>

#include "results/statistics/comparison.h"
#include "results/types/report.h"

namespace posbench {

/// Compares runs. Throws InputError with the reason if the reports are not comparable: a task has another version, or a
/// split of the user other options; the budget differs (the sections `model` and `training` of the config, the `overrides`
/// for a task of both, and `evaluation.layout`) and that is not allowed; or they have nothing in common.
Comparison compare(const NamedReport& baseline, std::span<const NamedReport> candidates,
                   const CompareOptions& = {});

/// Returns true if a row is worse.
bool has_regression(const Comparison&);

/// Parses a match, `cope=cope:positions=16`: an encoding of the baseline, '=', an encoding of a candidate. Specs
/// contain '=' too, so the known names decide at which '=' to split. Throws InputError.
std::pair<std::string, std::string> parse_match(const std::string& text, const NamedReport& baseline,
                                                std::span<const NamedReport> candidates);

}  // namespace posbench
