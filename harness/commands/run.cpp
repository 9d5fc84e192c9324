// A run of a configuration into its directory.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/parallel_for.h"
#include "base/printable.h"
#include "harness/commands/live_page.h"
#include "harness/commands/message.h"
#include "harness/commands/outcome.h"
#include "harness/commands/output.h"
#include "harness/commands/progress.h"
#include "harness/commands/run.h"
#include "harness/commands/waiting.h"
#include "harness/runs/checkpoint.h"
#include "harness/runs/context.h"
#include "harness/runs/loss_trace.h"
#include "harness/runs/plan.h"
#include "harness/runs/run_directory.h"
#include "harness/runs/saved_model.h"
#include "harness/runs/suite.h"

namespace posbench {
namespace {

std::atomic<bool> interrupted{false};  // by a signal, or by an experiment that failed where --fail-fast was given
std::atomic<bool> failed_fast{false};

/// The first signal lets the run stop after the step or test sequence that is under way; a second one ends the program
/// at once.
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
  if (printable(word) == word) {
    for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
    return text + "'";
  }
  for (const unsigned char c : word)
    text += plain(c) ? std::string(1, static_cast<char>(c)) : fmt::format("\\x{:02x}", c);
  return "$" + text + "'";
}

/// How many experiments are kept, and the command that goes on from there.
std::string how_to_resume(const RunRequest& request, const RunDirectory& directory, size_t experiments) {
  std::vector<std::string> words;
  for (const std::string& word : request.command) {
    if (word != "--force" && word != "--resume") words.push_back(quoted(word));
  }
  if (!request.directory) words.insert(words.end(), {"-o", quoted(directory.path().string())});
  std::string kept = fmt::format("{} of {} experiments are kept. To go on:", directory.finished().size(), experiments);
  try {
    directory.check_in_place();
  } catch (const FileError&) {
    kept = "the run directory is no longer there. To begin again, or to go on once it is back:";
  }
  if (request.resume_by_flag) words.push_back("--resume");
  return fmt::format("{}\n  {}\n", kept, fmt::join(words, " "));
}

std::filesystem::path default_directory() {
  return fmt::format("runs/{:%Y%m%d-%H%M%S}", fmt::localtime(std::time(nullptr)));
}

/// Sets the sweep to its last checkpoint, where there is one. Returns the seconds spent until then.
double resume(const std::filesystem::path& run, const Experiment& e, const Model& model, LearningRateSweep& sweep,
              Progress& progress) {
  const std::filesystem::path checkpoint = checkpoint_path(run, e.id());
  std::error_code ignored;
  if (!exists(checkpoint, ignored)) return 0;
  try {
    return read_checkpoint(checkpoint, e, model, sweep);
  } catch (const std::runtime_error& error) {
    progress.warn(fmt::format("{}; its experiment starts from the beginning", error.what()));
    return 0;
  }
}

/// How many of the experiment's results the run does not have yet.
size_t count_missing(const Experiment& e, const RunDirectory& directory) {
  const std::vector<ExperimentId> ids = e.ids();
  return static_cast<size_t>(std::count_if(ids.begin(), ids.end(), [&](const ExperimentId& id) {
    return directory.finished().count(id) == 0;
  }));
}

/// Runs what is not finished yet, and keeps what becomes of it.
void run_open(const RunRequest& request, const Suite& suite, int jobs, RunDirectory& directory, LivePage* live) {
  const std::filesystem::path& path = directory.path();
  std::vector<Experiment> open;
  double total_work = 0;
  size_t missing = 0;  // results
  for (const Experiment& e : suite.experiments) {
    const size_t count = count_missing(e, directory);
    if (count == 0) continue;
    missing += count;
    open.push_back(e);
    total_work += e.work;
  }
  const size_t at_once = std::min(open.size(), static_cast<size_t>(jobs));
  if (request.verbosity != Verbosity::quiet) {
    write_message(fmt::format("{}; {} of {} experiments to run, {} at once, into {}\n", version(), missing,
                              ids(suite.experiments).size(), at_once, printable(path.string())));
  }
  if (open.empty()) return;
  directory.make_folders();
  if (request.trace_loss) make_folder(path / kLossFolder);

  Progress progress(request.verbosity, static_cast<int>(missing), total_work);
  SuiteEvents events;
  events.advanced = [&](double work) { progress.advance(work); };
  events.finished = [&](const ExperimentResult& result, double seconds) {
    if (directory.finished().count(result.id) > 0) return;  // the process ended between it and its extensions
    directory.append(result, seconds);
    progress.finished(result, seconds);
    if (live) live->update();
    if (request.fail_fast && result.status != Status::ok) interrupted = failed_fast = true;
  };
  events.begun = [&](const Experiment& e, const Model& model, LearningRateSweep& sweep) {
    const double seconds = resume(path, e, model, sweep, progress);
    if (request.trace_loss) begin_trace(trace_path(path, e.id()), sweep);
    return seconds;
  };
  if (request.trace_loss) {
    events.after_step = [&](const Experiment& e, const LearningRateSweep& sweep) {
      add_to_trace(trace_path(path, e.id()), sweep);
    };
  }
  events.fewer = [&](int threads) {
    progress.warn(fmt::format("this machine has no room for {} experiments at once; going on with {}", at_once, threads));
  };
  events.keep = [&](const Experiment& e, const Model& model, const LearningRateSweep& sweep, double seconds) {
    directory.check_in_place();
    write_checkpoint(checkpoint_path(path, e.id()), e, model, sweep, seconds);
  };
  events.keep_every = request.checkpoint_every;
  if (request.save_models) {
    events.trained = [&](const Experiment& e, const Model& model, const Parameters& parameters) {
      directory.check_in_place();
      save_model(model_path(path, e.id()), e, model, parameters);
    };
  }
  run_suite(open, jobs, interrupted, events);
  progress.close();
}

/// `--dry-run`: the experiments, their parameter counts and an estimate of their time.
void print_plan(const Suite& suite, int jobs, bool color) {
  if (suite.experiments.empty()) {
    fmt::print("0 experiments\n");
    return;
  }
  const Plan plan = [&] {
    Waiting waiting("measuring how long experiments take");
    return make_plan(suite, jobs, [&](size_t done, size_t of) { waiting.count(done, of); });
  }();
  Table table{
      {{"task"}, {"encoding"}, {"seed", Align::right}, {"parameters", Align::right}, {"seconds", Align::right}},
      {}};
  for (size_t i = 0; i < plan.seconds.size(); ++i) {
    const Experiment& e = suite.experiments[i];
    const std::string extended =
        e.extensions.empty() ? "" : fmt::format(" and {} of its extensions", e.extensions.size());
    table.rows.push_back({e.task->spec, e.encoding.text() + extended, fmt::format("{}", e.seed),
                          fmt::format("{}", make_model(e.encoding, e.task->shape).layout.count()),
                          fmt::format("{:.1f}", plan.seconds[i])});
  }
  print(table, color);
  fmt::print("{} experiments; about {} of core time, {} with {} jobs\n", ids(suite.experiments).size(),
             duration(plan.core_seconds), duration(plan.wall_seconds), jobs);
}

/// While one of these lives, signals that ask the process to end set `interrupted`. A signal that the caller has set
/// to be ignored, as nohup does, stays so.
class Signals {
 public:
  Signals() {
    interrupted = failed_fast = false;
    for (size_t n = 0; n < kSignals.size(); ++n) {
      old_[n] = std::signal(kSignals[n], on_signal);
      if (old_[n] == SIG_IGN) std::signal(kSignals[n], SIG_IGN);
    }
  }
  ~Signals() {
    for (size_t n = 0; n < kSignals.size(); ++n) std::signal(kSignals[n], old_[n]);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  static constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};
  std::array<void (*)(int), kSignals.size()> old_{};
};

/// Trains what is not finished yet, measures the trivial predictors and writes the report. Nothing where it was
/// interrupted.
std::optional<Report> run_into(const RunRequest& request, const Suite& suite, int jobs, Json about,
                               RunDirectory& directory) {
  const auto baselines_now = [&] {
    const Waiting waiting("measuring trivial predictors");
    return measure_baselines(suite, jobs, interrupted);
  };
  std::optional<LivePage> live;
  if (request.live) live.emplace(directory, baselines_now(), about);
  if (!interrupted) run_open(request, suite, jobs, directory, live ? &*live : nullptr);
  if (interrupted) {
    if (live) live->stop();
    return std::nullopt;
  }
  directory.remove_checkpoints();
  const std::vector<TaskBaseline> baselines = live ? live->baselines() : baselines_now();
  if (interrupted) return std::nullopt;
  about["finished"] = timestamp();
  return directory.write_report(baselines, std::move(about));
}

}  // namespace

