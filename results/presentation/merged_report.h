// Several runs on one page or in one table.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "results/types/report.h"

namespace posbench {

struct MergedReport {
  Report report;                      // of all; its config and context are empty
  std::vector<std::string> warnings;  // what a reader should know of how the runs differ
};

/// Puts the experiments of all runs into one report. An encoding that more than one run has is named after its run
/// too: "cope (runs/before)". Throws std::runtime_error where a task has another version or other splits in two
/// runs, so that their accuracies do not stand beside each other.
MergedReport merge_reports(std::span<const NamedReport>);

}  // namespace posbench
