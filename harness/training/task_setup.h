// Sets up a task as a run uses it: built for every split before training starts.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/training/options.h"
#include "harness/training/samples.h"
#include "harness/training/task_grid.h"
#include "results/types/experiment_result.h"
#include "tasks/registry.h"

namespace posbench {

/// A task's spec, in which options with a dot are settings for its experiments:
/// "flip_flop:length=64,model.width=32".
struct TaskSpec {
  Spec task;  // without the settings
  Settings settings;

  /// Returns the spec in canonical form. `whole` has the options and the settings of the task. Throws InputError
  /// if the task, an option, a setting or a value is unknown.
  static TaskSpec of(const Spec& whole);
  static TaskSpec parse(const std::string& text) { return of(Spec::parse(text)); }
  Spec whole() const;
  std::string text() const { return whole().text(); }
};

struct TaskSetup {
  TaskSpec task_spec;
  std::string spec;  // its text, by which results name the task
  const TaskInfo* info = nullptr;
  ExperimentOptions options;                 // with the overrides and the settings of this task
  std::vector<TaskInfo::Split> user_splits;  // added or redefined by the user
  std::vector<TaskInfo::Split> splits;       // in_distribution first, the user's last; no value is relative
  std::vector<std::string> skipped_splits;   // splits that the training settings make impossible: "NAME: reason"
  std::vector<std::shared_ptr<Task>> tasks;  // one for each split
  std::vector<TaskGrid> grids;               // empty unless evaluation.grid is set
  std::unique_ptr<Task> extended;            // of further training, if extend.length is set
  std::shared_ptr<const Reserve> reserve;    // null without training.reserve
  ModelConfig model_config;                  // with the vocabulary and the lengths of this task

  const Task& trained() const { return *tasks.front(); }
  /// Returns the largest position at which a sequence of the split `shift` begins.
  int largest_shift() const { return options.evaluation.shift * model_config.trained_length; }
  const Task& further_training_task() const { return extended ? *extended : trained(); }

  /// Returns a stream of samples as a run reads it: a test has the loops of the evaluation, a finite training set
  /// repeats, and predictions are chosen as the options state. `length`: of every example; empty: drawn. The setup
  /// must outlive the stream. Throws InputError if the task has no split of this name.
  SampleStream stream(const StreamId&, std::optional<int> length = std::nullopt) const;
  /// Returns the test samples of a point of one of `grids`.
  SampleStream grid_stream(const TaskGrid&, const TaskGrid::Point&, std::uint64_t seed) const;
  /// Returns the streams of a training run; the purpose is train or further_training.
  TrainingStreams training_streams(Purpose, std::uint64_t seed) const;

 private:
  SampleStream make_stream(const Task&, const StreamId&, std::optional<int> length = std::nullopt) const;
};

/// `user_splits` are appended to those of the task, or replace one of the same name; one without options removes
/// it. Throws InputError if the task, its options, a split and the model's attention are not compatible, or if a
/// split is the training distribution.
TaskSetup make_task_setup(const ExperimentOptions&, const TaskSpec&,
                          std::vector<TaskInfo::Split> user_splits = {});
inline TaskSetup make_task_setup(const ExperimentOptions& options, const std::string& spec) {
  return make_task_setup(options, TaskSpec::parse(spec));
}

SplitKind kind(const TaskInfo::Split&);

/// Throws InputError if settings of the task do not fit the encoding: those of packing, rounding and the cache.
void check_encoding(const TaskSetup&, const Spec& encoding);

/// Returns the index of a split among those of the task. Throws InputError if it has none of this name.
size_t find_split(const TaskSetup&, const std::string& name);

}  // namespace posbench
