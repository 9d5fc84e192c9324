// `posbench compare` and `posbench report`: what can be said of runs that were made.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "results/compare.h"

namespace posbench {

enum class Format { console, markdown, csv, json, html };

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

struct ReportRequest {
  std::vector<std::filesystem::path> runs;      // reports, or run directories with one
  std::optional<std::filesystem::path> output;  // instead of stdout
  std::optional<Format> format;                 // without one: as the output's name ends, otherwise console
  bool color = false;
};

/// Tells what is in reports: console and markdown the accuracies and ranks, csv and json every number of the
/// summary, html a page of plots. Throws std::invalid_argument where a report cannot be read, or several cannot
/// stand beside each other.
void report(const ReportRequest&);

}  // namespace posbench
