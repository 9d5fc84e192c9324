#include "harness/commands/execute_run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/cores.h"
#include "base/error.h"
#include "base/file.h"
#include "base/parallel_for.h"
#include "base/printable.h"
#include "base/signals.h"
#include "base/text.h"
#include "harness/commands/run_observer.h"
#include "harness/console/message.h"
#include "harness/console/output.h"
#include "harness/runs/loss_trace.h"
#include "harness/runs/provenance.h"
#include "harness/runs/reuse.h"
#include "harness/runs/time_estimate.h"

namespace posbench {
namespace {

std::stop_source interruption;  // by a signal

/// The first signal stops the run after its current step with its validation, or after up to 64 test sequences. A
/// second signal ends the program at once. No code registers a callback for the stop, so that requesting it only
/// sets an atomic flag.
void on_signal(int signal) {
  if (!interruption.request_stop()) end_by_signal(signal);
}

/// Quotes a word for a shell.
std::string quoted(const std::string& word) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) || std::strchr("_./:=,+-@%", c) != nullptr; };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string text = "'";
  if (to_printable(word) == word) {
    for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
    return text + "'";
  }
  for (const unsigned char c : word)
    text += plain(c) ? std::string(1, static_cast<char>(c)) : fmt::format("\\x{:02x}", c);
  return "$" + text + "'";
}

/// Returns the numbers of stored experiments and of checkpoints, and the command that continues the run.
std::string how_to_resume(const ExecutionOptions& request, const RunDirectory& directory, size_t experiments) {
  std::vector<std::string> words;
  for (const std::string& word : request.command) {
    if (word != "--force" && word != "--resume") words.push_back(quoted(word));
  }
  if (!request.directory) words.insert(words.end(), {"-o", quoted(directory.path().string())});
  std::string stored;
  try {
    directory.check_in_place();
    const size_t checkpoints = directory.count_checkpoints();
    stored = fmt::format(
        "{} of {} experiments are stored{}. To continue:", count_finished(directory.record()), experiments,
        checkpoints > 0
            ? fmt::format(", and {} more {} a checkpoint", checkpoints, checkpoints == 1 ? "has" : "have")
            : "");
  } catch (const FileError&) {
    stored = "the run directory no longer exists. To start again, or to continue when it is back:";
  }
  if (request.needs_resume_flag) words.push_back("--resume");
  return fmt::format("{}\n  {}\n", stored, fmt::join(words, " "));
}

/// Creates a folder that is named after the time, also if another run starts in this second.
std::filesystem::path make_default_directory() {
  const std::string name = fmt::format("runs/{:%Y%m%d-%H%M%S}", fmt::localtime(std::time(nullptr)));
  std::filesystem::path path = name;
  check_output_folder(path, path);
  for (int n = 2; !make_new_folder(path); ++n) path = fmt::format("{}-{}", name, n);
  return path;
}

/// Returns the number of results of the experiment that the run does not have yet.
size_t count_missing(const Experiment& e, const RunDirectory& directory) {
  const std::vector<ExperimentId> ids = e.ids();
  return static_cast<size_t>(std::count_if(
      ids.begin(), ids.end(), [&](const ExperimentId& id) { return !directory.finished().contains(id); }));
}

/// Runs the unfinished experiments and stores their results. Those of tuning seeds come first.
void run_pending(const ExecutionOptions& request, const Suite& suite, int jobs, RunDirectory& directory) {
  const std::filesystem::path& path = directory.path();
  double total_work = 0;
  size_t missing = 0;  // results
  const auto find_pending = [&](const std::vector<Experiment>& experiments, const auto& is_needed) {
    std::vector<Experiment> pending;
    for (const Experiment& e : experiments) {
      const size_t count = count_missing(e, directory);
      if (count == 0 || !is_needed(e)) continue;
      missing += count;
      total_work += e.cost.all();
      pending.push_back(e);
    }
    return pending;
  };
  std::vector<Experiment> pending = find_pending(suite.experiments, [](const Experiment&) { return true; });
  const size_t reported = missing;
  const std::vector<Experiment> tuning = find_pending(suite.tuning, [&](const Experiment& of) {
    return std::ranges::any_of(pending, [&](const Experiment& e) { return is_tuned_by(e, of); });
  });
  const size_t at_once = std::min(pending.size(), static_cast<size_t>(jobs));
  if (!is_quiet()) {
    const std::string first = tuning.empty() ? "" : fmt::format(" after {} of tuning seeds", tuning.size());
    write_message(fit_line(fmt::format("{}; {} of {} experiments to run{}, {} at once{}, into {}", version(),
                                       reported, ids(suite.experiments).size(), first, at_once,
                                       limit_text(usable_cores()), to_printable(path.string()))));
  }
  if (pending.empty()) return;
  directory.make_folders();
  if (request.trace_loss) make_folder(path / kLossFolder);

  RunObserver observer(request, {missing, at_once, total_work}, directory);
  run_suite(tuning, jobs, interruption, observer, request.threads);
  if (!interruption.stop_requested()) {
    tune(pending, suite.tuning,
         [&](const ExperimentId& id) -> const ExperimentResult& { return directory.finished().at(id).result; });
    run_suite(pending, jobs, interruption, observer, request.threads);
  }
}

