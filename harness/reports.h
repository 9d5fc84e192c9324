// `posbench compare` and `posbench report`: what can be said of runs that were made.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "harness/output.h"
#include "results/compare.h"

namespace posbench {

struct CompareRequest {
  std::filesystem::path baseline;  // a report, or a run directory with one
  std::vector<std::filesystem::path> candidates;
  CompareOptions options;
  std::vector<std::string> match;  // "cope=cope:positions=16"
  bool fail_on_regression = false;
  Output output;
};

/// Prints the comparison. Returns 1 where asked to fail on a regression and there is one, otherwise 0. Throws
/// std::invalid_argument where a report cannot be read or the reports are not comparable.
int compare(const CompareRequest&);

struct ReportRequest {
  std::vector<std::filesystem::path> runs;  // reports, or run directories with one
  Output output;
};

/// Tells what is in reports: console and markdown the accuracies and ranks, csv and json every number of the
/// summary, html a page of plots. Throws std::invalid_argument where a report cannot be read, or several cannot
/// stand beside each other.
void report(const ReportRequest&);

}  // namespace posbench
