#include "harness/runs/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/parallel_for.h"
#include "base/text.h"
#include "base/thread_pool.h"
#include "harness/config/sweep.h"
#include "harness/training/baselines.h"
#include "harness/training/experiment_progress.h"
#include "harness/training/run_experiment.h"
#include "model/transformer.h"

namespace posbench {
namespace {

/// Means over some samples of a task.
struct SampleSize {
  double length = 0, targets = 0;  // tokens; target positions
};

SampleSize measure_size(const Task& task, bool training) {
  constexpr int kSamples = 32;
  SampleSize size;
  const SampleStream samples(task, "size", 0);
  for (int n = 0; n < kSamples; ++n) {
    const Example example = samples(n).example;
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

/// Multiply-adds of the products with weights and of attention in an experiment.
struct Cost {
  double training = 0, evaluation = 0;
};

/// Returns the cost of an experiment. `extended`: the steps of further training of each extension.
Cost estimate_cost(const TaskSetup& task, const std::vector<int>& extended) {
  ParameterLayout layout;
  const PositionEncoding plain(task.model_config);
  const Transformer transformer(task.model_config, layout, plain);
  const auto forward = [&](const Task& t, bool training, int loops = 0) {
    const SampleSize size = measure_size(t, training);
    return transformer.multiply_adds(std::lround(size.length), std::lround(size.targets), loops);
  };
  const TrainingOptions& training = task.options.training;
  const double steps = count_steps(training);
  const double validations = static_cast<double>(count_validations(training.steps, training)) *
                             static_cast<double>(training.learning_rates.size());
  Cost cost{.training = forward(task.trained(), true) * 3 * steps * training.batch};
  const EvaluationOptions& evaluation = task.options.evaluation;
  double tests = 0;
  for (size_t i = 0; i < task.tasks.size(); ++i) {
    tests += forward(*task.tasks[i], false, evaluation.loops) * evaluation.sequences;
    if (i == 0 || (training.validate_splits && kind(task.splits[i]) == SplitKind::out_of_distribution))
      cost.evaluation += forward(*task.tasks[i], false) * validations * training.validation_sequences;
  }
  if (!task.grids.empty()) {
    const SampleSize size = measure_size(task.trained(), false);
    tests += grid_products(task, transformer, size.length, size.targets);
  }
  cost.evaluation += tests;
  for (const int more_steps : extended) {
    cost.evaluation += tests;
    if (more_steps == 0) continue;
    const double more_validations = count_validations(more_steps, training);
    cost.training += forward(task.further_training_task(), true) * 3 * more_steps * training.batch;
    cost.evaluation +=
        forward(task.further_training_task(), false) * more_validations * training.validation_sequences;
  }
  return cost;
}

/// Refuses extensions of encodings that are not trained.
void check_parents(const ExtendOptions& extend, const std::vector<SweptSpec>& encodings) {
  for (const ExtensionRequest& request : parse_extensions(extend)) {
    const auto is_parent = [&](const SweptSpec& e) {
      return request.parent == e.spec || request.parent == e.base;
    };
    if (request.parent.empty() || std::any_of(encodings.begin(), encodings.end(), is_parent)) continue;
    throw InputError(fmt::format(
        "extend.encodings: '{0}->{1}' extends '{0}', which the run does not train; add it with -e, or leave this out",
        request.parent, request.encoding.text()));
  }
}

/// Runs an experiment; once more, with one thread, if the memory is too small for several.
void run_on_threads(const Experiment& e, int threads, IdleCores& cores, const std::stop_token& stop,
                    ExperimentObserver& observer) {
  IdleCores reserved(threads - 1);
  ThreadPool pool =
      threads == kIdleCores ? ThreadPool(count_hardware_threads(), cores) : ThreadPool(threads, reserved);
  try {
    run_experiment(e, observer, stop, pool);
  } catch (const std::bad_alloc&) {
    if (!pool.was_parallel()) throw;
    cores.close();
    run_experiment(e, observer, stop);
  }
}

}  // namespace

double grid_products(const TaskSetup& task, const Transformer& transformer, double tokens, double targets) {
  const double longest = task.model_config.trained_length / tokens;
  const EvaluationOptions& evaluation = task.options.evaluation;
  double products = 0;
  for (const TaskGrid& grid : task.grids) {
    for (const TaskGrid::Point& point : grid.points) {
      const double longer = longest * (grid.option == "length" ? point.multiple : 1);
      products += grid_sequences(evaluation.grid, point.multiple) *
                  transformer.multiply_adds(static_cast<Index>(longer * tokens + 0.5),
                                            static_cast<Index>(longer * targets + 0.5), evaluation.loops);
    }
  }
  return products;
}

std::string Shard::text() const { return fmt::format("{}/{}", index, of); }

Shard Shard::parse(const std::string& text) {
  const size_t slash = text.find('/');
  Shard shard;
  if (slash == text.npos || !parse_number(text.substr(0, slash), shard.index) ||
      !parse_number(text.substr(slash + 1), shard.of) || shard.index < 1 || shard.index > shard.of) {
    throw InputError(fmt::format("--shard '{}': expected K/N with K from 1 to N, as in 2/4", text));
  }
  return shard;
}

Shard read_shard(const Field& field) {
  try {
    return Shard::parse(field.text());
  } catch (const InputError&) {
    field.fail("expected K/N, as in 2/4");
  }
}

std::vector<ExperimentId> ids(const std::vector<Experiment>& experiments) {
  std::vector<ExperimentId> all;
  for (const Experiment& e : experiments) {
    for (ExperimentId& id : e.ids()) all.push_back(std::move(id));
  }
  return all;
}

Suite make_suite(const RunConfig& config, Shard shard) {
  const std::vector<SweptSpec> tasks = swept_tasks(config), encodings = swept_encodings(config);
  const size_t all = tasks.size() * encodings.size() * config.seeds.size();
  const auto shards = static_cast<size_t>(shard.of);
  if ((all + shards - 1) / shards > kMaxExperiments) {
    throw InputError(fmt::format(
        "{} tasks, {} encodings and {} seeds are {} experiments{}, and a run holds up to {}; take fewer, "
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
    std::map<std::vector<int>, Cost> costs;  // by the steps of the extensions
    for (const SweptSpec& encoding : encodings) {
      const Spec spec = Spec::parse(encoding.spec);
      make_model(spec, setup.model_config);
      const std::vector<Extension> extensions =
          extensions_of(spec, encoding.base, setup.options.extend, setup.model_config);
      std::vector<int> extended;
      for (const Extension& extension : extensions) extended.push_back(extension.steps);
      const auto [cost, is_new] = costs.try_emplace(extended);
      if (is_new) cost->second = estimate_cost(setup, extended);
      const std::optional<Swept> swept = swept_values(config, task, encoding);
      const int steps = setup.options.training.steps;
      const std::optional<int> matched =
          config.match_compute ? std::optional(matched_steps(*config.match_compute, steps, spec.text()))
                               : std::nullopt;
      for (const std::uint64_t seed : config.seeds) {
        if (!shard.has(count++)) continue;
        suite.experiments.push_back({.task = &setup,
                                     .encoding = spec,
                                     .seed = seed,
                                     .estimated_cost = cost->second.training + cost->second.evaluation,
                                     .swept = swept,
                                     .steps = matched,
                                     .extensions = extensions,
                                     .estimated_training_cost = cost->second.training});
      }
    }
  }
  return suite;
}

std::vector<TaskBaseline> measure_baselines(const Suite& suite, int jobs, const std::stop_token& stop) {
  // Tasks that differ only in settings have the same samples, unless they differ in the layout of answers, in the
  // training samples that they draw or in the split `shift`. A begin token changes no baseline.
  std::map<std::tuple<std::string, Layout, int, int, bool>, size_t> firsts;
  std::vector<size_t> measured, baseline_of_task(suite.tasks.size());
  for (size_t i = 0; i < suite.tasks.size(); ++i) {
    const TaskSetup& task = *suite.tasks[i];
    const TrainingOptions& training = task.options.training;
    const int batch =
        training.lengths == BatchLengths::same ? training.batch : 0;  // 0: samples do not depend on it
    const std::tuple key{TaskSpec::parse(task.spec).task.text(), task.options.layout(),
                         num_training_samples(training), batch, task.options.evaluation.shift > 0};
    const auto [first, is_new] = firsts.emplace(key, measured.size());
    if (is_new) measured.push_back(i);
    baseline_of_task[i] = first->second;
  }
  std::vector<TaskBaseline> baselines(measured.size()), all;
  parallel_for(measured.size(), jobs, [&](size_t i) {
    baselines[i] = measure_baselines(*suite.tasks[measured[i]], kBaselineSamples, stop);
  });
  for (size_t i = 0; i < suite.tasks.size(); ++i) {
    all.push_back(baselines[baseline_of_task[i]]);
    all.back().task = suite.tasks[i]->spec;
  }
  return all;
}

void run_suite(const std::vector<Experiment>& experiments, int jobs, std::stop_source stop,
               ExperimentObserver& observer, int threads) {
  const size_t at_once = std::min(experiments.size(), static_cast<size_t>(jobs));
  IdleCores cores(count_hardware_threads() - static_cast<int>(at_once));
  std::atomic<size_t> unfinished = experiments.size();
  const auto run = [&](size_t i) {
    if (stop.stop_requested()) return;
    try {
      run_on_threads(experiments[i], threads, cores, stop.get_token(), observer);
      if (--unfinished < at_once) cores.add(1);  // its job has no next experiment
    } catch (const std::bad_alloc&) {
      throw;  // parallel_for repeats the experiment with fewer jobs
    } catch (...) {
      stop.request_stop();
      throw;
    }
  };
  parallel_for(experiments.size(), jobs, run, [&](int jobs_left) { observer.on_jobs_reduced(jobs_left); });
}

}  // namespace posbench
