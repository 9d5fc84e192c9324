// Merges several runs for one page or one table.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "results/types/report.h"

namespace posbench {

struct MergedReport {
  Report report;                      // of all; its config and context are empty
  std::vector<std::string> warnings;  // differences between the runs
};

/// Merges the experiments of all runs into one report. An encoding that occurs in more than one run is named with
/// its run: "cope (runs/before)". Throws InputError if a task has another version or other splits in two
/// runs, since their accuracies are then not comparable.
MergedReport merge_reports(std::span<const NamedReport>);

}  // namespace posbench
