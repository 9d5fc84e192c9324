// A report as a page.
#pragma once
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "results/presentation/merged_report.h"

namespace posbench {

/// What a page shows beside its reports.
struct PageOptions {
  /// The family of an encoding, given its spec.
  std::function<std::string(const std::string& encoding)> family;
  /// What `posbench inspect` saved, by the name of the run and the experiment: links, relative to the page.
  std::map<std::pair<std::string, ExperimentId>, std::string> inspections;
};

/// The page of one run, or of several beside each other, as one HTML file. Throws std::runtime_error where they
/// cannot stand beside each other.
std::string report_page(std::span<const NamedReport>, const PageOptions& = {});

/// Leaves out who made a run and where: host, path and command.
void make_anonymous(Report&);

}  // namespace posbench
