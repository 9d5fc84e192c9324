// A small board.
#pragma once
#include <vector>

#include "results/statistics/aspect_scores.h"
#include "results/statistics/board.h"
#include "tests/results/fixtures.h"

namespace posbench {

/// Three tasks, three encodings, five seeds, and trained lengths up to 10. rope has not learned task2. ood_far has
/// lengths 20 and 40: alibi keeps 40 on task0, cope on task0 and task1.
inline BoardReport golden_board() {
  BoardReport all;
  all.report = drawn_report(3, 3, 5, [](int task, int encoding, int split, int seed) {
    if (split == 0) return encoding == 0 && task == 2 ? 0.62 : 1.0;
    return 0.3 + 0.3 * encoding - 0.05 * task + 0.01 * seed;
  });
  const char* const names[] = {"rope", "alibi", "cope"};
  for (ExperimentResult& experiment : all.report.experiments) {
    const int encoding = experiment.id.encoding.back() - '0', task = experiment.id.task.back() - '0';
    experiment.id.encoding = names[encoding];
    experiment.splits[0].by_length = {{.length = 5, .token = {100, 100}, .sequence = {100, 100}},
                                      {.length = 10, .token = {100, 100}, .sequence = {100, 100}}};
    const int kept = task < encoding ? 95 : 40;
    experiment.splits[1].by_length = {{.length = 20, .token = {98, 100}, .sequence = {98, 100}},
                                      {.length = 40, .token = {kept, 100}, .sequence = {kept, 100}}};
  }
  all.costs = {{"rope", 1.1}, {"alibi", 1}, {"cope", 1.9}};
  return all;
}

/// Adds grids of lengths: rope keeps 2x on task0 in most seeds, alibi and cope 8x everywhere.
inline void add_grids(BoardReport& all) {
  for (ExperimentResult& experiment : all.report.experiments) {
    const bool is_short = experiment.id.encoding == "rope" && experiment.id.seed != 3;
    experiment.grids = {is_short ? drawn_grid("length", {1, 0.99, 0.95, 0.7, 0.4, 0.2})
                                 : drawn_grid("length", {1, 1, 0.99, 0.98, 0.97, 0.96, 0.95, 0.6})};
  }
}

inline std::vector<AspectTasks> golden_aspects() {
  return {{"recall", {"task0", "task1"}}, {"counting", {"task1", "task2"}}};
}

}  // namespace posbench
