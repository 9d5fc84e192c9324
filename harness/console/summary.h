// Prints the tables of a finished run.
#pragma once
#include <filesystem>

#include "results/statistics/summary.h"

namespace posbench {

/// Prints the accuracies, their notes, and the experiments that diverged or failed. Returns 1 if there are any of
/// those, otherwise 0, and prints nothing if it is quiet.
int print_accuracies(const SummarizedReport&, bool is_quiet = false);

/// Prints the accuracies of a run and the paths of its report and page. Returns the same.
int print_summary(const SummarizedReport&, const std::filesystem::path& directory);

}  // namespace posbench
