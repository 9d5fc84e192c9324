// `posbench compare` and `posbench report`: what can be said of runs that were made.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "results/compare.h"

namespace posbench {

enum class Format { console, markdown, csv, json };

struct CompareRequest {
  std::filesystem::path baseline;  // a report, or a run directory with one
  std::vector<std::filesystem::path> candidates;
  CompareOptions options;
  std::vector<std::string> match;  // "cope=cope:positions=16"
  Format format = Format::console;
  bool fail_on_regression = false, color = false;
};

/// Prints the comparison. Returns 1 where asked to fail on a regression and there is one, otherwise 0. Throws
/// std::invalid_argument where a report cannot be read or the reports are not comparable.
int compare(const CompareRequest&);

/// Prints the tables of a report: console and markdown the accuracies and ranks, csv every number.
void report(const std::filesystem::path&, Format, bool color);

}  // namespace posbench
