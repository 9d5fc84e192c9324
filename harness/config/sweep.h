// Expands a sweep: the selected tasks and encodings at every point of the grid.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "harness/config/config.h"
#include "results/types/experiment_result.h"

namespace posbench {

/// A spec of the grid.
struct SweptSpec {
  std::string spec;  // in canonical form; of a task with its settings
  std::string base;  // the same without its swept values
  Settings values;   // its swept values
};

/// Returns every task with every combination of the swept task options and settings, and every encoding with every
/// combination of its swept options. Without a sweep they are those of the configuration. Throws InputError if a
/// task or an encoding does not have an option or a value, or if two points are the same.
std::vector<SweptSpec> swept_tasks(const RunConfig&);
std::vector<SweptSpec> swept_encodings(const RunConfig&);

/// Returns the swept values of a task and an encoding, in the order of the sweep; nothing without a sweep.
std::optional<Swept> swept_values(const RunConfig&, const SweptSpec& task, const SweptSpec& encoding);

}  // namespace posbench
