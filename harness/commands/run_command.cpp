// `posbench run`: the main job.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "encodings/registry.h"
#include "harness/commands/commands.h"
#include "harness/commands/help.h"
#include "harness/commands/message.h"
#include "harness/commands/output.h"
#include "harness/commands/run.h"
#include "harness/runs/suite.h"

namespace posbench {
namespace {

struct Request : RunRequest {
  ConfigRequest config;
  bool resume = false, force = false, verbose = false;
  bool keep_going = false;  // leave out what the settings exclude
  bool list_only = false, show_config = false;
};

/// Removes the names that `use` refuses, and says why.
template <class Use>
void leave_out_refused(std::vector<std::string>& names, Use use) {
  std::vector<std::string> kept;
  for (const std::string& name : names) {
    try {
      use(name);
      kept.push_back(name);
    } catch (const std::invalid_argument& error) {
      write_error(fmt::format("left out: {}", error.what()));
    }
  }
  if (kept.empty()) throw std::invalid_argument("nothing is left to run; change the settings, or the tasks and encodings");
  names = std::move(kept);
}

/// Leaves out the tasks that cannot be trained with these settings, and the encodings that cannot on one of the others.
void leave_out_impossible(Config& config) {
  std::vector<ModelShape> shapes;
  leave_out_refused(config.tasks, [&](const std::string& task) { shapes.push_back(setup_task(config, task).shape); });
  leave_out_refused(config.encodings, [&](const std::string& encoding) {
    for (const ModelShape& shape : shapes) make_model(Spec::parse(encoding), shape);
  });
}

void print_list(const Suite& suite) {
  for (const ExperimentId& id : ids(suite.experiments)) fmt::print("{} {} {}\n", id.task, id.encoding, id.seed);
}

int run(Request& request) {
  if (request.verbose && is_quiet()) throw std::invalid_argument("--verbose and --quiet exclude each other; give one");
  request.existing = request.resume ? Existing::resume : request.force ? Existing::replace : Existing::refuse;
  request.verbosity = is_quiet() ? Verbosity::quiet : request.verbose ? Verbosity::verbose : Verbosity::normal;
  Config config = make_config(request.config);
  if (request.keep_going) leave_out_impossible(config);
  if (request.show_config) {
    fmt::print("{}\n", to_json(config).dump(2));
    return 0;
  }
  if (request.list_only) {
    print_list(make_suite(config, request.shard));
    return 0;
  }
  return run(config, request);
}

void add_what(CLI::App& command, Request& request) {
  add_list_option(command, "-t,--tasks", request.config.tasks,
                  "comma-separated specs and globs, in any case; may be repeated; a leading - excludes; all is all")
      ->default_str("those of the profile");
  add_list_option(command, "-e,--encodings", request.config.encodings, "the same for encodings, as in -e 'all,-dape*'")
      ->default_str("those of the profile");
  command.add_option("-s,--seeds", request.config.seeds, "how many (3), or which (0,5,7)")
      ->default_str("those of the profile");
  add_configuration(command, request.config);
  command
      .add_option(
          "--learning-rates", request.config.learning_rates,
          "several learning rates, as in 3e-4,1e-3,3e-3: each experiment is trained at each of them, and tested at the one "
          "that is best in validation")
      ->default_str("that of the profile");
  command
      .add_option("--sweep", request.config.sweeps,
                  "a grid, as in --sweep model.width=32,64 --sweep task.length=16,32: every value with every other, of "
                  "settings, task.OPTION and encoding.OPTION; may be repeated")
      ->default_str("none")
      ->take_all()
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_list_option(command, "--extend", request.config.extend,
                  "test every trained model under these encodings too, or those of one encoding, as in "
                  "--extend 'none,rope->interpolated'; with --set extend.steps=100 also after further training")
      ->default_str("none");
  command
      .add_option("--match-compute", request.config.match_compute,
                  "an encoding, as in --match-compute none: every other gets the steps that take the same core time "
                  "(docs/protocol.md)")
      ->default_str("all get the same steps");
  command
      .add_option_function<std::string>(
          "--shard", [&request](const std::string& text) { request.shard = Shard::parse(text); },
          "K/N: every N-th experiment from the K-th on; 'posbench merge' joins the N runs")
      ->default_str("1/1");
  command.add_flag("--keep-going", request.keep_going,
                   "leave out, with a message, the tasks and encodings that the settings exclude, instead of refusing");
}

void add_how(CLI::App& command, Request& request) {
  command.add_option("-j,--jobs", request.jobs, "experiments at once, one thread each")
      ->default_str("all cores")
      ->check(CLI::Range(1, 4096));
  command.add_option("-o,--output", request.directory, "run directory")->default_str("runs/DATE-TIME");
  command
      .add_option("--checkpoint-every", request.checkpoint_every,
                  "seconds of an experiment between two checkpoints; 0: one after every step")
      ->check(CLI::Range(0.0, 1e9));
  command.add_flag("--save-models", request.save_models,
                   "save the trained models as models/*.safetensors in the run directory");
  command.add_flag("--trace-loss", request.trace_loss,
                   "save the loss of every step as losses/*.csv in the run directory");
  command.add_flag("--live", request.live,
                   "write report.html of the run again whenever experiments finish; an open browser reloads it");
  CLI::Option* resume = command.add_flag("--resume", request.resume, "continue the run of an existing directory");
  command.add_flag("--rerun-failed", request.rerun_failed,
                   "with --resume: run the experiments that diverged or failed again")
      ->needs(resume);
  command.add_flag("--force", request.force, "replace an existing run directory")->excludes(resume);
  command.add_flag(
      "--fail-fast", request.fail_fast,
      "stop, with exit code 1, as soon as an experiment diverges or fails; --resume continues the run");
  command.add_flag("--list-only", request.list_only, "print the experiments, a line each: task, encoding, seed");
  command.add_flag("--dry-run", request.dry_run,
                   "print the experiments, their parameters and, from a calibration of some seconds, their time");
  command.add_flag("--show-config", request.show_config, "print the configuration that results, as JSON");
  command.add_flag("-v,--verbose", request.verbose, "print learning curves during training");
  add_color(command, request.color);
}

}  // namespace

void add_run(CLI::App& app, Invocation& invocation) {
  const auto request = std::make_shared<Request>();
  CLI::App* command = app.add_subcommand("run", "Train every encoding on every task and report accuracy");
  add_what(*command, *request);
  add_how(*command, *request);
  command->footer(
      "Examples:\n"
      "  posbench run                                        the quick profile\n"
      "  posbench run -e cope,rope -t flip_flop -s 3 -o out  two encodings on one task, three seeds\n"
      "  posbench run -e cope:positions=16 -e 'rope*' --set training.steps=2e3\n"
      "  posbench run --learning-rates 3e-4,1e-3,3e-3        each experiment at the best of three in validation\n"
      "  posbench run -t flip_flop -e rope,alibi --sweep task.length=16,32,64 --sweep model.width=32,64\n"
      "  posbench run -t flip_flop -e rope --extend none,interpolated --set extend.steps=100 --set extend.length=4x\n"
      "  posbench run --config out/report.json -o again      repeats a run\n"
      "  posbench run -o out --live                          and out/report.html follows it in a browser\n"
      "  posbench run --profile standard --shard 3/16 -o out/3 --resume\n"
      "                                                      a sixteenth of a suite, started or resumed\n"
      "However a run ends, its finished experiments are kept, and 'posbench report' shows them. The same command\n"
      "with --resume continues the run, and an experiment from its last checkpoint; the report is the same bytes as\n"
      "that of an uninterrupted run, except for context and timing. The first Ctrl-C, SIGTERM or SIGHUP saves the\n"
      "experiments that are running; a second ends the run at once.\n"
      "Exit codes: 0 fine; 1 an experiment diverged or failed, a file could not be written or memory ran out;\n"
      "2 bad usage or input; 130 interrupted; 128 and a signal's number where it ended the run at once.");
  command->callback([request, &invocation] {
    request->command = invocation.words;
    invocation.code = run(*request);
  });
}

}  // namespace posbench
