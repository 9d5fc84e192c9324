// `posbench check REPORT`: runs some experiments of a report again and compares every count and accuracy. With
// --source, Python trains models of PyTorch again.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/parallel_for.h"
#include "base/printable.h"
#include "base/random.h"
#include "base/text.h"
#include "base/thread_pool.h"
#include "harness/commands/check_forms.h"
#include "harness/console/message.h"
#include "harness/console/progress.h"
#include "harness/console/read_reports.h"
#include "harness/runs/provenance.h"
#include "harness/runs/reuse.h"
#include "harness/runs/run_directory.h"
#include "harness/runs/suite.h"
#include "harness/training/baselines.h"
#include "harness/training/run_experiment.h"
#include "results/document/document.h"
#include "results/document/table.h"
#include "results/json/json.h"
#include "results/json/read_bytes.h"
#include "results/reports/experiment_json.h"
#include "results/reports/report_json.h"
#include "results/reports/summary_json.h"
#include "results/statistics/summary.h"

namespace posbench {
namespace {

/// The result of repeating an experiment, the baselines of a task, or the summary.
struct Repetition {
  std::string name, difference = {};  // the difference is empty if all values agree
  size_t values = 0;
};

/// Returns the name of an item of a list, or its index.
std::string item_name(const Json& item, size_t index) {
  const bool has_name = item.is_object() && item.contains("name") && item.at("name").is_string();
  return has_name ? item.at("name").get<std::string>() : fmt::format("{}", index);
}

/// Compares numbers and texts of a report with those of now, up to the first difference. Skips members that only
/// one of them has, as other versions have other members, lists that the report omits, losses, which another
/// compiler may round differently, and reasons, which are texts with such numbers.
void compare(const Json& given, const Json& now, const std::string& place, Repetition& result) {
  if (!result.difference.empty()) return;
  const auto differs = [&](const std::string& before, const std::string& after) {
    result.difference = fmt::format("{}: {} in the report, {} now", place, before, after);
  };
  const std::string start = place.empty() ? "" : place + ".";
  if (given.is_object() && now.is_object()) {
    for (const auto& [key, value] : given.items()) {
      if (now.contains(key) && !key.ends_with("loss") && key != "margin" && key != "reason")
        compare(value, now.at(key), start + key, result);
    }
  } else if (given.is_array() && now.is_array()) {
    if (given.empty()) return;
    if (given.size() != now.size()) return differs(counted(given.size(), "item"), fmt::format("{}", now.size()));
    for (size_t n = 0; n < given.size(); ++n) compare(given[n], now[n], start + item_name(given[n], n), result);
  } else {
    ++result.values;
    constexpr double kRounding = 0.51e-6;
    const bool same = given.is_number_float() && now.is_number()
                          ? std::abs(given.get<double>() - now.get<double>()) <= kRounding
                          : given == now;
    if (!same) differs(describe_json(given), describe_json(now));
  }
}

std::string name(const ExperimentId& id) {
  return fmt::format("{} on {} with seed {}", id.encoding, id.task, id.seed);
}

/// Trains and tests an experiment again.
Repetition compare_experiment(const ExperimentResult& reported, const Experiment& experiment, IdleCores& cores) {
  Repetition result{.name = name(reported.id)};
  ExperimentObserver none;
  ThreadPool pool(count_cores(), cores);
  compare(to_json(reported), to_json(run_experiment(experiment, none, {}, pool)->back()), "", result);
  return result;
}

/// Measures the baselines of a task again.
Repetition compare_task(const TaskBaseline& reported, const TaskSetup& setup) {
  Repetition result{.name = "task " + reported.task};
  compare(to_json(reported), to_json(measure_baselines(setup)), "", result);
  return result;
}

/// Reads the summary and the ranking of a report, which no other command reads, and computes them again. Compares
/// nothing if the run has no report.json.
Repetition compare_summary(const std::filesystem::path& path, const Report& report) {
  Repetition result{.name = "summary and ranking"};
  const std::filesystem::path file = std::filesystem::is_directory(path) ? find_report(path) : path;
  if (!std::filesystem::is_regular_file(file)) return result;  // a pipe cannot be read twice
  ByteSource source(file);
  const Json given = read_json(source, [](const Json&, const std::string& key, const Json&, size_t) {
    return key != "summary" && key != "ranking";
  });
  const Summary summary = summarize(report);
  const Json computed{
      {"summary", write_list(summary.rows, [](const SummaryRow& row) { return to_json(row); })},
      {"ranking", write_list(summary.ranking, [](const Ranking& ranking) { return to_json(ranking); })}};
  compare(given, computed, "", result);
  return result;
}

/// Returns the shard that the report has; the whole suite if it does not name one.
Shard shard_of(const Report& report, const std::string& file) {
  if (!report.context.contains("shard")) return {};
  const Json json{{"context", report.context}};
  const Field root(json, file), context = root["context"];
  return read_shard(context["shard"]);
}

/// Refuses experiments that the suite does not have. Returns the experiments that the report omits.
std::vector<ExperimentId> missing_experiments(const Report& report, const Suite& suite, const std::string& file) {
  const std::vector<ExperimentId> expected = ids(suite.experiments);
  const std::set<ExperimentId> known(expected.begin(), expected.end());
  std::set<ExperimentId> reported;
  for (const ExperimentResult& experiment : report.experiments) {
    reported.insert(experiment.id);
    if (known.contains(experiment.id)) continue;
    throw InputError(
        fmt::format("{}: experiment '{}' is not in the report's config; verify the unchanged report of a run",
                    file, name(experiment.id)));
  }
  std::vector<ExperimentId> missing;
  std::ranges::copy_if(expected, std::back_inserter(missing),
                       [&](const ExperimentId& id) { return !reported.contains(id); });
  return missing;
}

/// Returns the experiment of a result without its other extensions. Empty if the suite does not have it.
std::optional<Experiment> find_experiment(const Suite& suite, const ExperimentId& id) {
  for (const Experiment& e : suite.experiments) {
    const std::vector<ExperimentId> ids = e.ids();
    const auto found = std::find(ids.begin(), ids.end(), id);
    if (found == ids.end()) continue;
    Experiment one = e;
    one.extensions.clear();
    if (found != ids.begin())
      one.extensions.push_back(e.extensions.at(static_cast<size_t>(found - ids.begin()) - 1));
    return one;
  }
  return std::nullopt;
}

/// Runs the experiments with these indices again, and measures the baselines of their tasks.
std::vector<Repetition> repeat(const Report& report, const Suite& suite, const std::vector<int>& chosen,
                               int jobs) {
  std::vector<Experiment> experiments;
  std::vector<const TaskSetup*> tasks;
  for (const int index : chosen) {
    const ExperimentResult& result = report.experiments[index];
    experiments.push_back(find_experiment(suite, result.id).value());
    Experiment& e = experiments.back();
    if (e.tuned)
      e.tuned = TunedRate{result.learning_rate.value_or(e.settings().learning_rates[0]), result.learning_rates};
    const TaskSetup* task = experiments.back().task;
    if (std::ranges::find(tasks, task) == tasks.end()) tasks.push_back(task);
  }
  std::vector<Repetition> repetitions(experiments.size() + tasks.size());
  Progress status("running again");
  std::atomic<size_t> done{0};
  const size_t at_once = std::min(repetitions.size(), static_cast<size_t>(jobs));
  IdleCores cores(count_cores() - static_cast<int>(at_once));
  parallel_for(repetitions.size(), jobs, [&](size_t n) {
    if (n < experiments.size()) {
      repetitions[n] = compare_experiment(report.experiments[chosen[n]], experiments[n], cores);
    } else {
      const TaskSetup& task = *tasks[n - experiments.size()];
      repetitions[n] = compare_task(find_baseline(report, task.spec), task);
    }
    const size_t finished = ++done;
    status.set_progress(finished, repetitions.size());
    if (repetitions.size() - finished < at_once) cores.add(1);  // its job has no next repetition
  });
  status.clear();
  return repetitions;
}

/// Returns how many experiments each other commit trained.
std::map<std::string, int> count_reused(const Report& report) {
  std::map<std::string, int> counts;
  for (const auto& [id, commit] : read_commits(report)) ++counts[commit];
  counts.erase(commit_of(report));
  return counts;
}

constexpr const char* kStart = R"(
import sys
try:
    from posbench.torch.again import main
except ImportError as error:
    print(f"posbench: --source needs PyTorch and the Python package: {error}; pip install 'posbench[torch]'", file=sys.stderr)
    sys.exit(2)
sys.exit(main(*sys.argv[1:]))
)";

}  // namespace

