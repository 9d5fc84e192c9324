// Expands a sweep: the selected tasks and encodings at every point of the grid.
#pragma once
#include <optional>
#include <vector>

#include "harness/config/config.h"
#include "results/types/experiment_result.h"

namespace posbench {

/// A task or an encoding of the grid.
template <class AnySpec>
struct SweptSpec {
  AnySpec spec;
  AnySpec base;     // the same without its swept values
  Settings values;  // its swept values
};
using SweptTask = SweptSpec<TaskSpec>;
using SweptEncoding = SweptSpec<Spec>;

/// Returns every task with every combination of the swept task options and settings, and every encoding with every
/// combination of its swept options. Without a sweep they are those of the configuration. Throws InputError if a
/// task or an encoding does not have an option or a value, or if two points are the same.
std::vector<SweptTask> swept_tasks(const RunConfig&);
std::vector<SweptEncoding> swept_encodings(const RunConfig&);

/// Returns the swept values of a task and an encoding, in the order of the sweep; nothing without a sweep.
std::optional<Swept> swept_values(const RunConfig&, const SweptTask&, const SweptEncoding&);

}  // namespace posbench