int run(const Config& config, const RunRequest& request) {
  const Suite suite = make_suite(config, request.shard);
  for (const auto& task : suite.tasks) {
    for (const std::string& split : task->left_out)
      write_message(printable(fmt::format("'{}' is tested without {}", task->spec, split)) + "\n");
  }
  const int jobs = request.jobs > 0 ? request.jobs : all_cores();
  if (request.dry_run) {
    print_plan(suite, jobs, wants_color(request.color));
    return 0;
  }

  const Signals signals;
  Manifest manifest{.config = to_json(config),
                    .context = context(request.command),
                    .shard = request.shard,
                    .save_models = request.save_models};
  manifest.experiments = ids(suite.experiments);
  Json about = manifest.context;
  if (request.shard.of > 1) about["shard"] = request.shard.text();
  RunDirectory directory(request.directory.value_or(default_directory()), request.existing, std::move(manifest));
  if (request.rerun_failed) directory.forget_failed();
  if (!directory.dropped().empty()) write_message(one_line(directory.dropped()) + "\n");
  const auto stopped = [&](const std::string& why) {
    write_message(fmt::format("{}; {}", one_line(why), how_to_resume(request, directory, directory.record().manifest.experiments.size())));
  };
  std::optional<Report> report;
  try {
    report = run_into(request, suite, jobs, std::move(about), directory);
  } catch (const FileError& error) {
    stopped(fmt::format("posbench: {}", error.what()));
    return 1;
  } catch (const std::bad_alloc&) {
    stopped("posbench: out of memory, with one experiment at a time; use smaller models or sequences, or more memory");
    return 1;
  }
  if (report) return request.outcome ? print_outcome(*report, directory.path(), wants_color(request.color)) : 0;
  stopped(failed_fast ? "stopped at an experiment that diverged or failed (--fail-fast)" : "interrupted");
  return failed_fast ? 1 : 130;
}

}  // namespace posbench
