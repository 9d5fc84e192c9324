// Builds a task at multiples of its greatest trained length and distance. These tests are the grid of a task; the
// grid of a sweep over settings is in harness/config/sweep.h.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/spec.h"
#include "harness/training/options.h"
#include "tasks/task.h"

namespace posbench {

/// A task at multiples of the greatest trained value of one of its options.
struct TaskGrid {
  struct Point {
    double multiple = 1;
    int value = 0;  // of the option in every sample
    std::unique_ptr<Task> task;
  };
  std::string option;         // "length", "distance" or kFarGrid
  std::vector<Point> points;  // ascending, from 1 on; none for a far grid that is the same as that by length
  /// The reason why the task has no larger multiple; empty if it has the largest of kGridMultiples.
  std::string limit;
};

/// Returns the grids of a task that is trained with the options of `trained`: by length, with far evidence if the
/// task states TaskInfo::far and grid_rules is 2, and by distance if the task has an option of this name. A task
/// whose length is fixed has none. A multiple is rounded as tasks/splits.h describes it; of two multiples that are
/// rounded to one value the larger is kept. A multiple that contradicts other options is missing.
std::vector<TaskGrid> make_task_grids(const Spec& trained, const ExperimentOptions&, int vocabulary);

/// Returns "length=1.5x".
std::string point_name(const std::string& option, double multiple);

/// Returns the number of test sequences at a multiple with grid_rules 1: `at_trained` divided by it, but at least
/// 64, or `at_trained` if that is smaller.
int grid_sequences(int at_trained, double multiple);

/// Returns the largest number of test sequences at a multiple. With grid_rules 2 a test ends sooner, after a
/// multiple of kGridStep sequences whose accuracy is_decided().
int most_sequences(const EvaluationOptions&, double multiple);
inline constexpr int kGridStep = 64;

/// Returns the number of test sequences at a multiple that a typical model takes.
int expected_sequences(const EvaluationOptions&, double multiple);

}  // namespace posbench
