// Makes the sections of a report's page from one source.
#pragma once
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "results/document/page.h"
#include "results/presentation/report_page_options.h"
#include "results/statistics/summary.h"

namespace posbench {

using Experiments = std::vector<const ExperimentResult*>;

/// The data from which all plots of a page are drawn.
struct PageSource {
  const Report& report;               // all runs merged
  const Summary& summary;             // of that report
  std::span<const NamedReport> runs;  // whose experiments, one after the other, are those of the report
  const PageOptions& options;
  std::vector<std::string> encodings;  // by their mean rank
  std::vector<std::string> tasks;      // as the report lists them; those with experiments
  std::map<std::string, std::map<std::string, Experiments>> experiments;  // by task and encoding
};

/// Completes a page: adds the given sections, then the maps, curves, ranks and seeds of the report.
std::string make_page(const Report&, Page, std::vector<Section>, const PageOptions&);

std::vector<Section> accuracy_sections(const PageSource&);  // against length, against distance
std::vector<Section> loss_sections(
    const PageSource&);                     // loss against length, accuracy against position in the answer
Section result_section(const PageSource&);  // the table of the terminal
Section phase_section(const PageSource&);   // of a sweep
Section learning_section(const PageSource&);
Section map_section(const PageSource&);
Section ranking_section(const PageSource&);
Section effective_length_section(const PageSource&);
Section unfinished_section(const PageSource&);
Section cost_section(const PageSource&);
Section seed_section(const PageSource&);  // a row for each experiment and split

}  // namespace posbench
