// Makes and runs the experiments of one run: tasks x encodings x seeds.
#pragma once
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "harness/config/config.h"
#include "harness/config/experiment_config.h"
#include "harness/training/experiment.h"
#include "harness/training/experiment_observer.h"
#include "results/json/json.h"
#include "results/types/task_baseline.h"

namespace posbench {

/// Part `index`, counted from 1, of the `of` parts of a suite: every `of`-th experiment.
struct Shard {
  int index = 1, of = 1;

  bool has(size_t unit) const { return static_cast<int>(unit % of) == index - 1; }
  std::string text() const;  // "2/4"
  /// Throws InputError.
  static Shard parse(const std::string&);
  bool operator==(const Shard&) const = default;
};

/// Reads a shard from JSON. Throws InputError.
Shard read_shard(const Field&);

/// The experiments of one run.
struct Suite {
  std::vector<std::unique_ptr<TaskSetup>> tasks;
  std::vector<Experiment> experiments;  // by task, encoding, seed, in the order of the configuration
  std::vector<Experiment> tuning;       // that choose the learning rates of the others (training.tuning_seeds)
};

/// Returns true if the second experiment helps to choose the learning rate of the first.
bool is_tuned_by(const Experiment&, const Experiment& tuning);
/// Removes the tuning seeds of tasks and encodings that have no experiment in the suite.
void remove_unused_tuning(Suite&);

/// Gives each experiment the learning rate that its tuning seeds have chosen. `find` returns the result of an id.
void tune(std::vector<Experiment>&, const std::vector<Experiment>& tuning,
          const std::function<const ExperimentResult&(const ExperimentId&)>& find);

/// Returns the ids of all results, grouped by experiment.
std::vector<ExperimentId> ids(const std::vector<Experiment>&);

// The number of experiments of one run is limited because its plan, manifest and report are held in memory.
constexpr size_t kMaxExperiments = 1'000'000;

/// Builds every task with every split and every encoding in a model for it, so that incompatible ones are refused
/// before anything runs. A shard has all tasks, and only its experiments. Throws InputError.
Suite make_suite(const RunConfig&, Shard = {});

/// Returns the baselines of every task, measured by `jobs` threads. Some are missing if a stop is requested
/// meanwhile.
std::vector<TaskBaseline> measure_baselines(const Suite&, int jobs, const std::stop_token& = {});

constexpr int kIdleCores = 0;  // as `threads`: an experiment uses one thread and all idle cores

/// Runs the experiments, up to `jobs` in parallel, each with `threads` threads. A requested stop ends them after
/// their current step with its validation, or after up to 64 test sequences. If an experiment or the observer
/// throws an exception, the others are stopped and the exception is rethrown here. An experiment that runs out of
/// memory is repeated with one thread, and then with fewer jobs, unless it is the only one.
void run_suite(const std::vector<Experiment>&, int jobs, std::stop_source, ExperimentObserver&, int threads = 1);

}  // namespace posbench