/// Returns a row for each experiment.
Table experiments_table(const std::vector<Experiment>& experiments, const TimeEstimate& plan) {
  Table table{
      {{"task"}, {"encoding"}, {"seed", Align::right}, {"parameters", Align::right}, {"seconds", Align::right}},
      {}};
  for (size_t i = 0; i < plan.seconds.size(); ++i) {
    const Experiment& e = experiments[i];
    const std::string extended = e.tuning ? " (tuning)"
                                 : e.extensions.empty()
                                     ? ""
                                     : fmt::format(" and {} of its extensions", e.extensions.size());
    table.rows.push_back({e.task->spec, e.encoding_text + extended, fmt::format("{}", e.seed),
                          fmt::format("{}", count_parameters(e)), fmt::format("{:.1f}", plan.seconds[i])});
  }
  return table;
}

/// Returns a row for each task or encoding, which `name` returns, or as many as fit on a screen.
Table sums_table(const char* title, const Suite& suite, const TimeEstimate& plan,
                 const std::function<std::string(const Experiment&)>& name) {
  Table table{{{title}, {"experiments", Align::right}, {"parameters", Align::right}, {"core time", Align::right}},
              {}};
  for (const TimeSums& sums : sum_times(suite, plan, 15, name)) {
    table.rows.push_back(
        {sums.name, fmt::format("{}", sums.experiments),
         sums.least == sums.most ? fmt::format("{}", sums.most) : fmt::format("{} to {}", sums.least, sums.most),
         format_duration(sums.seconds)});
  }
  return table;
}

/// Prints the experiments of --dry-run, their parameters and estimated time.
void print_plan(const Suite& suite, int jobs, int threads, bool is_full) {
  if (suite.experiments.empty()) {
    fmt::print("0 experiments\n");
    return;
  }
  const TimeEstimate plan = [&] {
    Progress status("measuring how long experiments take");
    return estimate_time(suite, jobs, threads,
                         [&](size_t done, size_t total) { status.set_progress(done, total); });
  }();
  Document document;
  if (is_full || suite.experiments.size() <= 24) {  // they fit on a screen
    document.blocks = {experiments_table(suite.experiments, plan)};
  } else {
    document.blocks = {sums_table("task", suite, plan, [](const Experiment& e) { return e.task->spec; }),
                       sums_table("encoding", suite, plan, [](const Experiment& e) { return e.encoding_text; }),
                       Note{"--full lists each experiment."}};
  }
  int most = 1;
  for (const Experiment& e : suite.experiments) most = std::max(most, e.settings().extend_while_gaining);
  document.blocks.push_back(
      Note{fmt::format("{}; about {} of core time, {} with {}{}",
                       counted(ids(suite.experiments).size(), "experiment"), format_duration(plan.core_seconds),
                       format_duration(plan.wall_seconds), counted(static_cast<size_t>(plan.jobs), "job"),
                       plan.threads > 1 ? fmt::format(" of {} threads", plan.threads) : "")});
  if (most > 1)
    document.blocks.push_back(Note{
        fmt::format("up to {} times the training if models still gain (training.extend_while_gaining)", most)});
  write_document({}, document);
}

/// Runs the unfinished experiments, measures the trivial predictors and writes the report. Empty if it was
/// interrupted.
std::optional<SummarizedReport> run_into(const ExecutionOptions& request, const Suite& suite, int jobs, Json about,
                                         RunDirectory& directory) {
  run_pending(request, suite, jobs, directory);
  if (interruption.stop_requested()) return std::nullopt;
  directory.remove_checkpoints();
  const std::vector<TaskBaseline> baselines = [&] {
    const Progress status("measuring trivial predictors");
    return measure_baselines(suite, jobs, interruption.get_token());
  }();
  if (interruption.stop_requested()) return std::nullopt;
  about["finished"] = timestamp();
  return directory.write_report(baselines, std::move(about));
}

