// Sorts the encodings on one task into tiers. Tier 1 has the best encoding and all that do not differ
// significantly from it. The next tier is formed in the same way from the remaining encodings.
//
// An exact permutation test compares the best of what is left with each of the others. The p-values are corrected
// by Benjamini and Hochberg's method (1995, J. R. Stat. Soc. B 57(1)): of the encodings that are put below a tier,
// about one in twenty belongs in it. Holm's correction could not tell more than six encodings from the best: the
// smallest p-value of five seeds is 2 in 252. As the best is chosen by the values that are tested, a permutation
// test must find first that the remaining encodings differ at all (5 %). Means that are less than 0.02 apart share
// a tier, however small the p-value is.
#pragma once
#include <optional>
#include <span>
#include <vector>

namespace posbench {

constexpr double kTierDifference = 0.02;  // the smallest that matters, as in compare

/// Returns the tier of each encoding, from 1, given values[encoding][seed]; empty with fewer than five seeds
/// (kEnoughSeeds), which are too few for any test.
std::vector<std::optional<int>> find_tiers(std::span<const std::vector<double>> values);

}  // namespace posbench
