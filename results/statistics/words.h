// Defines the words that the verdicts of comparisons and of claims and the standings on the board share.
#pragma once

namespace posbench {

/// Most seeds have not learned the task in distribution (results/statistics/learned.h).
inline constexpr const char* kNotLearned = "not learned";
/// No test can show a difference.
inline constexpr const char* kTooFewSeeds = "too few seeds";
/// More seeds may decide.
inline constexpr const char* kInconclusive = "inconclusive";

}  // namespace posbench
