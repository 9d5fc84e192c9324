// A task as a run uses it: built and measured for every split before training starts.
#pragma once
#include <functional>
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
  ExperimentOptions options;                 // with the overrides for this task
  std::vector<TaskInfo::Split> own_splits;   // added or redefined by the user
  std::vector<TaskInfo::Split> splits;       // in_distribution first; those of the user last
  std::vector<std::unique_ptr<Task>> tasks;  // one for each split
  ModelShape shape;                          // with the vocabulary and the lengths of this task

  const Task& trained() const { return *tasks.front(); }
};

/// `own_splits` are appended to those of the task, or replace one of the same name. Throws std::invalid_argument
/// if the task, its options, a split and the model's attention are not compatible.
TaskSetup make_task_setup(const ExperimentOptions&, const std::string& spec,
                          std::vector<TaskInfo::Split> own_splits = {});

SplitKind kind(const TaskInfo::Split&);

/// The index of a split among those of the task. Throws std::invalid_argument if it has none of this name.
size_t find_split(const TaskSetup&, const std::string& name);

/// Measures the trivial baselines of each split: the accuracy of predictors that ignore most of the question. They
/// predict from nothing (constant), from the last two tokens read (last_token), from the position in the sequence
/// and the length (position), or from the multiset of tokens read before (bag_of_tokens). Each learns the most
/// frequent answer for each key on one half of the samples and is scored on the other half. If `go_on` is given
/// and returns false, the remaining measurements are left out.
constexpr int kBaselineSamples = 4000;
TaskBaseline measure_baselines(const TaskSetup&, int samples = kBaselineSamples,
                               const std::function<bool()>& go_on = {});

}  // namespace posbench