int check_report(const CheckRequest& request) {
  const std::string file = request.subjects.front();
  const Report report = read_run_report(file);
  check_origin(to_printable(file), report);
  const std::string build = version_difference(report.context, provenance(request.command));
  if (!build.empty())
    write_note(
        fmt::format("{}: made by another version of posbench, which may give other numbers: {}", file, build));
  for (const auto& [commit, count] : count_reused(report))
    write_note(fmt::format("{}: commit {} trained {} of the experiments, and may give other numbers", file, commit,
                           count));
  const Suite suite = make_suite(config_from_json(report.config, file + ": config"), shard_of(report, file));
  if (report.experiments.empty())
    throw InputError(fmt::format("{}: no experiments; expected the report of a run", file));
  const std::vector<ExperimentId> missing = missing_experiments(report, suite, file);

  const std::uint64_t seed = request.seed ? *request.seed : std::random_device{}() % 1'000'000;
  Rng rng = make_rng(seed, "verify");
  const int size = static_cast<int>(report.experiments.size());
  const std::vector<int> chosen = sample_distinct(rng, size, std::min(request.sample, size));
  print_text("running {} of {} experiments again (--seed {} chooses the same)\n", chosen.size(), size, seed);
  std::fflush(stdout);
  std::vector<Repetition> repetitions =
      repeat(report, suite, chosen, request.jobs > 0 ? request.jobs : count_cores());
  Repetition summary = compare_summary(file, report);
  if (summary.values > 0) repetitions.push_back(std::move(summary));

  Document document;
  Table table{{{"result"}, {"values, or the first difference"}}, {}};
  std::vector<std::string> differing;  // tasks and the summary
  size_t agreeing = 0;
  for (size_t n = 0; n < repetitions.size(); ++n) {
    const auto& [name, difference, values] = repetitions[n];
    const bool agrees = difference.empty();
    if (n < chosen.size()) {
      agreeing += agrees;
    } else if (!agrees) {
      differing.push_back(name);
    }
    table.rows.push_back({agrees ? Cell{"same", Tone::good} : Cell{"DIFFERS", Tone::bad},
                          fmt::format("{}: {}", name, agrees ? fmt::format("{} values", values) : difference)});
  }
  document.blocks = {std::move(table)};
  if (!missing.empty())
    document.blocks.push_back(
        Note{fmt::format("{} experiments of the report's config are not in the report, the first is '{}'",
                         missing.size(), name(missing.front()))});
  document.blocks.push_back(
      Note{fmt::format("{} of {} experiments agree{}", agreeing, chosen.size(),
                       differing.empty() ? "" : fmt::format("; these differ: {}", fmt::join(differing, ", ")))});
  write_document({}, document);
  return missing.empty() && differing.empty() && agreeing == chosen.size() ? 0 : 1;
}

int check_source(const CheckRequest& request) {
  std::vector<std::string> words{"python3",
                                 "-c",
                                 kStart,
                                 request.subjects.front(),
                                 request.source->string(),
                                 fmt::format("{}", request.sample),
                                 fmt::format("{}", request.jobs)};
  if (request.seed) words.push_back(fmt::format("{}", *request.seed));
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::error_code ignored;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  if (!program.empty()) setenv("POSBENCH_PROGRAM", program.c_str(), 1);
  execvp(arguments[0], arguments.data());
  throw InputError(fmt::format("python3 cannot be started: {}; install Python and the package posbench[torch]",
                               std::strerror(errno)));
}

}  // namespace posbench
