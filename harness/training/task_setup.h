// A task as a run uses it: built for every split, measured, and ready before anything is trained.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "harness/training/options.h"
#include "results/types/task_baseline.h"
#include "tasks/registry.h"

namespace posbench {

struct TaskSetup {
  std::string spec;
  const TaskInfo* info = nullptr;
  ExperimentOptions options;                 // as they hold for this task
  std::vector<TaskInfo::Split> own_splits;   // that the user added or redefined
  std::vector<TaskInfo::Split> splits;       // in_distribution first; the user's last
  std::vector<std::unique_ptr<Task>> tasks;  // one for each split
  ModelShape shape;                          // with the vocabulary and the lengths of this task

  const Task& trained() const { return *tasks.front(); }
};

/// `own_splits` come after those of the task, or replace one of the same name. Throws std::invalid_argument where
/// the task, its options, a split or the model's attention do not go together.
TaskSetup make_task_setup(const ExperimentOptions&, const std::string& spec,
                          std::vector<TaskInfo::Split> own_splits = {});

SplitKind kind(const TaskInfo::Split&);

/// What the best predictors that ignore most of the question reach on each split, measured: always the same
/// answer; the answer that goes with the last token read; with the place in the answer, for each length; with the
/// set of tokens in the question. Each learns the most frequent answer on one half of the samples and is scored on
/// the other.
constexpr int kBaselineSamples = 4000;
TaskBaseline measure_baselines(const TaskSetup&, int samples = kBaselineSamples);

}  // namespace posbench
