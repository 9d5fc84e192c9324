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

#include "base/parallel_for.h"
#include "harness/checkpoint.h"
#include "harness/context.h"
#include "harness/plan.h"
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
    total_work += e.work;
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
  events.begun = [&](const Experiment& e, const Model& model, LearningRateSweep& sweep) -> double {
    const std::filesystem::path checkpoint = checkpoint_path(path, e.id());
    std::error_code ignored;
    if (!exists(checkpoint, ignored)) return 0;
    try {
      return read_checkpoint(checkpoint, e, model, search);
    } catch (const std::runtime_error& error) {
      progress.warn(fmt::format("{}; its experiment starts afresh", error.what()));
      return 0;
    }
  };
  events.keep = [&](const Experiment& e, const Model& model, const LearningRateSweep& sweep, double seconds) {
    write_checkpoint(checkpoint_path(path, e.id()), e, model, search, seconds);
  };
  events.keep_every = request.checkpoint_every;
  if (request.save_models) {
    events.trained = [&](const Experiment& e, const Model& model, const Parameters& parameters) {
      save_model(model_path(path, e.id()), e, model, parameters);
    };
  }
  run_suite(open, jobs, interrupted, events);
  progress.close();
}

/// Signals set `interrupted` as long as one of these lives.
class Signals {
 public:
  Signals() { interrupted = false; }
  ~Signals() {
    std::signal(SIGINT, old_interrupt_);
    std::signal(SIGTERM, old_terminate_);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  using Handler = void (*)(int);
  Handler old_interrupt_ = std::signal(SIGINT, on_signal), old_terminate_ = std::signal(SIGTERM, on_signal);
};

}  // namespace

int run(const RunRequest& request) {
  const Config config = make_config(request.config);
  if (request.show_config) {
    fmt::print("{}\n", to_json(config).dump(2));
    return 0;
  }
  const Suite suite = make_suite(config, request.shard);
  const int jobs = request.jobs > 0 ? request.jobs : all_cores();
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
    const std::vector<TaskBaseline> baselines = measure_baselines(suite, jobs);
    about["finished"] = timestamp();
    report = directory.write_report(baselines, about);
  } catch (const FileError& error) {
    fmt::print(stderr, "posbench: {}; {}", error.what(),
               how_to_resume(request, directory, suite.experiments.size()));
    return 1;
  }
  return print_outcome(report, directory.path(), request.color);
}

void print(const Table& table, bool color) {
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  fmt::print("{}\n", console(table, {known ? size.ws_col : 100, color}));
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
