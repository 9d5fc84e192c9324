// Tiers of encodings on one task: the best, with all that seeds cannot tell from it; the best of the rest, likewise;
// and so on.
//
// An exact permutation test compares the best of what is left with each of the others. The p-values are corrected by
// Benjamini and Hochberg's method (1995, J. R. Stat. Soc. B 57(1)): of the encodings that are put below a tier, about
// one in twenty belongs in it. Holm's correction could not tell more than six encodings from the best: the smallest
// p-value of five seeds is 2 in 252. As the best is chosen by the values that are tested, a permutation test must find
// first that the encodings that are left differ at all (5 %). Means that are less than 0.02 apart stand together,
// however sure the difference is.
#pragma once
#include <optional>
#include <span>
#include <vector>

namespace posbench {

constexpr double kTierDifference = 0.02;  // the smallest that matters, as in compare

/// values[encoding][seed]. For each encoding its tier, from 1; empty with fewer than five seeds (kEnoughSeeds), which are
/// too few for any test.
std::vector<std::optional<int>> find_tiers(std::span<const std::vector<double>> values);

}  // namespace posbench
