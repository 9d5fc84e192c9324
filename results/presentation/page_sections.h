// Makes the sections of a report's page from one source.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "results/document/page.h"
#include "results/statistics/summary.h"
#include "results/types/report.h"

namespace posbench {

using Experiments = std::vector<const ExperimentResult*>;

/// The data from which all plots of a page are drawn.
struct PageSource {
  const Report& report;                // all runs merged
  const Summary& summary;              // of that report
  std::vector<std::string> encodings;  // by their mean rank
  std::vector<std::string> tasks;      // as the report lists them; those with experiments
  std::map<std::string, std::map<std::string, Experiments>> experiments;  // by task and encoding
};

Section multiple_section(const PageSource&);                // accuracy against the multiples of the grids
std::vector<Section> accuracy_sections(const PageSource&);  // against length, against distance
std::vector<Section> loss_sections(
    const PageSource&);                    // loss against length, accuracy against position in the answer
Section phase_section(const PageSource&);  // of a sweep
Section learning_section(const PageSource&);
Section map_section(const PageSource&);
Section ranking_section(const PageSource&);
Section effective_length_section(const PageSource&);

}  // namespace posbench
