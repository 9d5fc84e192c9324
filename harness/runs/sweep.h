// The tasks and encodings of a sweep: what a configuration selects, at every point of its grid.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "harness/runs/config.h"
#include "results/types/experiment_result.h"

namespace posbench {

/// A spec of the grid.
struct SweptSpec {
  std::string spec;  // in canonical form; of a task with its settings
  std::string base;  // the same without what is swept
  Settings values;   // of what is swept here
};

/// Every task at every point of what is swept of it and of the settings; every encoding at every point of what is swept of
/// it. Without a sweep, those of the configuration. Throws std::invalid_argument if a task or an encoding does not have
/// an option or a value, or two points are the same.
std::vector<SweptSpec> swept_tasks(const Config&);
std::vector<SweptSpec> swept_encodings(const Config&);

/// The values of a task and an encoding, in the order of the sweep. Empty without one.
std::optional<Swept> swept_values(const Config&, const SweptSpec& task, const SweptSpec& encoding);

}  // namespace posbench
