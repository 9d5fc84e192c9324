#include "harness/runs/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
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
#include "harness/runs/task_products.h"
#include "harness/training/baselines.h"
#include "harness/training/learning_rate_sweep.h"
#include "harness/training/run_experiment.h"

namespace posbench {
namespace {

/// Refuses extensions of encodings that are not trained.
void check_parents(const ExtendOptions& extend, const std::vector<SweptEncoding>& encodings) {
  for (const ExtensionRequest& request : parse_extensions(extend)) {
    const auto is_parent = [&](const SweptEncoding& e) {
      return request.parent == e.spec.text() || request.parent == e.base.text();
    };
    if (request.parent.empty() || std::ranges::any_of(encodings, is_parent)) continue;
    throw InputError(fmt::format(
        "extend.encodings: '{0}->{1}' extends '{0}', which the run does not train; add it with -e, or leave this out",
        request.parent, request.encoding.text()));
  }
}

/// Refuses tuning seeds without a choice of learning rates, or that are also reported.
void check_tuning(const TrainingOptions& training, const std::vector<std::uint64_t>& seeds) {
  if (training.tuning_seeds == 0) return;
  if (training.learning_rates.size() == 1) {
    throw InputError(
        fmt::format("training.tuning_seeds is {}, and training.learning_rate has one value; give several, as in "
                    "--learning-rates 3e-4,1e-3,3e-3",
                    training.tuning_seeds));
  }
  const std::uint64_t end = kFirstTuningSeed + static_cast<std::uint64_t>(training.tuning_seeds);
  for (const std::uint64_t seed : seeds) {
    if (seed >= kFirstTuningSeed && seed < end)
      throw InputError(fmt::format("seed {} is a tuning seed (training.tuning_seeds); choose another seed", seed));
  }
}

/// Runs an experiment; once more, with one thread, if the memory is too small for several.
void run_on_threads(const Experiment& e, int threads, IdleCores& cores, const std::stop_token& stop,
                    ExperimentObserver& observer) {
  IdleCores reserved(threads - 1);
  ThreadPool pool = threads == kIdleCores ? ThreadPool(count_cores(), cores) : ThreadPool(threads, reserved);
  try {
    run_experiment(e, observer, stop, pool);
  } catch (const std::bad_alloc&) {
    if (!pool.was_parallel()) throw;
    cores.close();
    run_experiment(e, observer, stop);
  }
}

}  // namespace

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

bool is_tuned_by(const Experiment& e, const Experiment& tuning) {
  return e.tuned && e.task == tuning.task && e.encoding.text() == tuning.encoding.text();
}

void remove_unused_tuning(Suite& suite) {
  std::erase_if(suite.tuning, [&](const Experiment& e) {
    return std::ranges::none_of(suite.experiments, [&](const Experiment& of) { return is_tuned_by(of, e); });
  });
}

void tune(std::vector<Experiment>& experiments, const std::vector<Experiment>& tuning,
          const std::function<const ExperimentResult&(const ExperimentId&)>& find) {
  for (Experiment& e : experiments) {
    if (!e.tuned) continue;
    std::vector<const ExperimentResult*> seeds;
    for (const Experiment& of : tuning) {
      if (!is_tuned_by(e, of)) continue;
      const ExperimentResult& result = find(of.id());
      if (!result.learning_rates.empty()) seeds.push_back(&result);
    }
    // If no model of the tuning seeds could be trained, that of this seed fails for the same reason.
    e.tuned = seeds.empty() ? TunedRate{e.settings().learning_rates[0]} : choose_rate(seeds);
  }
}

Suite make_suite(const RunConfig& config, Shard shard) {
  const std::vector<SweptTask> tasks = swept_tasks(config);
  const std::vector<SweptEncoding> encodings = swept_encodings(config);
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
  for (const SweptTask& task : tasks) {
    suite.tasks.push_back(std::make_unique<TaskSetup>(setup_task(config, task.spec)));
    const TaskSetup& setup = *suite.tasks.back();
    check_parents(setup.options.extend, encodings);
    const int tuning_seeds = setup.options.training.tuning_seeds;
    check_tuning(setup.options.training, config.seeds);
    const TaskProducts products(setup);
    for (const SweptEncoding& encoding : encodings) {
      make_model(encoding.spec, setup.model_config);
      Experiment experiment{
          .task = &setup,
          .encoding = encoding.spec,
          .swept = swept_values(config, task, encoding),
          .extensions = extensions_of(encoding.spec, encoding.base, setup.options.extend, setup.model_config)};
      check_encoding(setup, encoding.spec);
      for (const Extension& extension : experiment.extensions) check_encoding(setup, extension.encoding);
      if (config.match_compute)
        experiment.steps =
            matched_steps(*config.match_compute, setup.options.training.steps, encoding.spec.text());
      if (tuning_seeds > 0) {
        Experiment tuning = experiment;
        tuning.extensions.clear();
        tuning.tuning = true;
        tuning.cost = products.cost(tuning);
        for (int n = 0; n < tuning_seeds && shard.has(count); ++n) {
          tuning.seed = kFirstTuningSeed + static_cast<std::uint64_t>(n);
          suite.tuning.push_back(tuning);
        }
        experiment.tuned = TunedRate();
      }
      experiment.cost = products.cost(experiment);
      for (const std::uint64_t seed : config.seeds) {
        experiment.unit = tuning_seeds > 0 ? count : count++;
        experiment.seed = seed;
        if (shard.has(experiment.unit)) suite.experiments.push_back(experiment);
      }
      if (tuning_seeds > 0) ++count;
    }
  }
  return suite;
}

std::vector<TaskBaseline> measure_baselines(const Suite& suite, int jobs, const std::stop_token& stop) {
  // Tasks that differ only in settings have the same samples, unless they differ in the layout of answers, in the
  // training samples that they draw or in the splits `shift` and `packed`. A begin token changes no baseline.
  std::map<std::tuple<std::string, Settings, Layout, int, int, bool, bool>, size_t> firsts;
  std::vector<size_t> measured, baseline_of_task(suite.tasks.size());
  for (size_t i = 0; i < suite.tasks.size(); ++i) {
    const TaskSetup& task = *suite.tasks[i];
    const TrainingOptions& training = task.options.training;
    const int batch =
        training.lengths == BatchLengths::same ? training.batch : 0;  // 0: samples do not depend on it
    const Spec& spec = task.task_spec.task;
    const std::tuple key{spec.name,
                         spec.options,
                         task.options.layout(),
                         num_training_samples(training),
                         batch,
                         task.options.evaluation.shift > 0,
                         training.packing.samples > 1};
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
  IdleCores cores(count_cores() - static_cast<int>(at_once));
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
  parallel_for(experiments.size(), jobs, run,
               [&](int jobs_left, Resource lacking) { observer.on_jobs_reduced(jobs_left, lacking); });
}

}  // namespace posbench
