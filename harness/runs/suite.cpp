#include "harness/runs/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>

#include "base/parallel_for.h"
#include "base/text.h"
#include "harness/runs/sweep.h"

namespace posbench {
namespace {

/// Mean T, and mean number of target positions, over some samples of a task.
struct Size {
  double length = 0, targets = 0;
};

Size mean_size(const Task& task, bool training) {
  constexpr int kSamples = 32;
  Size size;
  for (int n = 0; n < kSamples; ++n) {
    const Example example = SampleStream{task, "size", 0}(n).example;
    size.length += static_cast<double>(example.tokens.size()) / kSamples;
    size_t targets = example.scored.size();
    if (training) {
      targets = static_cast<size_t>(
          std::count_if(example.targets.begin(), example.targets.end(), [](int t) { return t != kIgnore; }));
    }
    size.targets += static_cast<double>(targets) / kSamples;
  }
  return size;
}

/// Optimizer steps at all learning rates together.
double steps(const TrainingOptions& training) {
  return static_cast<double>(training.steps) * static_cast<double>(training.learning_rates.size());
}

/// Multiply-adds of the products with weights and of attention in an experiment on a task, training and evaluation
/// together.
double work(const TaskSetup& task, const std::vector<Extension>& extensions) {
  ParameterLayout layout;
  const PositionEncoding plain(task.shape);
  const Transformer transformer(task.shape, layout, plain);
  const auto forward = [&](const Task& t, bool training, int loops = 0) {
    const Size size = mean_size(t, training);
    return transformer.multiply_adds(static_cast<Index>(size.length + 0.5), static_cast<Index>(size.targets + 0.5),
                                     loops);
  };
  const TrainingOptions& training = task.options.training;
  const double validations = steps(training) / training.validate_every + 1;
  double work = forward(task.trained(), true) * 3 * steps(training) * training.batch;
  const EvaluationOptions& evaluation = task.options.evaluation;
  double tests = 0;
  for (size_t i = 0; i < task.tasks.size(); ++i) {
    tests += forward(*task.tasks[i], false, evaluation.loops) * evaluation.sequences;
    if (i == 0 || training.validate_splits)
      work += forward(*task.tasks[i], false) * validations * training.validation_sequences;
  }
  work += tests;
  for (const Extension& extension : extensions) {
    work += tests;
    if (extension.steps == 0) continue;
    const double more_validations = static_cast<double>(extension.steps) / training.validate_every + 1;
    work += forward(task.trained_further(), true) * 3 * extension.steps * training.batch;
    work += forward(task.trained_further(), false) * more_validations * training.validation_sequences;
  }
  return work;
}

/// Refuses extensions of encodings that are not trained.
void check_parents(const ExtendOptions& extend, const std::vector<SweptSpec>& encodings) {
  for (const ExtensionRequest& request : parse_extensions(extend)) {
    const auto is_parent = [&](const SweptSpec& e) { return request.parent == e.spec || request.parent == e.base; };
    if (request.parent.empty() || std::any_of(encodings.begin(), encodings.end(), is_parent)) continue;
    throw std::invalid_argument(fmt::format(
        "extend.encodings: '{0}->{1}' extends '{0}', which the run does not train; add it with -e, or leave this out",
        request.parent, request.encoding.text()));
  }
}

bool has_split(const std::string& task, const std::string& name) {
  const std::vector<TaskInfo::Split>& splits = tasks().find(task).info.splits;
  return std::any_of(splits.begin(), splits.end(), [&](const TaskInfo::Split& split) { return split.name == name; });
}

/// Reports the progress of one experiment, and decides when its checkpoint is written.
class ProgressObserver {
 public:
  ProgressObserver(const Experiment& experiment, const SuiteEvents& events)
      : experiment_(experiment),
        events_(events),
        work_left_(experiment.work),
        work_of_step_(work_left_ / (1.1 * all_steps(experiment))) {}

