// The set of experiments of one run: tasks x encodings x seeds.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "harness/runs/config.h"
#include "harness/training/experiment.h"

namespace posbench {

/// Every `of`-th experiment of a suite, beginning with the `index`-th, counted from 1.
struct Shard {
  int index = 1, of = 1;

  bool has(size_t experiment) const { return static_cast<int>(experiment % of) == index - 1; }
  std::string text() const;  // "2/4"
  /// Throws std::invalid_argument.
  static Shard parse(const std::string&);
  bool operator==(const Shard&) const = default;
};

struct Suite {
  std::vector<std::unique_ptr<TaskSetup>> tasks;
  std::vector<Experiment> experiments;  // by task, encoding, seed, in the order of the configuration
};

/// Of all results of these experiments, those of an experiment together.
std::vector<ExperimentId> ids(const std::vector<Experiment>&);

/// A task by the configuration: with its overrides and the splits of the user.
TaskSetup setup_task(const Config&, const std::string& spec);

/// The configuration of a run of this experiment alone.
Config config_of(const Experiment&);

constexpr size_t kMaxExperiments = 1'000'000;  // of one run, since its plan, manifest and report are held in memory

/// Builds every task with every split and every encoding in a model for it, so that incompatible ones are refused
/// before anything runs. A shard has all tasks, and only its experiments. Throws std::invalid_argument.
Suite make_suite(const Config&, Shard = {});

/// Callbacks of a suite, called from any thread; each but `advanced` and `finished` may be empty.
struct SuiteEvents {
  std::function<void(double work)> advanced;
  /// One at a time: of an experiment and then of each of its extensions. The experiment's seconds include all of them,
  /// and theirs are 0.
  std::function<void(const ExperimentResult&, double seconds)> finished;
  /// An experiment begins: restores its sweep from a checkpoint, if there is one, and returns the seconds that were
  /// spent on it before.
  std::function<double(const Experiment&, const Model&, LearningRateSweep&)> begun;
  /// Writes a checkpoint: every `keep_every` seconds of an experiment, and when it is stopped.
  std::function<void(const Experiment&, const Model&, const LearningRateSweep&, double seconds)> keep;
  double keep_every = 60;
  std::function<void(const Experiment&, const LearningRateSweep&)> after_step;
  std::function<void(const Experiment&, const Model&, const Parameters&)> trained;
  std::function<void(int jobs)> fewer;  // too little memory for the requested jobs: `jobs` are left
};

/// The baselines of every task, `jobs` in parallel. Incomplete if `stop` was set meanwhile.
std::vector<TaskBaseline> measure_baselines(const Suite&, int jobs, const std::atomic<bool>& stop);

/// Runs the experiments, up to `jobs` in parallel, one thread each. `stop` ends running ones at their next step or
/// test sequence. An exception of a callback stops the suite and is rethrown here; so is std::bad_alloc if an
/// experiment runs out of memory while it is the only one.
void run_suite(const std::vector<Experiment>&, int jobs, const std::atomic<bool>& stop, const SuiteEvents&);

}  // namespace posbench
