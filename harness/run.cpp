#include "harness/run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/checkpoint.h"
#include "harness/context.h"
#include "harness/saved_model.h"
#include "harness/suite.h"
#include "results/report_table.h"

namespace posbench {
namespace {

std::atomic<bool> interrupted{false};

/// The first signal lets the suite stop between two steps; a second one ends the program at once.
void on_signal(int signal) {
  if (interrupted.exchange(true)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

int terminal_width() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 100;
}

void print(const Table& table, bool color) { fmt::print("{}\n", console(table, {terminal_width(), color})); }

/// Seconds that a few training steps and evaluated sequences of this experiment take, scaled up to the whole of
/// it.
double estimate(const Experiment& e) {
  using Clock = std::chrono::steady_clock;
  TaskSetup setup = make_task_setup(e.task->config, e.task->spec);
  TrainingOptions options = setup.config.training;
  const int steps = options.steps;
  const Model model = make_model(e.encoding, setup.shape);
  TrainingState state(model, options, 0);
  int measured = -1;  // the first step warms up
  Clock::time_point start;
  options.validate_every = options.steps = std::max(steps, 4) + 1;
  train(model, setup.trained(), options, 0, state, [&](const TrainingState&) {
    if (++measured == 0) start = Clock::now();
    return measured < 3 && (measured < 1 || Clock::now() - start < std::chrono::milliseconds(150));
  });
  const double step = std::chrono::duration<double>(Clock::now() - start).count() / std::max(1, measured);
  const TrainingOptions& training = setup.config.training;
  const double looks = static_cast<double>(steps) / training.validate_every + 1;
  double seconds = step * steps;
  for (size_t i = 0; i < setup.splits.size(); ++i) {
    constexpr int kSequences = 8;
    start = Clock::now();
    evaluate(model, state.parameters, {*setup.tasks[i], "estimate", 0}, kSequences);
    const double one = std::chrono::duration<double>(Clock::now() - start).count() / kSequences;
    seconds += one * (setup.config.evaluation.sequences + (i == 0 ? looks * training.validation_sequences : 0));
  }
  return seconds;
}

/// Core seconds of the whole suite. Time is nearly a product of what the task and what the encoding cost, so that
/// each is measured once, against the first of the other.
std::map<ExperimentId, double> estimates(const Suite& suite) {
  std::map<std::string, double> of_task, of_encoding;
  const Experiment& first = suite.experiments.front();
  for (const Experiment& e : suite.experiments) {
    if (e.encoding.text() == first.encoding.text() && of_task.count(e.task->spec) == 0)
      of_task[e.task->spec] = estimate(e);
    if (e.task == first.task && of_encoding.count(e.encoding.text()) == 0)
      of_encoding[e.encoding.text()] = estimate(e);
  }
  std::map<ExperimentId, double> seconds;
  for (const Experiment& e : suite.experiments) {
    seconds[e.id()] = of_task[e.task->spec] * of_encoding[e.encoding.text()] / of_encoding[first.encoding.text()];
  }
  return seconds;
}

void print_plan(const Suite& suite, int jobs, bool color) {
  Table table{
      {{"task"}, {"encoding"}, {"seed", Align::right}, {"parameters", Align::right}, {"seconds", Align::right}},
      {}};
  double total = 0, longest = 0;
  const std::map<ExperimentId, double> seconds = estimates(suite);
  for (const Experiment& e : suite.experiments) {
    const double each = seconds.at(e.id());
    total += each;
    longest = std::max(longest, each);
    table.rows.push_back({e.task->spec, e.encoding.text(), fmt::format("{}", e.seed),
                          fmt::format("{}", make_model(e.encoding, e.task->shape).layout.count()),
                          fmt::format("{:.1f}", each)});
  }
  print(table, color);
  fmt::print("{} experiments; about {} of core time, {} with {} jobs\n", suite.experiments.size(), duration(total),
             duration(std::max(total / jobs, longest)), jobs);
}

/// A word as a shell takes it back.
std::string quoted(const std::string& word) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) || std::strchr("_./:=,+-@%", c) != nullptr; };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

/// How many are kept, and the command that goes on from there.
std::string how_to_resume(const RunRequest& request, const RunDirectory& directory, size_t experiments) {
  std::vector<std::string> words;
  for (const std::string& word : request.command) {
    if (word != "--force" && word != "--resume") words.push_back(quoted(word));
  }
  if (!request.directory) words.insert(words.end(), {"-o", quoted(directory.path().string())});
  return fmt::format("{} of {} experiments are kept. To go on:\n  {} --resume\n", directory.finished().size(),
                     experiments, fmt::join(words, " "));
}

std::filesystem::path default_directory() {
  return fmt::format("runs/{:%Y%m%d-%H%M%S}", fmt::localtime(std::time(nullptr)));
}

/// Runs what is not finished yet, and keeps what becomes of it.
void run_open(const RunRequest& request, const Suite& suite, int jobs, RunDirectory& directory) {
  const std::filesystem::path& path = directory.path();
  std::vector<Experiment> open;
  double total_work = 0;
  for (const Experiment& e : suite.experiments) {
    if (directory.finished().count(e.id()) > 0) continue;
    open.push_back(e);
    total_work += work(e);
  }
  if (request.verbosity != Verbosity::quiet) {
    fmt::print(stderr, "{}; {} of {} experiments to run, {} at once, into {}\n", version(), open.size(),
               suite.experiments.size(), jobs, path.string());
  }
  if (open.empty()) return;
  make_folder(path / "checkpoints");
  if (request.save_models) make_folder(path / "models");

  Progress progress(request.verbosity, static_cast<int>(open.size()), total_work);
  SuiteEvents events;
  events.advanced = [&](double work) { progress.advance(work); };
  events.finished = [&](const ExperimentResult& result, double seconds) {
    directory.append(result, seconds);
    progress.finished(result, seconds);
  };
  events.begun = [&](const Experiment& e, const Model& model, TrainingState& state) -> double {
    const std::filesystem::path checkpoint = checkpoint_path(path, e.id());
    if (!exists(checkpoint)) return 0;
    try {
      return read_checkpoint(checkpoint, e, model, state);
    } catch (const std::runtime_error& error) {
      progress.warn(fmt::format("{}; its experiment starts afresh", error.what()));
      return 0;
    }
  };
  events.keep = [&](const Experiment& e, const Model& model, const TrainingState& state, double seconds) {
    write_checkpoint(checkpoint_path(path, e.id()), e, model, state, seconds);
  };
  events.keep_every = request.checkpoint_every;
  if (request.save_models) {
    events.trained = [&](const Experiment& e, const Model& model, const TrainingState& state) {
      save_model(model_path(path, e.id()), e, model, state.parameters);
    };
  }
  run_suite(open, jobs, interrupted, events);
  progress.close();
}

/// Signals set `interrupted` as long as one of these lives, and files that outgrow a limit are errors of write().
class Signals {
 public:
  Signals() { interrupted = false; }
  ~Signals() {
    std::signal(SIGINT, old_interrupt_);
    std::signal(SIGTERM, old_terminate_);
    std::signal(SIGXFSZ, old_outgrown_);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  using Handler = void (*)(int);
  Handler old_interrupt_ = std::signal(SIGINT, on_signal), old_terminate_ = std::signal(SIGTERM, on_signal),
          old_outgrown_ = std::signal(SIGXFSZ, SIG_IGN);
};

}  // namespace

int run(const RunRequest& request) {
  const Config config = make_config(request.config);
  if (request.show_config) {
    fmt::print("{}\n", to_json(config).dump(2));
    return 0;
  }
  const Suite suite = make_suite(config, request.shard);
  const int jobs =
      request.jobs > 0 ? request.jobs : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  if (request.dry_run) {
    print_plan(suite, jobs, request.color);
    return 0;
  }

  const Signals signals;
  Manifest manifest{.config = to_json(config),
                    .context = context(request.command),
                    .shard = request.shard,
                    .save_models = request.save_models};
  for (const Experiment& e : suite.experiments) manifest.experiments.push_back(e.id());
  Json about = manifest.context;
  if (request.shard.of > 1) about["shard"] = request.shard.text();
  RunDirectory directory(request.directory.value_or(default_directory()), request.existing, std::move(manifest));
  if (!directory.dropped().empty()) fmt::print(stderr, "{}\n", directory.dropped());
  Report report;
  try {
    run_open(request, suite, jobs, directory);
    if (interrupted) {
      fmt::print(stderr, "interrupted; {}", how_to_resume(request, directory, suite.experiments.size()));
      return 130;
    }
    std::error_code ignored;
    remove_all(directory.path() / "checkpoints", ignored);
    const std::vector<TaskBaseline> baselines = measure_baselines(suite);
    about["finished"] = timestamp();
    report = directory.write_report(baselines, about);
  } catch (const FileError& error) {
    fmt::print(stderr, "posbench: {}; {}", error.what(),
               how_to_resume(request, directory, suite.experiments.size()));
    return 1;
  }
  return print_outcome(report, directory.path(), request.color);
}

int print_outcome(const Report& report, const std::filesystem::path& directory, bool color) {
  const Summary summary = summarize(report);
  print(accuracy_table(summary), color);
  for (const std::string& note : accuracy_notes(summary)) fmt::print("{}\n", note);
  const Table unfinished = unfinished_table(report);
  if (!unfinished.rows.empty()) {
    fmt::print("\n");
    print(unfinished, color);
  }
  fmt::print("\nreport: {}\npage: {}\n", (directory / "report.json").string(),
             (directory / "report.html").string());
  return unfinished.rows.empty() ? 0 : 1;
}

}  // namespace posbench