  ExperimentEvents events(const std::function<bool()>& go_on) {
    return {.begun = [this](const Model& model, LearningRateSweep& sweep) { begun(model, sweep); },
            .after_step = [this, go_on](const Model& model,
                                        const LearningRateSweep& sweep) { return after_step(model, sweep, go_on()); },
            .go_on = go_on,
            .trained =
                [this](const Model& model, const Parameters& parameters) {
                  if (events_.trained) events_.trained(experiment_, model, parameters);
                }};
  }
  /// The experiment ran out of memory and will be repeated.
  void repeated() { events_.advanced(work_left_ - experiment_.work); }
  void finished(const std::vector<ExperimentResult>& results) {
    events_.advanced(work_left_);
    for (const ExperimentResult& result : results) events_.finished(result, result.extended ? 0 : seconds());
  }

 private:
  using Clock = std::chrono::steady_clock;

  static double all_steps(const Experiment& experiment) {
    double all = steps(experiment.training());
    for (const Extension& extension : experiment.extensions) all += extension.steps;
    return all;
  }

  double seconds() const { return earlier_ + std::chrono::duration<double>(Clock::now() - start_).count(); }
  void advance(int steps) {
    events_.advanced(steps * work_of_step_);
    work_left_ -= steps * work_of_step_;
  }
  void begun(const Model& model, LearningRateSweep& sweep) {
    if (events_.begun) earlier_ = events_.begun(experiment_, model, sweep);
    kept_ = seconds();
    advance(sweep.state.step);
    for (const RateResult& rate : sweep.tried) advance(rate.steps);
  }
  bool after_step(const Model& model, const LearningRateSweep& sweep, bool go_on) {
    advance(1);
    if (events_.after_step) events_.after_step(experiment_, sweep);
    const bool trained = sweep.state.step == experiment_.training().steps || sweep.state.stopped_early;
    const double every = trained ? std::min(events_.keep_every, 5.0) : events_.keep_every;  // the tests may take long
    if (events_.keep && (!go_on || seconds() - kept_ >= every)) {
      events_.keep(experiment_, model, sweep, seconds());
      kept_ = seconds();
    }
    return go_on;
  }

