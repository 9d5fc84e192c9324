// What the page of a report shows beside the report.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "results/types/experiment_result.h"

namespace posbench {

struct PageOptions {
  /// The family of an encoding, given its spec.
  std::function<std::string(const std::string& encoding)> family;
  /// What `posbench inspect` saved, by the name of the run and the experiment: links, relative to the page.
  std::map<std::pair<std::string, ExperimentId>, std::string> inspections;
};

}  // namespace posbench
