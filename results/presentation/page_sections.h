// Makes the sections of a report's page from one source.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "results/document/page.h"
#include "results/statistics/summary.h"
#include "results/types/report.h"

namespace posbench {

/// The data from which all plots of a page are drawn.
struct PageSource {
  const Report& report;                // all runs merged
  const Summary& summary;              // of that report
  std::vector<std::string> encodings;  // by their mean rank
  std::vector<std::string> tasks;      // as the report lists them; those with experiments
  std::map<std::string, std::map<std::string, Experiments>> experiments;  // by task and encoding
};

Section multiple_section(const PageSource&);  // accuracy against the multiples of the grids
Section length_section(const PageSource&);    // accuracy against length
Section distance_section(const PageSource&);  // accuracy against distance
Section loss_section(const PageSource&);      // loss against length
Section position_section(const PageSource&);  // accuracy against the position in the answer
Section phase_section(const PageSource&);     // of a sweep
Section learning_section(const PageSource&);
Section map_section(const PageSource&);
Section ranking_section(const PageSource&);
Section effective_length_section(const PageSource&);

}  // namespace posbench
