// `posbench run`: the training and test of encodings on tasks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "base/spec.h"
#include "encodings/aliases.h"
#include "encodings/registry.h"
#include "harness/commands/commands.h"
#include "harness/commands/execute_run.h"
#include "harness/config/names.h"
#include "harness/config/sweep.h"
#include "harness/config/user_files.h"
#include "harness/console/message.h"
#include "harness/console/output.h"
#include "harness/runs/loss_trace.h"
#include "harness/runs/provenance.h"
#include "harness/runs/run_record.h"
#include "harness/runs/suite.h"
#include "results/types/experiment_result.h"

namespace posbench {
namespace {

struct Request : ExecutionOptions {
  ConfigArguments config;
  bool resume = false, force = false;
  bool list_only = false, show_config = false;
};

/// The tasks or the encodings of a run. One that only a pattern of the command line selects may be left out.
template <class AnySpec>
struct Selected {
  std::vector<AnySpec>& specs;
  std::optional<std::string> list;  // of the command line
  std::set<std::string> named;      // specs that the list has without a pattern

  bool is_named(const std::string& spec) const { return !list || named.contains(spec); }
};

template <class AnySpec>
Selected<AnySpec> selected(std::vector<AnySpec>& specs, const std::optional<std::string>& list,
                           AnySpec (*read)(const std::string&)) {
  Selected<AnySpec> selected{specs, list, {}};
  for (const std::string& item : split_specs(list.value_or(""))) {
    if (!item.starts_with('-') && !is_pattern(item)) selected.named.insert(read(item).text());
  }
  return selected;
}

bool has_pattern(const std::optional<std::string>& list) {
  return list && std::ranges::any_of(split_specs(*list), is_pattern);
}

/// Removes the specs that `use` refuses, which one note names. The error of a spec is thrown if the user named it,
/// or if no spec remains.
template <class AnySpec, class Use>
void leave_out_refused(const Selected<AnySpec>& selection, Use use) {
  std::vector<AnySpec> accepted;
  std::vector<std::string> left_out;
  std::string reason;
  for (const AnySpec& spec : selection.specs) {
    const std::string text = spec.text();
    try {
      use(spec);
      accepted.push_back(spec);
    } catch (const InputError& error) {
      if (selection.is_named(text)) throw;
      if (left_out.empty()) reason = error.what();
      left_out.push_back(text);
    }
  }
  if (accepted.empty()) {
    throw InputError(fmt::format("'{}' selects nothing that these settings allow: {}", *selection.list, reason));
  }
  selection.specs = std::move(accepted);
  if (left_out.empty()) return;
  write_note(fmt::format("note: '{}' leaves out {}, because these settings exclude {}: {}", *selection.list,
                         fmt::join(left_out, ", "), left_out.size() == 1 ? "it" : "them", reason));
}

/// Leaves out the tasks that these settings or an encoding named by the user exclude, and then the encodings that
/// cannot be used on one of the remaining tasks.
void leave_out_incompatible(RunConfig& config, const Request& request) {
  if (!has_pattern(request.config.tasks) && !has_pattern(request.config.encodings)) return;
  const auto tasks = selected(config.tasks, request.config.tasks, read_task);
  const auto encodings = selected(config.encodings, request.config.encodings, read_encoding);
  std::vector<ModelConfig> models;
  leave_out_refused(tasks, [&](const TaskSpec& task) {
    RunConfig one = config;
    one.tasks = {task};
    for (const SweptTask& swept : swept_tasks(one)) {
      const ModelConfig model = setup_task(config, swept.spec).model_config;
      for (const Spec& encoding : config.encodings) {
        if (encodings.is_named(encoding.text())) make_model(encoding, model);
      }
      models.push_back(model);
    }
  });
  leave_out_refused(encodings, [&](const Spec& encoding) {
    RunConfig one = config;
    one.encodings = {encoding};
    for (const SweptEncoding& swept : swept_encodings(one)) {
      for (const ModelConfig& model : models) make_model(swept.spec, model);
    }
  });
}

void print_list(const Suite& suite) {
  for (const ExperimentId& id : ids(suite.experiments)) print_text("{} {} {}\n", id.task, id.encoding, id.seed);
}

/// Returns true if the command continues a run directory and sets nothing of its configuration. Throws InputError
/// if there is no such directory.
bool continues_stored_run(const Request& request) {
  if (!request.resume) return false;
  if (!request.directory) throw InputError("--resume needs -o DIR, the directory of the run to continue");
  if (request.config != ConfigArguments{}) return false;
  if (!std::filesystem::exists(*request.directory / kManifestFile))
    throw InputError(
        fmt::format("--resume: {} has no run to continue; correct -o, or give the options of a new run",
                    request.directory->string()));
  return true;
}

/// Saves losses if the run to continue does. Throws InputError if it has trained without saving them.
void continue_trace(Request& request) {
  if (!request.resume || !request.directory) return;
  const bool has_losses = std::filesystem::exists(*request.directory / kLossFolder);
  request.trace_loss = request.trace_loss || has_losses;
  if (!request.trace_loss || has_losses || !has_begun(*request.directory)) return;
  throw InputError(fmt::format("--resume: {} was started without --trace-loss; leave it out, or start a new run",
                               request.directory->string()));
}

/// Returns the configuration of the run directory, and takes over its shard and which files it writes.
RunConfig read_stored_run(Request& request) {
  const std::filesystem::path path = *request.directory / kManifestFile;
  return read_user_files([&] {
    const Manifest manifest = read_run_manifest(path);
    if (const std::string file = missing_plugin(manifest.context); !file.empty()) {
      throw InputError(
          fmt::format("--resume: {} was trained with the plug-in {}; load the same file with --plugin PATH",
                      request.directory->string(), to_printable(file)));
    }
    if (request.shard == Shard{}) request.shard = manifest.shard;
    request.save_models = request.save_models || manifest.save_models;
    return config_from_json(manifest.config, path.string() + ": config");
  });
}

/// States which encodings the aliases in -e stand for, because tables and reports have the registered names.
void explain_aliases(const ConfigArguments& config) {
  if (!config.encodings) return;
  for (const std::string& item : split_specs(*config.encodings)) {
    const std::string name = spec_name(item);
    const std::vector<std::string> called = encodings_called(name);
    if (called.size() == 1) write_note(fmt::format("'{}' is the encoding '{}'", name, called.front()));
  }
}

int run(Request& request) {
  if (request.verbose && is_quiet()) throw InputError("--verbose and --quiet exclude each other; give one");
  request.existing = request.resume ? Existing::resume : request.force ? Existing::replace : Existing::refuse;
  RunConfig config = continues_stored_run(request) ? read_stored_run(request) : make_config(request.config);
  continue_trace(request);
  explain_aliases(request.config);
  leave_out_incompatible(config, request);
  if (request.show_config) {
    fmt::print("{}\n", to_json(config).dump(2));
    return 0;
  }
  if (request.list_only) {
    print_list(make_suite(config, request.shard));
    return 0;
  }
  return execute_run(config, request);
}

void add_selection(Command& command, Request& request) {
  command
      .list(
          "-t,--tasks", request.config.tasks, ValueKind::task,
          "comma-separated tasks: names, specs and globs, in any case; 'all' for all; aspect:NAME for those that test "
          "recall, counting, copying, order, state_tracking, arithmetic, hierarchy or aggregation, without those marked "
          "control or open; a leading - excludes; may be repeated")
      .default_text("those of the profile");
  command
      .list("-e,--encodings", request.config.encodings, ValueKind::encoding,
            "comma-separated encodings in the same form, as in -e 'all,-dape*'")
      .default_text("those of the profile");
  command
      .text("-s,--seeds", request.config.seeds,
            "number of seeds (3), or the seeds themselves (0,5,7 or 8..12; 0, is one seed)")
      .default_text("those of the profile");
  add_configuration(command, request.config);
}

void add_variations(Command& command, Request& request) {
  command
      .text(
          "--learning-rates", request.config.learning_rates,
          "several learning rates, as in 3e-4,1e-3,3e-3: each experiment is trained at all of them and tested at "
          "the one that is best in validation")
      .default_text("that of the profile");
  command
      .name("--sweep", request.config.sweeps, ValueKind::setting,
            "values of a setting, a task.OPTION or an encoding.OPTION, as in --sweep model.width=32,64; repeated, "
            "every value with every other")
      .repeated()
      .default_text("none");
  command
      .list("--extend", request.config.extend, ValueKind::encoding,
            "encodings with which every trained model is also tested; rope->interpolated is for models of "
            "rope only, as in --extend 'none,rope->interpolated'; with --set extend.steps=100 they are "
            "tested again after 100 steps of further training")
      .default_text("none");
  command
      .name("--match-compute", request.config.match_compute, ValueKind::encoding,
            "encoding whose core time for training all others get; their numbers of steps are adapted "
            "(docs/protocol.md)")
      .default_text("none, so that all get the same number of steps");
  command
      .text(
          "--shard", [&request](const std::string& text) { request.shard = Shard::parse(text); },
          "part of the experiments, K/N: every N-th from the K-th on; 'posbench merge' joins the N runs")
      .default_text("1/1");
}

void add_directory(Command& command, Request& request) {
  command.folder("-o,--output", request.directory, "run directory to write")
      .default_text("runs/DATE-TIME")
      .output();
  command.flag("--resume", request.resume,
               "continue the run of an existing directory from its last checkpoints; without other "
               "settings it uses the stored configuration; with a profile, tasks, encodings or "
               "settings it starts a new run if the directory has none");
  command.flag("--force", request.force, "replace an existing run directory").excludes("--resume");
  command
      .file(
          "--reuse", request.reuse,
          "runs or reports whose experiments are taken over, if the task, the encoding, the seed and all settings are the "
          "same; only the others are trained, and those that diverged or failed")
      .default_text("none");
  command.number("--checkpoint-every", request.checkpoint_every, 0.0, 1e9,
                 "seconds between two checkpoints of an experiment; 0: a checkpoint after every step");
  command.flag("--save-models", request.save_models,
               "save the trained models as models/*.safetensors in the run directory");
  command.flag("--trace-loss", request.trace_loss,
               "save the loss of every step as losses/*.csv in the run directory");
}

void add_execution(Command& command, Request& request) {
  command.number("-j,--jobs", request.jobs, 1, 4096, "number of experiments at once")
      .default_text("as many as there are cores for their threads");
  command
      .number(
          "--threads", request.threads, 1, 4096,
          "number of threads of each experiment, for its tests and for the groups of a batch (training.groups)")
      .default_text("one, and cores that are idle");
  command.flag("--list-only", request.list_only,
               "print the experiments, one line each (task, encoding, seed), and run nothing");
  command
      .flag("--dry-run", request.dry_run,
            "print the number of experiments, their parameters and their estimated time, and run nothing")
      .excludes("--list-only");
  add_full(command, request.full).needs("--dry-run");
  command.flag("--show-config", request.show_config, "print the resulting configuration as JSON and run nothing")
      .excludes("--list-only")
      .excludes("--dry-run");
  command.flag("-v,--verbose", request.verbose,
               "print the loss and the accuracy of each validation during training");
}

}  // namespace

void add_run(CommandLine& line) {
  const auto request = std::make_shared<Request>();
  Command& command = line.add(kRunning, "run", "Train every encoding on every task, test it and write a report");
  add_selection(command, *request);
  add_variations(command, *request);
  add_directory(command, *request);
  add_execution(command, *request);
  command.explain(
      {{"posbench run", "the profile quick: 7 encodings on 7 tasks"},
       {"posbench run -e cope,rope -t flip_flop -s 3 -o out", "two encodings on one task, three seeds"},
       {"posbench run -e 'rope*,cope:positions=16' -t all --dry-run", "globs, options, estimated time"},
       {"posbench run -e rope,cope -t aspect:recall --dry-run", "the tasks that test recall"},
       {"posbench run -e cope --set training.steps=2e3", "another number of steps"},
       {"posbench run --learning-rates 3e-4,1e-3,3e-3", "each experiment at the best of three in validation"},
       {"posbench run -t flip_flop -e rope,alibi --sweep task.length=16,32,64 --sweep model.width=32,64", ""},
       {"posbench run -t flip_flop -e rope --extend none,interpolated --set extend.steps=100", ""},
       {"posbench run -t all -e all --set model.attention=bidirectional",
        "what these settings exclude is left out"},
       {"posbench run --config out/report.json -o again", "the run of a report again"},
       {"posbench run --resume -o out", "the same run, after an interruption"},
       {"posbench run --config out/report.json -s 10 --reuse out -o more",
        "ten seeds; only the new ones are trained"},
       {"posbench run --profile standard --shard 3/16 -o out/3", "a sixteenth of a suite"},
       {"posbench run -t flip_flop:length=256 -e cope -s 1 --set training.groups=8",
        "one experiment on up to 8 cores"}},
      {"The configuration is that of the profile; then --config, then --set and the other options replace parts of it. "
       "A report has a whole configuration and needs no profile. "
       "--show-config prints the result.",
       "The run directory has manifest.json, experiments.jsonl (one line for each finished experiment, written when it "
       "finishes), report.json and the page report.html. The first Ctrl-C, SIGTERM or SIGHUP saves the running "
       "experiments; the second ends the run at once. However a run ends (a signal, a full disk, too little memory), its "
       "finished experiments are stored, and 'posbench run --resume -o DIR' continues it, each experiment from its last "
       "checkpoint. Before that, 'report', 'compare' and 'inspect' read the unfinished run and state how many of its "
       "experiments they show.",
       "--reuse adds seeds, encodings or tasks to a run: -s, -e and -t name the old and the new ones. The other run may be "
       "of another version of posbench; `timing` in report.json has the commit that trained each experiment that was taken "
       "over. Its models and losses are not copied.",
       "An experiment uses idle cores: for its tests, and in training if training.groups divides a batch into several "
       "groups. The report depends on the number of groups. It has the same bytes for any number of jobs, threads, "
       "interruptions and shards, except for its context and timing.",
       "Exit codes: 0 success; 1 an experiment diverged or failed, a file could not be written or memory ran out; 2 "
       "invalid usage or input; 130 interrupted; 128 plus the number of the signal that ended the run at once."});
  command.run([request, &line] {
    request->command = line.arguments;
    return run(*request);
  });
}

}  // namespace posbench
