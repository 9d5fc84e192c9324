// What `run` and `merge` print at their end.
#pragma once
#include <filesystem>

#include "results/presentation/table.h"
#include "results/types/report.h"

namespace posbench {

/// To standard output, as wide as its terminal.
void print(const Table&, bool color);

/// Prints the tables of a finished run and where its report is. Returns 0, or 1 where an experiment diverged or
/// failed.
int print_outcome(const Report&, const std::filesystem::path& directory, bool color);

}  // namespace posbench
