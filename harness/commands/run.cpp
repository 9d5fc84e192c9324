// `posbench run`: the main job.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <nlohmann/json.hpp>

#include "base/parallel_for.h"
#include "harness/commands/commands.h"
#include "harness/commands/outcome.h"
#include "harness/commands/output.h"
#include "harness/commands/progress.h"
#include "harness/runs/checkpoint.h"
#include "harness/runs/context.h"
#include "harness/runs/plan.h"
#include "harness/runs/run_directory.h"
#include "harness/runs/saved_model.h"
#include "harness/runs/suite.h"

namespace posbench {
namespace {

struct RunRequest {
  ConfigRequest config;
  int jobs = 0;  // 0: all cores
  std::optional<std::filesystem::path> directory;
  Existing existing = Existing::refuse;
  Shard shard;
  double checkpoint_every = 60;  // seconds of an experiment
  bool dry_run = false, show_config = false, save_models = false;
  Verbosity verbosity = Verbosity::normal;
  std::string color = "auto";
  std::vector<std::string> command;  // as it was typed
};

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
      return read_checkpoint(checkpoint, e, model, sweep);
    } catch (const std::runtime_error& error) {
      progress.warn(fmt::format("{}; its experiment starts afresh", error.what()));
      return 0;
    }
  };
  events.keep = [&](const Experiment& e, const Model& model, const LearningRateSweep& sweep, double seconds) {
    write_checkpoint(checkpoint_path(path, e.id()), e, model, sweep, seconds);
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

/// `--dry-run`: the experiments, their parameter counts and an estimate of their time.
void print_plan(const Suite& suite, int jobs, bool color) {
  if (suite.experiments.empty()) {
    fmt::print("0 experiments\n");
    return;
  }
  const Plan plan = make_plan(suite, jobs);
  Table table{
      {{"task"}, {"encoding"}, {"seed", Align::right}, {"parameters", Align::right}, {"seconds", Align::right}},
      {}};
  for (size_t i = 0; i < plan.seconds.size(); ++i) {
    const Experiment& e = suite.experiments[i];
    table.rows.push_back({e.task->spec, e.encoding.text(), fmt::format("{}", e.seed),
                          fmt::format("{}", make_model(e.encoding, e.task->shape).layout.count()),
                          fmt::format("{:.1f}", plan.seconds[i])});
  }
  print(table, color);
  fmt::print("{} experiments; about {} of core time, {} with {} jobs\n", plan.seconds.size(),
             duration(plan.core_seconds), duration(plan.wall_seconds), jobs);
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

/// Returns the exit code: 0, 1 where an experiment diverged or failed or a file could not be written, 130 where it
/// was interrupted. Throws std::invalid_argument for what the user can mend.
int run(const RunRequest& request) {
  const Config config = make_config(request.config);
  if (request.show_config) {
    fmt::print("{}\n", to_json(config).dump(2));
    return 0;
  }
  const Suite suite = make_suite(config, request.shard);
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
  return print_outcome(report, directory.path(), wants_color(request.color));
}

}  // namespace

void add_run(CLI::App& app, Invocation& invocation) {
  struct Request : RunRequest {
    bool resume = false, force = false, quiet = false, verbose = false;
  };
  const auto request = std::make_shared<Request>();
  CLI::App* command = app.add_subcommand("run", "Train every encoding on every task and report accuracy");
  command->add_option("--profile", request->config.profile,
                  "named settings ('posbench list profiles'); quick without it");
  command->add_option("-t,--tasks", request->config.tasks,
                  "comma-separated specs and globs; a leading - excludes; all is all");
  command->add_option("-e,--encodings", request->config.encodings, "the same for encodings, as in -e 'all,-dape*'");
  command->add_option("-s,--seeds", request->config.seeds, "how many (3), or which (0,5,7)");
  command->add_option("-j,--jobs", request->jobs, "experiments at once, one thread each; all cores without it")
      ->check(CLI::Range(1, 4096));
  command->add_option("-o,--output", request->directory, "run directory; runs/DATE-TIME without it");
  command->add_option("--config", request->config.file, "a configuration file, or a report, whose run is repeated");
  command->add_option("--set", request->config.settings,
                  "one setting, as in --set model.width=128 ('posbench list settings')")
      ->take_all()
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option(
      "--learning-rates", request->config.learning_rates,
      "several, as in 3e-4,1e-3,3e-3: each experiment is trained at each of them, and tested at the one "
      "that is best in validation");
  command->add_option_function<std::string>(
      "--shard", [request](const std::string& text) { request->shard = Shard::parse(text); },
      "K/N: every N-th experiment from the K-th on; 'posbench merge' joins the N runs");
  command->add_option("--checkpoint-every", request->checkpoint_every,
                  "seconds of an experiment between two checkpoints (60); 0: one after every step")
      ->check(CLI::Range(0.0, 1e9));
  command->add_flag("--save-models", request->save_models, "keep what was learned, in models/*.safetensors of the run");
  command->add_flag("--dry-run", request->dry_run,
                "print the experiments, their parameters and, from a calibration of some seconds, their time");
  command->add_flag("--show-config", request->show_config, "print the configuration that results, as JSON");
  CLI::Option* resume = command->add_flag("--resume", request->resume, "go on with an existing run directory");
  command->add_flag("--force", request->force, "replace an existing run directory")->excludes(resume);
  CLI::Option* quiet = command->add_flag("-q,--quiet", request->quiet, "no progress");
  command->add_flag("-v,--verbose", request->verbose, "learning curves as they come")->excludes(quiet);
  add_color(*command, request->color);
  command->footer(
      "Examples:\n"
      "  posbench run                                        the quick profile\n"
      "  posbench run -e cope,rope -t flip_flop -s 3 -o out  two encodings on one task, three seeds\n"
      "  posbench run -e 'cope:positions=16,rope*' --set training.steps=2000\n"
      "  posbench run --learning-rates 3e-4,1e-3,3e-3        each experiment at the best of three in validation\n"
      "  posbench run --config out/report.json -o again      repeats a run\n"
      "  posbench run --profile standard --shard 3/16 -o out/3 --resume\n"
      "                                                      a sixteenth of a suite, begun or gone on with\n"
      "Whatever ends a run, what is finished is kept, and the same command with --resume goes on, within an\n"
      "experiment from its last checkpoint; the report is the same bytes as an unbroken run's but for its "
      "context\n"
      "and timing. The first Ctrl-C or SIGTERM keeps what is under way, a second ends the run at once.\n"
      "Exit codes: 0 fine; 1 an experiment diverged or failed, or a file could not be written; 130 interrupted.");
  command->callback([request, &invocation] {
    request->existing = request->resume ? Existing::resume : request->force ? Existing::replace : Existing::refuse;
    request->verbosity = request->quiet ? Verbosity::quiet : request->verbose ? Verbosity::verbose : Verbosity::normal;
    request->command = invocation.words;
    invocation.code = run(*request);
  });
}

}  // namespace posbench
