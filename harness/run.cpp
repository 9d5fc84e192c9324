#include "harness/run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/context.h"
#include "harness/suite.h"
#include "results/report_page.h"
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

void print_summary(const Report& report, bool color) {
  const Summary summary = summarize(report);
  print(accuracy_table(summary), color);
  for (const std::string& note : accuracy_notes(summary)) fmt::print("{}\n", note);
  const Table unfinished = unfinished_table(report);
  if (!unfinished.rows.empty()) {
    fmt::print("\n");
    print(unfinished, color);
  }
}

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

/// The command that goes on where this one was interrupted.
std::string resuming_command(const RunRequest& request, const std::filesystem::path& directory) {
  std::vector<std::string> words;
  for (const std::string& word : request.command) {
    if (word != "--force" && word != "--resume") words.push_back(word);
  }
  if (!request.directory) words.insert(words.end(), {"-o", directory.string()});
  return fmt::format("{} --resume", fmt::join(words, " "));
}

std::filesystem::path default_directory() {
  return fmt::format("runs/{:%Y%m%d-%H%M%S}", fmt::localtime(std::time(nullptr)));
}

}  // namespace

int run(const RunRequest& request) {
  const Config config = make_config(request.config);
  const Json config_json = to_json(config);
  if (request.show_config) {
    fmt::print("{}\n", config_json.dump(2));
    return 0;
  }
  const Suite suite = make_suite(config);
  const int jobs =
      request.jobs > 0 ? request.jobs : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  if (request.dry_run) {
    print_plan(suite, jobs, request.color);
    return 0;
  }

  Json about = context(request.command);
  std::vector<ExperimentId> ids;
  for (const Experiment& e : suite.experiments) ids.push_back(e.id());
  RunDirectory directory(request.directory.value_or(default_directory()), request.existing, config_json, about,
                         ids);
  if (!directory.dropped().empty()) fmt::print(stderr, "{}\n", directory.dropped());

  std::vector<Experiment> open;
  double total_work = 0;
  for (const Experiment& e : suite.experiments) {
    if (directory.finished().count(e.id()) > 0) continue;
    open.push_back(e);
    total_work += work(e);
  }
  if (request.verbosity != Verbosity::quiet) {
    fmt::print(stderr, "{}; {} of {} experiments to run, {} at once, into {}\n", version(), open.size(),
               ids.size(), jobs, directory.path().string());
  }
  std::vector<TaskBaseline> baselines;
  for (const auto& task : suite.tasks) baselines.push_back(measure_baselines(*task));

  interrupted = false;
  const auto old_interrupt = std::signal(SIGINT, on_signal), old_terminate = std::signal(SIGTERM, on_signal);
  Progress progress(request.verbosity, static_cast<int>(open.size()), total_work);
  run_suite(open, jobs, interrupted,
            {.advanced = [&](double work) { progress.advance(work); },
             .finished =
                 [&](const ExperimentResult& result, double seconds) {
                   directory.append(result, seconds);
                   progress.finished(result, seconds);
                 }});
  progress.close();
  std::signal(SIGINT, old_interrupt);
  std::signal(SIGTERM, old_terminate);
  about["finished"] = timestamp();
  if (interrupted) {
    fmt::print(stderr, "interrupted; {} of {} experiments are kept. To go on:\n  {}\n",
               directory.finished().size(), ids.size(), resuming_command(request, directory.path()));
    return 130;
  }
  const Report report = directory.write_report(baselines, about);
  const NamedReport named{directory.path().string(), report};
  write_file(directory.path() / "report.html", report_page({&named, 1}));
  print_summary(report, request.color);
  fmt::print("\nreport: {}\npage: {}\n", (directory.path() / "report.json").string(),
             (directory.path() / "report.html").string());
  const bool all_ok = std::all_of(report.experiments.begin(), report.experiments.end(),
                                  [](const ExperimentResult& e) { return e.status == Status::ok; });
  return all_ok ? 0 : 1;
}

}  // namespace posbench