  const Experiment& experiment_;
  const SuiteEvents& events_;
  const Clock::time_point start_ = Clock::now();
  double earlier_ = 0, kept_ = 0;  // seconds: of former runs; when the state was last kept
  double work_left_, work_of_step_;
};

}  // namespace

std::string Shard::text() const { return fmt::format("{}/{}", index, of); }

Shard Shard::parse(const std::string& text) {
  const size_t slash = text.find('/');
  Shard shard;
  if (slash == text.npos || !posbench::parse(text.substr(0, slash), shard.index) ||
      !posbench::parse(text.substr(slash + 1), shard.of) || shard.index < 1 || shard.index > shard.of) {
    throw std::invalid_argument(fmt::format(
        "shard '{}': expected K/N with K from 1 to N, which runs the experiments K, K + N, K + 2 N, ...", text));
  }
  return shard;
}

TaskSetup setup_task(const Config& config, const std::string& spec) {
  const Spec task = TaskSpec::parse(spec).task;
  std::vector<TaskInfo::Split> own;
  for (const std::string& key : std::set{task.name, task.text()}) {  // the spec, which is longer, comes last
    const auto found = config.splits.find(key);
    if (found == config.splits.end()) continue;
    for (const TaskInfo::Split& split : found->second) {
      const size_t erased = std::erase_if(own, [&](const TaskInfo::Split& s) { return s.name == split.name; });
      if (erased > 0 && split.options.empty() && !has_split(task.name, split.name)) continue;  // of the other key only
      own.push_back(split);
    }
  }
  return make_task_setup(config.for_task(task.name), spec, std::move(own));
}

Config config_of(const Experiment& e) {
  Config config;
  static_cast<ExperimentOptions&>(config) = e.task->options;
  config.training = e.training();
  config.tasks = {e.task->spec};
  config.encodings = {e.encoding.text()};
  config.seeds = {e.seed};
  if (!e.task->own_splits.empty()) config.splits[e.task->info->name] = e.task->own_splits;
  return config;
}

std::vector<ExperimentId> ids(const std::vector<Experiment>& experiments) {
  std::vector<ExperimentId> all;
  for (const Experiment& e : experiments) {
    for (ExperimentId& id : e.ids()) all.push_back(std::move(id));
  }
  return all;
}

Suite make_suite(const Config& config, Shard shard) {
  const std::vector<SweptSpec> tasks = swept_tasks(config), encodings = swept_encodings(config);
  const size_t all = tasks.size() * encodings.size() * config.seeds.size();
  const auto shards = static_cast<size_t>(shard.of);
  if ((all + shards - 1) / shards > kMaxExperiments) {
    throw std::invalid_argument(
        fmt::format("{} tasks, {} encodings and {} seeds are {} experiments{}, and a run holds up to {}; take fewer, "
                    "or split them with --shard K/N",
                    tasks.size(), encodings.size(), config.seeds.size(), all,
                    shard.of > 1 ? fmt::format(" in {} shards", shard.of) : "", kMaxExperiments));
  }
  Suite suite;
  size_t count = 0;
  for (const SweptSpec& task : tasks) {
    suite.tasks.push_back(std::make_unique<TaskSetup>(setup_task(config, task.spec)));
    const TaskSetup& setup = *suite.tasks.back();
    check_parents(setup.options.extend, encodings);
    for (const SweptSpec& encoding : encodings) {
      const Spec spec = Spec::parse(encoding.spec);
      make_model(spec, setup.shape);
      const std::vector<Extension> extensions = extensions_of(spec, encoding.base, setup.options.extend, setup.shape);
      const double of_each = work(setup, extensions);
      const std::optional<Swept> swept = swept_values(config, task, encoding);
      const int steps = setup.options.training.steps;
      const std::optional<int> matched =
          config.match_compute ? std::optional(matched_steps(*config.match_compute, steps, spec.text())) : std::nullopt;
      for (const std::uint64_t seed : config.seeds) {
        if (!shard.has(count++)) continue;
        suite.experiments.push_back({&setup, spec, seed, of_each, swept, matched, extensions});
      }
    }
  }
  return suite;
}

std::vector<TaskBaseline> measure_baselines(const Suite& suite, int jobs, const std::atomic<bool>& stop) {
  // Tasks that differ in settings only have the same samples, unless they differ in the layout of answers.
  std::map<std::pair<std::string, Layout>, size_t> firsts;
  std::vector<size_t> measured, of(suite.tasks.size());
  for (size_t i = 0; i < suite.tasks.size(); ++i) {
    const TaskSetup& task = *suite.tasks[i];
    const std::pair key{TaskSpec::parse(task.spec).task.text(), task.options.layout()};
    const auto [first, is_new] = firsts.emplace(key, measured.size());
    if (is_new) measured.push_back(i);
    of[i] = first->second;
  }
  std::vector<TaskBaseline> baselines(measured.size()), all;
  parallel_for(measured.size(), jobs, [&](size_t i) {
    baselines[i] = measure_baselines(*suite.tasks[measured[i]], kBaselineSamples, [&] { return !stop; });
  });
  for (size_t i = 0; i < suite.tasks.size(); ++i) {
    all.push_back(baselines[of[i]]);
    all.back().task = suite.tasks[i]->spec;
  }
  return all;
}

void run_suite(const std::vector<Experiment>& experiments, int jobs, const std::atomic<bool>& stop,
               const SuiteEvents& events) {
  std::atomic<bool> failed{false};
  std::mutex mutex;
  const auto run = [&](size_t i) {
    if (stop || failed) return;
    ProgressObserver observer(experiments[i], events);
    try {
      const auto results = run_experiment(experiments[i], observer.events([&] { return !stop && !failed; }));
      if (!results) return;
      const std::lock_guard lock(mutex);
      observer.finished(*results);
    } catch (const std::bad_alloc&) {
      observer.repeated();
      throw;
    } catch (...) {
      failed = true;
      throw;
    }
  };
  parallel_for(experiments.size(), jobs, run, events.fewer);
}

}  // namespace posbench
