// Rounds accuracies and other numbers for tables and pages.
#pragma once
#include <optional>
#include <string>

#include "results/document/table.h"
#include "results/json/json.h"
#include "results/statistics/statistics.h"
#include "results/statistics/verdict.h"

namespace posbench {

/// Rounds to the nearest number with `digits` digits. An accuracy below 1 that would round to 1 becomes ">0.99".
std::string accuracy_text(double accuracy, int digits = 2);

/// Returns a difference with its sign and three digits: "+0.123". A difference that rounds to zero is "+0.000".
std::string difference_text(double difference);

/// Returns a verdict with its color.
Cell verdict_cell(Verdict);
Tone tone(Verdict);

/// Returns "d" if seeds diverged and "f" if some failed: "", "d", "f" or "df".
std::string unfinished_letters(bool diverged, bool failed);

/// Returns a number with six significant digits, for programs. Empty if there is none.
std::string number_text(const std::optional<double>&);

/// Returns an end of an interval for a plot; null if there is none.
Json low_of(const std::optional<Interval>&);
Json high_of(const std::optional<Interval>&);

}  // namespace posbench
