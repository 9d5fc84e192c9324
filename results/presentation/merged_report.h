// Merges several runs for one page or one table.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "results/types/report.h"

namespace posbench {

struct MergedReport {
  std::unique_ptr<const Report>
      joined;                         // of several runs, without config, context and times; null for a single run
  const Report& report;               // the joined one, or that of the single run
  std::vector<std::string> warnings;  // differences between the runs
};

/// Merges the experiments of all runs into one report. An encoding that occurs in more than one run is named with
/// its run: "cope (runs/before)". Throws InputError if a task has another version or other splits in two runs,
/// since their accuracies are then not comparable. The report of a single run is not copied and must outlive the
/// result.
MergedReport merge_reports(std::span<const NamedReport>);

}  // namespace posbench
