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
  /// Links to the pages that `posbench inspect` saved, relative to the page, by the name of the run and the experiment.
  std::map<std::pair<std::string, ExperimentId>, std::string> inspections;
};

}  // namespace posbench