/// Returns the experiments that other runs give. Throws InputError if one of them gives none, unless a shard was
/// requested or `refuse_useless` is false. Throws it also if models are to be saved, or if --force would delete
/// one of these runs.
ReusedResults read_results_of_others(const Suite& suite, const ExecutionOptions& request) {
  if (request.reuse.empty()) return {};
  if (request.save_models) {
    throw InputError(
        "--reuse: this run saves models (--save-models), and the models of the other run are not copied; leave one out");
  }
  for (const std::filesystem::path& path : request.reuse) {
    std::error_code ignored;
    const std::filesystem::path whole = weakly_canonical(path, ignored);
    const std::filesystem::path folder = is_directory(whole, ignored) ? whole : whole.parent_path();
    if (request.existing == Existing::replace && request.directory &&
        equivalent(folder, *request.directory, ignored)) {
      throw InputError(
          fmt::format("--reuse: {} is in the run that --force replaces; choose another -o", path.string()));
    }
  }
  ReusedResults reused = read_reusable(suite, request.reuse);
  for (const std::string& useless : reused.useless) {
    if (request.refuse_useless && request.shard.of == 1)
      throw InputError(fmt::format(
          "--reuse: {} ('--config REPORT' repeats the tasks, encodings and settings of a run)", useless));
    write_note("note: " + useless);
  }
  for (const std::string& note : reused.notes) write_note(note);
  return reused;
}

/// Leaves out reused results of experiments that the run has begun, so that an extension has the same training as
/// the model that it extends.
void leave_out_begun(const Suite& suite, const RunDirectory& directory, ReusedResults& reused) {
  for (const Experiment& e : suite.experiments) {
    const std::vector<ExperimentId> ids = e.ids();
    if (count_missing(e, directory) == ids.size()) continue;
    for (const ExperimentId& id : ids) reused.finished.erase(id);
  }
}

}  // namespace

int execute_run(const RunConfig& config, const ExecutionOptions& request) {
  Suite suite = make_suite(config, request.shard);
  ReusedResults reused = read_results_of_others(suite, request);
  for (const auto& task : suite.tasks) {
    for (const std::string& split : task->skipped_splits)
      write_note(fmt::format("task '{}' is tested without {}", task->spec, split));
  }
  const int jobs = request.jobs > 0 ? request.jobs : std::max(1, count_cores() / std::max(1, request.threads));
  if (request.dry_run) {
    leave_out_reused(suite, reused);
    suite.experiments.insert(suite.experiments.begin(), suite.tuning.begin(), suite.tuning.end());
    print_plan(suite, jobs, request.threads, request.full);
    return 0;
  }

  interruption = std::stop_source();
  const SignalGuard signals(on_signal);
  Manifest manifest{.config = to_json(config),
                    .context = provenance(request.command),
                    .shard = request.shard,
                    .save_models = request.save_models};
  manifest.experiments = ids(suite.experiments);
  manifest.tuning = ids(suite.tuning);
  RunDirectory directory(request.directory ? *request.directory : make_default_directory(), request.existing,
                         std::move(manifest));
  leave_out_begun(suite, directory, reused);
  directory.import_results(std::move(reused.finished));
  Json about = directory.record().manifest.context;
  if (request.shard.of > 1) about["shard"] = request.shard.text();
  if (!directory.dropped().empty()) write_message(to_one_line(directory.dropped()) + "\n");
  const auto stopped = [&](const std::string& why) {
    write_message(fmt::format("{}; {}", to_one_line(why),
                              how_to_resume(request, directory, directory.record().manifest.experiments.size())));
  };
  std::optional<SummarizedReport> report;
  try {
    report = run_into(request, suite, jobs, std::move(about), directory);
  } catch (const FileError& error) {
    stopped(fmt::format("posbench: {}", error.what()));
    return 1;
  } catch (const std::bad_alloc&) {
    stopped(
        "posbench: out of memory with one experiment at a time; use smaller models or sequences, or more memory");
    return 1;
  }
  if (report) return request.print_summary ? print_summary(*report, directory.path()) : 0;
  stopped("interrupted");
  return 130;
}

}  // namespace posbench
