#include "results/statistics/kept_length.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/statistics/effective_length.h"
#include "results/statistics/learned.h"
#include "results/statistics/statistics.h"

namespace posbench {
namespace {

constexpr double kRounding = 1e-9;  // of a multiple

/// Returns the greatest length of the splits in distribution; 0 if the report has no accuracies by length.
int trained_length(const ExperimentResult& experiment) {
  int greatest = 0;
  for (const SplitResult& split : experiment.splits) {
    if (split.kind != SplitKind::in_distribution) continue;
    for (const LengthResult& length : split.by_length) greatest = std::max(greatest, length.length);
  }
  return greatest;
}

/// Returns the sequences of a split that have these lengths.
Count count_long(const SplitResult& split, double least) {
  Count count;
  for (const LengthResult& length : split.by_length) {
    if (length.length >= least) count += length.sequence;
  }
  return count;
}

/// Returns the result by the splits, which are those that the first finished experiment has.
std::optional<KeptLength> by_splits(std::span<const ExperimentResult* const> experiments, double multiple) {
  KeptLength found;
  std::vector<double> ascending;  // a mean over splits for each seed; 0 if it did not finish
  for (const ExperimentResult* experiment : experiments) {
    std::vector<double> accuracies;
    std::vector<std::string> splits;
    const double least = multiple * trained_length(*experiment) - kRounding;
    for (const SplitResult& split : experiment->splits) {
      if (split.kind != SplitKind::out_of_distribution || least <= 0) continue;
      const Count count = count_long(split, least);
      if (count.total == 0) continue;
      splits.push_back(split.name);
      accuracies.push_back(accuracy(count));
    }
    ascending.push_back(accuracies.empty() ? 0 : mean(accuracies));
    if (found.splits.empty()) found.splits = splits;
  }
  if (found.splits.empty()) return std::nullopt;
  std::ranges::sort(ascending);
  found.is_kept = ascending[ascending.size() / 2] >= kKept;
  return found;
}

}  // namespace

std::optional<KeptLength> find_kept_length(std::span<const ExperimentResult* const> experiments, double multiple,
                                           LengthBasis basis) {
  if (basis == LengthBasis::splits) return by_splits(experiments, multiple);
  const char* option = basis == LengthBasis::far_grid ? kFarGrid : "length";
  const std::optional<EffectiveLength> effective = find_effective_length(experiments, option);
  if (!effective) return std::nullopt;
  // The seeds that decide were tested up to there, or failed before.
  const bool is_tested =
      effective->tested_to >= multiple - kRounding || effective->multiple < effective->tested_to - kRounding;
  if (!is_tested) return std::nullopt;
  return KeptLength{.splits = {}, .is_kept = effective->multiple >= multiple - kRounding};
}

}  // namespace posbench
