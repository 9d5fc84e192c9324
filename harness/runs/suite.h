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

/// A task as the configuration has it: with its overrides and the splits that the user added.
TaskSetup setup_task(const Config&, const std::string& spec);

/// The configuration that repeats one experiment alone.
Config config_of(const Experiment&);

constexpr size_t kMaxExperiments = 1'000'000;  // of one run, since its plan, manifest and report are held in memory

/// Builds every task with every split and every encoding in a model for it, so that what does not go together is
/// refused before anything runs; a shard has all tasks, and its own experiments. Throws std::invalid_argument.
Suite make_suite(const Config&, Shard = {});

/// What is called while a suite runs, from any thread; each but `advanced` and `finished` may be empty.
struct SuiteEvents {
  std::function<void(double work)> advanced;
  std::function<void(const ExperimentResult&, double seconds)> finished;  // one at a time
  /// An experiment begins: sets its sweep to where an earlier run left it, if one did, and returns the seconds
  /// spent on it until then.
  std::function<double(const Experiment&, const Model&, LearningRateSweep&)> begun;
  /// Every so many seconds of an experiment, and when it is stopped: to go on from later.
  std::function<void(const Experiment&, const Model&, const LearningRateSweep&, double seconds)> keep;
  double keep_every = 60;
  std::function<void(const Experiment&, const LearningRateSweep&)> after_step;
  std::function<void(const Experiment&, const Model&, const Parameters&)> trained;
  std::function<void(int jobs)> fewer;  // the machine has no room for as many jobs as requested; so many go on
};

/// Of every task, `jobs` at once. Incomplete where `stop` was set meanwhile.
std::vector<TaskBaseline> measure_baselines(const Suite&, int jobs, const std::atomic<bool>& stop);

/// Runs the experiments, up to `jobs` at once, one thread each. `stop` abandons those under way at their next step or
/// test sequence. What an event throws stops the suite and is thrown again from here; so is std::bad_alloc where an
/// experiment runs out of memory alone.
void run_suite(const std::vector<Experiment>&, int jobs, const std::atomic<bool>& stop, const SuiteEvents&);

}  // namespace posbench
