// Compares the published differences of claims with those that were found.
#pragma once
#include <cstddef>
#include <optional>
#include <span>

#include "results/statistics/claims.h"

namespace posbench {

/// The order rules whose difference the source states and the runs of comparable claims have measured. The found
/// differences are those of means, as the published ones are.
struct PublishedContrasts {
  size_t contrasts = 0;
  size_t same_sign = 0;                    // the found difference is positive, as the published ones are
  size_t similar_size = 0;                 // it is between half and twice the published one
  std::optional<double> rank_correlation;  // Spearman's; empty with fewer than three contrasts
  /// Its 95 % interval by a bootstrap of the contrasts. It is too narrow as far as contrasts share runs.
  std::optional<Interval> interval;
};

PublishedContrasts compare_with_published(std::span<const Claim>, std::span<const ClaimResult>);

}  // namespace posbench
