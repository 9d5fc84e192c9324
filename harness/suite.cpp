#include "harness/suite.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace posbench {
namespace {

/// Mean T, and mean number of places asked for, over some samples of a task.
struct Size {
  double length = 0, asked = 0;
};

Size mean_size(const Task& task, bool training) {
  constexpr int kSamples = 32;
  Size size;
  for (int n = 0; n < kSamples; ++n) {
    const Example example = SampleStream{task, "size", 0}(n).example;
    size.length += static_cast<double>(example.tokens.size()) / kSamples;
    size_t asked = example.scored.size();
    if (training) {
      asked = static_cast<size_t>(
          std::count_if(example.targets.begin(), example.targets.end(), [](int t) { return t != kIgnore; }));
    }
    size.asked += static_cast<double>(asked) / kSamples;
  }
  return size;
}

}  // namespace

Suite make_suite(const Config& config) {
  Suite suite;
  for (const std::string& task : config.tasks) {
    suite.tasks.push_back(std::make_unique<TaskSetup>(make_task_setup(config, task)));
    for (const std::string& encoding : config.encodings) {
      const Spec spec = Spec::parse(encoding);
      make_model(spec, suite.tasks.back()->shape);
      for (const std::uint64_t seed : config.seeds)
        suite.experiments.push_back({suite.tasks.back().get(), spec, seed});
    }
  }
  return suite;
}

double work(const Experiment& e) {
  const TaskSetup& task = *e.task;
  ParameterLayout layout;
  const PositionEncoding plain(task.shape);
  const Transformer transformer(task.shape, layout, plain);
  const auto forward = [&](const Task& t, bool training) {
    const Size size = mean_size(t, training);
    return transformer.multiply_adds(static_cast<Index>(size.length + 0.5), static_cast<Index>(size.asked + 0.5));
  };
  const TrainingOptions& training = task.config.training;
  const double looks = static_cast<double>(training.steps) / training.validate_every + 1;
  double work = forward(task.trained(), true) * 3 * training.steps * training.batch;
  work += forward(task.trained(), false) * looks * training.validation_sequences;
  for (const auto& split : task.tasks) work += forward(*split, false) * task.config.evaluation.sequences;
  return work;
}

void run_suite(const std::vector<Experiment>& experiments, int jobs, const std::atomic<bool>& stop,
               const SuiteEvents& events) {
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto worker = [&] {
    for (size_t i = next++; i < experiments.size() && !stop && !failed; i = next++) {
      const Experiment& experiment = experiments[i];
      const auto start = std::chrono::steady_clock::now();
      const double total = work(experiment), step = total / (1.1 * experiment.task->config.training.steps);
      double told = 0;
      try {
        const auto result = run_experiment(experiment, {.after_step =
                                                            [&](const Model&, const TrainingState&) {
                                                              told += step;
                                                              events.advanced(step);
                                                              return !stop && !failed;
                                                            },
                                                        .trained =
                                                            [&](const Model& model, const TrainingState& state) {
                                                              if (events.trained)
                                                                events.trained(experiment, model, state);
                                                            }});
        if (!result) return;
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
        const std::lock_guard lock(mutex);
        events.advanced(total - told);
        events.finished(*result, seconds.count());
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        failed = true;
      }
    }
  };
  std::vector<std::thread> threads;
  for (int n = 0; n < jobs; ++n) threads.emplace_back(worker);
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace posbench
