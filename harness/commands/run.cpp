// `posbench run`: the main job.
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
#include "harness/commands/commands.h"
#include "harness/commands/message.h"
#include "harness/commands/outcome.h"
#include "harness/commands/output.h"
#include "harness/commands/progress.h"
#include "harness/commands/run.h"
#include "harness/runs/checkpoint.h"
#include "harness/runs/context.h"
#include "harness/runs/loss_trace.h"
#include "harness/runs/plan.h"
#include "harness/runs/run_directory.h"
#include "harness/runs/saved_model.h"
#include "harness/runs/suite.h"

namespace posbench {
namespace {

std::atomic<bool> interrupted{false};

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
  const size_t at_once = std::min(open.size(), static_cast<size_t>(jobs));
  if (request.verbosity != Verbosity::quiet) {
    write_message(fmt::format("{}; {} of {} experiments to run, {} at once, into {}\n", version(), open.size(),
                              suite.experiments.size(), at_once, printable(path.string())));
  }
  if (open.empty()) return;
  directory.make_folders();
  if (request.trace_loss) make_folder(path / kLossFolder);

  Progress progress(request.verbosity, static_cast<int>(open.size()), total_work);
  SuiteEvents events;
  events.advanced = [&](double work) { progress.advance(work); };
  events.finished = [&](const ExperimentResult& result, double seconds) {
    directory.append(result, seconds);
    progress.finished(result, seconds);
  };
  const auto resume = [&](const Experiment& e, const Model& model, LearningRateSweep& sweep) -> double {
    const std::filesystem::path checkpoint = checkpoint_path(path, e.id());
    std::error_code ignored;
    if (!exists(checkpoint, ignored)) return 0;
    try {
      return read_checkpoint(checkpoint, e, model, sweep);
    } catch (const std::runtime_error& error) {
      progress.warn(fmt::format("{}; its experiment starts from the beginning", error.what()));
      return 0;
    }
  };
  events.begun = [&](const Experiment& e, const Model& model, LearningRateSweep& sweep) {
    const double seconds = resume(e, model, sweep);
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

/// While one of these lives, signals that ask the process to end set `interrupted`. A signal that the caller has set
/// to be ignored, as nohup does, stays so.
class Signals {
 public:
  Signals() {
    interrupted = false;
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
  run_open(request, suite, jobs, directory);
  if (interrupted) return std::nullopt;
  directory.remove_checkpoints();
  const std::vector<TaskBaseline> baselines = measure_baselines(suite, jobs, interrupted);
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
  for (const Experiment& e : suite.experiments) manifest.experiments.push_back(e.id());
  Json about = manifest.context;
  if (request.shard.of > 1) about["shard"] = request.shard.text();
  RunDirectory directory(request.directory.value_or(default_directory()), request.existing, std::move(manifest));
  if (!directory.dropped().empty()) write_message(one_line(directory.dropped()) + "\n");
  const auto stopped = [&](const std::string& why) {
    write_message(fmt::format("{}; {}", one_line(why), how_to_resume(request, directory, suite.experiments.size())));
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
  stopped("interrupted");
  return 130;
}

namespace {

int run(const RunRequest& request) {
  const Config config = make_config(request.config);
  if (request.show_config) {
    fmt::print("{}\n", to_json(config).dump(2));
    return 0;
  }
  return run(config, request);
}

}  // namespace

void add_run(CLI::App& app, Invocation& invocation) {
  struct Request : RunRequest {
    bool resume = false, force = false, quiet = false, verbose = false;
  };
  const auto request = std::make_shared<Request>();
  CLI::App* command = app.add_subcommand("run", "Train every encoding on every task and report accuracy");
  command->add_option("-t,--tasks", request->config.tasks,
                  "comma-separated specs and globs; a leading - excludes; all is all");
  command->add_option("-e,--encodings", request->config.encodings, "the same for encodings, as in -e 'all,-dape*'");
  command->add_option("-s,--seeds", request->config.seeds, "how many (3), or which (0,5,7)");
  command->add_option("-j,--jobs", request->jobs, "experiments at once, one thread each; all cores without it")
      ->check(CLI::Range(1, 4096));
  command->add_option("-o,--output", request->directory, "run directory; runs/DATE-TIME without it");
  add_configuration(*command, request->config);
  command->add_option(
      "--learning-rates", request->config.learning_rates,
      "several, as in 3e-4,1e-3,3e-3: each experiment is trained at each of them, and tested at the one "
      "that is best in validation");
  command
      ->add_option("--sweep", request->config.sweeps,
                   "a grid, as in --sweep model.width=32,64 --sweep task.length=16,32: every value with every other, of "
                   "settings, task.OPTION and encoding.OPTION")
      ->take_all()
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option_function<std::string>(
      "--shard", [request](const std::string& text) { request->shard = Shard::parse(text); },
      "K/N: every N-th experiment from the K-th on; 'posbench merge' joins the N runs");
  command->add_option("--checkpoint-every", request->checkpoint_every,
                  "seconds of an experiment between two checkpoints (60); 0: one after every step")
      ->check(CLI::Range(0.0, 1e9));
  command->add_flag("--save-models", request->save_models, "keep what was learned, in models/*.safetensors of the run");
  command->add_flag("--trace-loss", request->trace_loss, "keep the loss of every step, in losses/*.csv of the run");
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
      "  posbench run -t flip_flop -e rope,alibi --sweep task.length=16,32,64 --sweep model.width=32,64\n"
      "  posbench run --config out/report.json -o again      repeats a run\n"
      "  posbench run --profile standard --shard 3/16 -o out/3 --resume\n"
      "                                                      a sixteenth of a suite, begun or gone on with\n"
      "Whatever ends a run, what is finished is kept, and the same command with --resume goes on, within an\n"
      "experiment from its last checkpoint; the report is the same bytes as an unbroken run's, except its context\n"
      "and timing. The first Ctrl-C, SIGTERM or SIGHUP keeps what is under way; a second ends the run at once.\n"
      "Exit codes: 0 fine; 1 an experiment diverged or failed, a file could not be written or memory ran out;\n"
      "2 bad usage or input; 130 interrupted; 128 and a signal's number where it ended the run at once.");
  command->callback([request, &invocation] {
    request->existing = request->resume ? Existing::resume : request->force ? Existing::replace : Existing::refuse;
    request->verbosity = request->quiet ? Verbosity::quiet : request->verbose ? Verbosity::verbose : Verbosity::normal;
    request->command = invocation.words;
    invocation.code = run(*request);
  });
}

}  // namespace posbench
