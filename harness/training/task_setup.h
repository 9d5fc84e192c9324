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

/// A task's spec, in which options with a dot are settings for its experiments: "flip_flop:length=64,model.width=32".
struct TaskSpec {
  Spec task;  // without the settings
  Settings settings;

  /// In canonical form. Throws std::invalid_argument if the task, an option, a setting or a value is unknown.
  static TaskSpec parse(const std::string&);
  std::string text() const;
};

struct TaskSetup {
  std::string spec;  // with its settings
  const TaskInfo* info = nullptr;
  ExperimentOptions options;                 // with the overrides and the settings of this task
  std::vector<TaskInfo::Split> own_splits;   // added or redefined by the user
  std::vector<TaskInfo::Split> splits;       // in_distribution first; those of the user last; no value is relative
  std::vector<std::string> left_out;         // splits of the task that what is trained leaves no room for: "NAME: why"
  std::vector<std::unique_ptr<Task>> tasks;  // one for each split
  std::unique_ptr<Task> extended;            // of further training, if extend.length is set
  ModelShape shape;                          // with the vocabulary and the lengths of this task

  const Task& trained() const { return *tasks.front(); }
  const Task& trained_further() const { return extended ? *extended : trained(); }
};

/// `own_splits` are appended to those of the task, or replace one of the same name; one without options leaves that one
/// out. Throws std::invalid_argument if the task, its options, a split and the model's attention are not compatible, or
/// a split is the training distribution.
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
