// Defines the additions to the page of a report.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "results/types/experiment_result.h"

namespace posbench {

struct PageOptions {
  /// Returns the family of an encoding, given its spec.
  std::function<std::string(const std::string& encoding)> family;
  /// Returns the number of the color of an encoding, given its spec. Pages use the same color for an encoding.
  std::function<int(const std::string& encoding)> style;
  /// Links to the pages that `posbench inspect` saved, relative to the page, by the name of the run and the
  /// experiment.
  std::map<std::pair<std::string, ExperimentId>, std::string> inspections;
};

}  // namespace posbench
