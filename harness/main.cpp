// The command line. All that a command does is elsewhere; here are its flags, its help and its exit codes:
// 0 fine; 1 it ran and the answer is no; 2 bad usage, configuration or input; 3 internal failure; 130 interrupted.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <Eigen/Core>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "harness/bench_samples.h"
#include "harness/context.h"
#include "harness/describe.h"
#include "harness/documentation.h"
#include "harness/inspect.h"
#include "harness/merge.h"
#include "harness/reports.h"
#include "harness/run.h"
#include "model/kernels.h"

namespace posbench {
namespace {

struct Arguments {
  RunRequest run;
  std::string color = "auto";
  bool resume = false, force = false, quiet = false, verbose = false;

  std::string list_what;
  bool json = false, markdown = false;
  std::string show_name;
  CheckRequest check;
  SampleRequest sample;
  std::string sample_layout = "teacher_forced";
  BenchRequest bench;
  CompareRequest compare;
  MergeRequest merge;
  ReportRequest report;
  InspectRequest inspect;
};

bool wants_color(const std::string& color) {
  if (color != "auto") return color == "always";
  const char* no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && isatty(STDOUT_FILENO) == 1;
}

void add_run(CLI::App& app, Arguments& a, int& code) {
  CLI::App* run = app.add_subcommand("run", "Train every encoding on every task and report accuracy");
  run->add_option("--profile", a.run.config.profile,
                  "named settings ('posbench list profiles'); quick without it");
  run->add_option("-t,--tasks", a.run.config.tasks,
                  "comma-separated specs and globs; a leading - excludes; all is all");
  run->add_option("-e,--encodings", a.run.config.encodings, "the same for encodings, as in -e 'all,-dape*'");
  run->add_option("-s,--seeds", a.run.config.seeds, "how many (3), or which (0,5,7)");
  run->add_option("-j,--jobs", a.run.jobs, "experiments at once, one thread each; all cores without it")
      ->check(CLI::Range(1, 4096));
  run->add_option("-o,--output", a.run.directory, "run directory; runs/DATE-TIME without it");
  run->add_option("--config", a.run.config.file, "a configuration file, or a report, whose run is repeated");
  run->add_option("--set", a.run.config.settings,
                  "one setting, as in --set model.width=128 ('posbench list settings')")
      ->take_all()
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  run->add_option(
      "--learning-rates", a.run.config.learning_rates,
      "several, as in 3e-4,1e-3,3e-3: each experiment is trained at each of them, and tested at the one "
      "that is best in validation");
  run->add_option_function<std::string>(
      "--shard", [&](const std::string& text) { a.run.shard = Shard::parse(text); },
      "K/N: every N-th experiment from the K-th on; 'posbench merge' joins the N runs");
  run->add_option("--checkpoint-every", a.run.checkpoint_every,
                  "seconds of an experiment between two checkpoints (60); 0: one after every step")
      ->check(CLI::Range(0.0, 1e9));
  run->add_flag("--save-models", a.run.save_models, "keep what was learned, in models/*.safetensors of the run");
  run->add_flag("--dry-run", a.run.dry_run,
                "print the experiments, their parameters and, from a calibration of some seconds, their time");
  run->add_flag("--show-config", a.run.show_config, "print the configuration that results, as JSON");
  CLI::Option* resume = run->add_flag("--resume", a.resume, "go on with an existing run directory");
  run->add_flag("--force", a.force, "replace an existing run directory")->excludes(resume);
  CLI::Option* quiet = run->add_flag("-q,--quiet", a.quiet, "no progress");
  run->add_flag("-v,--verbose", a.verbose, "learning curves as they come")->excludes(quiet);
  run->add_option("--color", a.color, "auto, always or never")->check(CLI::IsMember({"auto", "always", "never"}));
  run->footer(
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
  run->callback([&] {
    a.run.existing = a.resume ? Existing::resume : a.force ? Existing::replace : Existing::refuse;
    a.run.verbosity = a.quiet ? Verbosity::quiet : a.verbose ? Verbosity::verbose : Verbosity::normal;
    a.run.color = wants_color(a.color);
    code = posbench::run(a.run);
  });
}

void add_list(CLI::App& app, Arguments& a) {
  CLI::App* list = app.add_subcommand("list", "List tasks, encodings, profiles or settings");
  list->add_option("what", a.list_what, "tasks, encodings, profiles or settings")
      ->required()
      ->check(CLI::IsMember({"tasks", "encodings", "profiles", "settings"}));
  CLI::Option* json = list->add_flag("--json", a.json, "as JSON, with options and all that is known");
  list->add_flag("--markdown", a.markdown, "as a page of tasks or encodings, with what is measured of each")
      ->excludes(json);
  list->footer("Examples:\n  posbench list encodings\n  posbench list tasks --json");
  list->callback([&] {
    const std::string text = a.json       ? list_json(a.list_what).dump(2) + "\n"
                             : a.markdown ? page(a.list_what)
                                          : list_text(a.list_what);
    std::fputs(text.c_str(), stdout);
  });
}

void add_show(CLI::App& app, Arguments& a) {
  CLI::App* show =
      app.add_subcommand("show", "Definition, source, options, splits and trivial baselines of one name");
  show->add_option("name", a.show_name, "a task or an encoding, with options if wanted, or a profile")->required();
  show->footer(
      "Examples:\n  posbench show cope\n  posbench show flip_flop:length=64\n"
      "  posbench show standard > mine.json    a profile's settings, to change and give to 'run --config'");
  show->callback([&] { std::fputs(show_text(a.show_name).c_str(), stdout); });
}

void add_sample(CLI::App& app, Arguments& a) {
  CLI::App* sample = app.add_subcommand("sample", "Print examples of a task, in words and in ids");
  sample->add_option("task", a.sample.task, "a task, with options if wanted")->required();
  sample->add_option("-n,--count", a.sample.count, "how many")->check(CLI::Range(1, 1000000));
  sample->add_option("--split", a.sample.split, "which split");
  sample->add_option("--length", a.sample.length, "draw all at this length")->check(CLI::Range(1, 100000));
  sample->add_option("-s,--seed", a.sample.seed, "of the examples");
  sample->add_option("--layout", a.sample_layout, "teacher_forced or slots")
      ->check(CLI::IsMember({"teacher_forced", "slots"}));
  sample->add_flag("--json", a.json, "as JSON");
  sample->footer(
      "Examples:\n  posbench sample flip_flop -n 3 --split ood_sparse\n  posbench sample reverse_string --layout "
      "slots --json");
  sample->callback([&] {
    a.sample.layout = a.sample_layout == "slots" ? Layout::slots : Layout::teacher_forced;
    const std::string text = a.json ? sample_json(a.sample).dump(2) + "\n" : sample_text(a.sample);
    std::fputs(text.c_str(), stdout);
  });
}

void add_check(CLI::App& app, Arguments& a, int& code) {
  CLI::App* check =
      app.add_subcommand("check", "The certificate of encodings and tasks: gradients, causality, generators");
  check->add_option("names", a.check.names,
                    "encodings and tasks, with options or globs if wanted; all of them without a name");
  check->add_flag("--variants", a.check.variants,
                  "each encoding also with the options that take another path through its code");
  check->add_flag("--json", a.check.json, "as JSON");
  check->footer(
      "Examples:\n  posbench check\n  posbench check cope:gates=separate rope flip_flop\n"
      "  posbench check 'dape*' randomized --variants");
  check->callback([&] { code = posbench::check(a.check) ? 0 : 1; });
}

void add_bench(CLI::App& app, Arguments& a) {
  CLI::App* bench =
      app.add_subcommand("bench", "Speed of a training step, beside the machine's matrix-multiply peak");
  bench->add_option("-e,--encodings", a.bench.encodings,
                    "comma-separated specs and globs; none is always measured");
  bench->add_option("--sizes", a.bench.sizes, "quick, che, cope, tiny, or all");
  bench->add_option("-r,--repetitions", a.bench.repetitions, "of which the median is told")
      ->check(CLI::Range(1, 1000));
  bench->add_flag("--samples", a.bench.samples,
                  "the time to draw a sample of length 500 of each Chomsky task, instead of training steps");
  bench->add_flag("--json", a.bench.json, "as JSON, with the spread");
  bench->footer(
      "Examples:\n  posbench bench\n  posbench bench -e all --sizes che,cope --json\n  posbench bench --samples");
  bench->callback([&] {
    a.bench.command = a.run.command;
    a.bench.color = wants_color(a.color);
    a.bench.samples ? bench_samples(a.bench) : posbench::bench(a.bench);
  });
}

void add_merge(CLI::App& app, Arguments& a, int& code) {
  CLI::App* merge =
      app.add_subcommand("merge", "Join the runs of all shards of a suite into the run of the whole");
  merge->add_option("runs", a.merge.runs, "the run directories of 'posbench run --shard', in any order")
      ->required();
  merge->add_option("-o,--output", a.merge.directory, "run directory to write")->required();
  merge->add_flag("--force", a.merge.force, "replace an existing run directory");
  merge->add_option("--color", a.color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  merge->footer(
      "Every experiment must be there once, of one configuration and by this version. The report is the same "
      "bytes\n"
      "as a single run's, but for its context and timing.\n"
      "Examples:\n"
      "  posbench run -o out/1 --shard 1/2 && posbench run -o out/2 --shard 2/2\n"
      "  posbench merge out/1 out/2 -o out/all");
  merge->callback([&] {
    a.merge.command = a.run.command;
    a.merge.color = wants_color(a.color);
    code = posbench::merge(a.merge);
  });
}

const std::map<std::string, Format> kFormats{{"console", Format::console},
                                             {"markdown", Format::markdown},
                                             {"csv", Format::csv},
                                             {"json", Format::json},
                                             {"html", Format::html}};

void add_output(CLI::App& command, Arguments& a, Output& output) {
  command.add_option("-o,--output", output.file, "a file; its ending tells the format: .html, .md, .csv, .json");
  command.add_option("--format", output.format, "console, markdown, csv, json or html")
      ->transform(CLI::CheckedTransformer(kFormats));
  command.add_option("--color", a.color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

void add_compare(CLI::App& app, Arguments& a, int& code) {
  CLI::App* compare =
      app.add_subcommand("compare", "What changed between runs, and is it more than the noise of the seeds?");
  compare->add_option("baseline", a.compare.baseline, "a report, or a run directory")->required();
  compare->add_option("candidates", a.compare.candidates, "one or more of the same")->required();
  compare
      ->add_option("--alpha", a.compare.options.alpha, "chance of any better or worse in a comparison of equals")
      ->check(CLI::Range(1e-9, 0.5));
  compare->add_option("--threshold", a.compare.options.threshold, "smallest difference of accuracy that matters")
      ->check(CLI::Range(0.0, 1.0));
  compare->add_option("--metric", a.compare.options.metric, "sequence or token")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Metric>{{"sequence", Metric::sequence}, {"token", Metric::token}}));
  compare->add_option("--match", a.compare.match, "pair two encodings, as in --match cope=cope:positions=16")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  compare->add_flag("--allow-different-budget", a.compare.options.allow_different_budget,
                    "compare although model or training settings differ");
  compare->add_flag("--fail-on-regression", a.compare.fail_on_regression, "exit code 1 where a row is worse");
  add_output(*compare, a, a.compare.output);
  compare->footer(
      "Examples:\n"
      "  posbench compare before/report.json after/report.json\n"
      "  posbench compare main mine --match cope=cope:positions=16 --format markdown --fail-on-regression");
  compare->callback([&] {
    a.compare.output.color = wants_color(a.color);
    code = posbench::compare(a.compare);
  });
}

void add_report(CLI::App& app, Arguments& a) {
  CLI::App* report = app.add_subcommand(
      "report", "What is in a run: a page of plots, or tables for a terminal, a pull request, a spreadsheet");
  report->add_option("runs", a.report.runs, "reports, or run directories; several stand beside each other")
      ->required();
  add_output(*report, a, a.report.output);
  report->footer(
      "Examples:\n"
      "  posbench report runs/mine                      tables\n"
      "  posbench report runs/mine -o mine.html         one file with plots, which opens offline\n"
      "  posbench report before after --format markdown");
  report->callback([&] {
    a.report.output.color = wants_color(a.color);
    posbench::report(a.report);
  });
}

void add_inspect(CLI::App& app, Arguments& a) {
  CLI::App* inspect = app.add_subcommand(
      "inspect", "What a trained encoding learned: positional scores, attention, gates, biases");
  inspect->add_option("run", a.inspect.run, "a run directory of 'posbench run --save-models'")->required();
  inspect->add_option("task", a.inspect.task, "a task of the run, with options as there")->required();
  inspect->add_option("encoding", a.inspect.encoding, "an encoding of the run, with options as there")->required();
  inspect->add_option("-s,--seed", a.inspect.seed, "of the experiment; 0 without it");
  inspect->add_option("--split", a.inspect.split, "whose examples; in_distribution without it");
  inspect->add_option("--example", a.inspect.example, "its number; 0 without it");
  inspect->add_option("--length", a.inspect.length, "of the example, in the task's unit")
      ->check(CLI::Range(1, 100000));
  inspect->add_option("--query", a.inspect.query, "the place that tables tell of; the last scored one without it")
      ->check(CLI::Range(0, 1000000));
  add_output(*inspect, a, a.inspect.output);
  inspect->footer(
      "Examples:\n"
      "  posbench inspect runs/mine flip_flop cope --seed 1\n"
      "  posbench inspect runs/mine flip_flop cope --split ood_sparse -o cope.html");
  inspect->callback([&] {
    a.inspect.output.color = wants_color(a.color);
    posbench::inspect(a.inspect);
  });
}

int run_command_line(int argc, char** argv) {
  CLI::App app{"posbench: what can a transformer's position encoding do, and where does it break?"};
  app.set_version_flag("--version", version());
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  posbench run                   train and test the core encodings on the core tasks\n"
      "  posbench check mine            prove an encoding's gradients, or a task's generator\n"
      "  posbench show cope             what it computes, and its options\n"
      "Exit codes: 0 fine; 1 it ran and the answer is no; 2 bad usage or input; 3 internal failure; 130 "
      "interrupted.");
  Arguments arguments;
  arguments.run.command.assign(argv, argv + argc);
  int code = 0;
  add_run(app, arguments, code);
  add_list(app, arguments);
  add_show(app, arguments);
  add_sample(app, arguments);
  add_check(app, arguments, code);
  add_merge(app, arguments, code);
  add_compare(app, arguments, code);
  add_report(app, arguments);
  add_inspect(app, arguments);
  add_bench(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "posbench: %s ('posbench %s--help' shows the usage)\n", error.what(),
                 app.get_subcommands().empty() ? "" : (app.get_subcommands()[0]->get_name() + " ").c_str());
    return 2;
  }
  return code;
}

}  // namespace
}  // namespace posbench

int main(int argc, char** argv) {
  // Eigen cuts long sums where the caches of the machine suggest; fixed sizes give the same bytes on every
  // machine.
  Eigen::setCpuCacheSizes(32 << 10, 512 << 10, 4 << 20);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that outgrows a limit is an error of write() like a full disk
  try {
    if (const char* name = std::getenv("POSBENCH_ISA")) posbench::use_instruction_set(name);
    return posbench::run_command_line(argc, argv);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "posbench: %s\n", error.what());
    return 2;
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "posbench: %s\n", error.what());
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "posbench: internal failure: %s\n", error.what());
    return 3;
  }
}
