// Comparisons of reports for the tests.
#pragma once
#include <string>

#include "results/statistics/compare.h"
#include "results/types/report.h"

namespace posbench {

/// Compares a report named after.json with a baseline named before.json.
Comparison compare_one(const Report& baseline, const Report& candidate, const CompareOptions& options = {});

/// Returns a report of one task. All experiments have this sequence accuracy on every split.
Report constant_report(int encodings, int seeds, double accuracy);

/// Gives the experiments of one encoding another name.
void rename_encoding(Report& report, const std::string& from, const std::string& to);

}  // namespace posbench
