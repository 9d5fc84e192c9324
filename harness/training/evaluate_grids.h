// Tests a trained model at multiples of the trained length and distance.
#pragma once
#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/spec.h"
#include "base/thread_pool.h"
#include "harness/training/make_model.h"
#include "harness/training/task_setup.h"
#include "results/types/experiment_result.h"

namespace posbench {

/// A trained model, and the experiment that it belongs to. The members must outlive it.
struct TestedModel {
  const TaskSetup& task;
  const Spec& encoding;
  std::uint64_t seed;
  const Model& model;
  const Parameters& parameters;
};

/// Returns the results of each grid of the task; nothing if a stop was requested. A grid ends after two multiples
/// in a row below kGridFloor (with grid_rules 2 not before kGridLeast), where the task or the encoding does not
/// support longer sequences, or where the attention scores of all layers and heads would take more than half a
/// GiB. The model is not changed: tables whose size depends on the longest sequence of the splits stay as they
/// are.
std::optional<std::vector<GridResult>> evaluate_grids(const TestedModel&, const std::stop_token&,
                                                      ThreadPool& = calling_thread());

/// Returns true if the grid ends after the points of the result: it has no larger multiple, or the last two
/// failed.
bool is_last(const TaskGrid&, const GridResult&, const EvaluationOptions&);

/// Adds the results by length as those of a far grid without points: the evidence is far in training, too.
void copy_near_grid(const TaskGrid& far, std::vector<GridResult>&);

/// Sets the accuracy as the reason of the end, if it is too low for larger multiples to count.
GridResult ended(GridResult);

}  // namespace posbench
