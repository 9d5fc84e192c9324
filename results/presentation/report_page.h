// Makes plots of the results of a report.
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "results/document/page.h"
#include "results/presentation/merged_report.h"
#include "results/statistics/summary.h"
#include "results/types/report.h"

namespace posbench {

struct PageOptions {
  /// Returns the family of an encoding, given its spec.
  std::function<std::string(const std::string& encoding)> family = {};
  /// Returns the number of the color of an encoding, given its spec. Pages use the same color for an encoding.
  std::function<int(const std::string& encoding)> style = {};
};

constexpr std::size_t kMaxPageExperiments = 15'000;  // about 15 MB

/// Returns the page of one run, or of several next to each other, without its tables. If it would have more than
/// `most` experiments, it leaves out the encodings with the worst mean ranks, and a note states that.
Page make_report_page(const MergedReport&, const Summary&, std::span<const NamedReport>, const PageOptions&,
                      std::size_t most = kMaxPageExperiments);

enum class AddedSections {
  board,  // maps, curves and ranks
  task    // accuracy against length and distance, and learning curves
};

/// Adds plots of a report to a page, and its names to what the reader can select.
void add_report_plots(const Report&, const PageOptions&, AddedSections, Page&);

}  // namespace posbench
