// Makes the sections of a report's page from one source.
#pragma once
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "results/presentation/page.h"
#include "results/presentation/report_page_options.h"
#include "results/statistics/summary.h"

namespace posbench {

using Experiments = std::vector<const ExperimentResult*>;

/// The data from which all plots of a page are drawn.
struct PageSource {
  const Report& report;               // of all runs together
  const Summary& summary;             // of that report
  std::span<const NamedReport> runs;  // whose experiments, one after the other, are those of the report
  const PageOptions& options;
  std::vector<std::string> encodings;  // by their mean rank
  std::vector<std::string> tasks;      // as the report lists them; those with experiments
  std::map<std::string, std::map<std::string, Experiments>> experiments;  // by task and encoding
};

/// Returns a page with the given sections, followed by the details of a report: maps, curves, ranks, seeds.
std::string page_of(const Report&, std::string title, std::vector<std::string> notes, std::vector<Section>,
                    const std::function<std::string(const std::string& encoding)>& family);

std::vector<Section> accuracy_sections(const PageSource&);  // against length, against distance
std::vector<Section> loss_sections(
    const PageSource&);                    // loss against length, accuracy against position in the answer
Section phase_section(const PageSource&);  // of a sweep
Section learning_section(const PageSource&);
Section map_section(const PageSource&);
Section ranking_section(const PageSource&);
Section threshold_section(const PageSource&);  // where accuracy falls
Section unfinished_section(const PageSource&);
Section cost_section(const PageSource&);
Section seed_section(const PageSource&);  // a row for each experiment and split

}  // namespace posbench
