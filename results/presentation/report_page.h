// Writes a report as a page.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "results/document/page.h"
#include "results/presentation/merged_report.h"
#include "results/presentation/report_page_options.h"
#include "results/statistics/summary.h"

namespace posbench {

constexpr std::size_t kMaxPage = 15'000'000;  // bytes

/// Returns one HTML file for one run, or for several next to each other. If it would have more than `max_size`
/// bytes, it leaves out single seeds, then the encodings with the worst mean ranks except for one, and a note
/// states that. Throws InputError if the runs cannot be shown together.
std::string make_report_page(std::span<const NamedReport>, const PageOptions& = {},
                             std::size_t max_size = kMaxPage);

/// Returns the page of a run, whose summary is known.
std::string make_report_page(const NamedReport&, const Summary&, const PageOptions&);

/// Returns the same page, given the merged runs and their summary.
std::string make_report_page(const MergedReport&, const Summary&, std::span<const NamedReport>, const PageOptions&,
                             std::size_t max_size = kMaxPage);

/// Returns the page of a site for a report, with all its results.
std::string make_report_page(const NamedReport&, const PageOptions&, const SitePart&);

/// The sections that make_page adds to those of its argument.
enum class AddedSections {
  board,  // maps, curves, ranks and seeds
  task    // accuracy against length and distance, and learning curves
};

/// Completes a page of a site with sections of a report.
std::string make_page(const Report&, Page, std::vector<Section>, const PageOptions&, AddedSections,
                      const SitePart&);

/// Removes the hosts and commands of a run, and of the shards of a merged one.
void make_anonymous(Report&);

}  // namespace posbench
