// `posbench check REPORT`: runs some experiments of a report again and compares every count and accuracy.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/parallel_for.h"
#include "base/printable.h"
#include "base/random.h"
#include "base/thread_pool.h"
#include "harness/commands/check_forms.h"
#include "harness/console/message.h"
#include "harness/console/output.h"
#include "harness/console/read_reports.h"
#include "harness/console/status_line.h"
#include "harness/runs/provenance.h"
#include "harness/runs/reuse.h"
#include "harness/runs/run_directory.h"
#include "harness/runs/suite.h"
#include "harness/training/baselines.h"
#include "harness/training/run_experiment.h"
#include "results/json/read_bytes.h"
#include "results/reports/report_json.h"
#include "results/reports/summary_json.h"
#include "results/statistics/summary.h"

namespace posbench {
namespace {

using Values = std::map<std::string, std::string>;  // as messages show them, by name

void add_counts(const GridResult& grid, Values& counts) {
  for (const GridPoint& point : grid.points) {
    const std::string at = fmt::format("{}x the trained {}", point.multiple, grid.option);
    const Count token = point.token, sequence = point.sequence;
    counts["at " + at] =
        fmt::format("{} {}, {} of {} tokens, {} of {} sequences, {} tested", grid.option, point.value,
                    token.correct, token.total, sequence.correct, sequence.total, point.sequences);
  }
  counts[fmt::format("end of the grid by {}", grid.option)] = to_string(grid.end);
}

/// Returns all counts and accuracies of an experiment. Losses are omitted, since another compiler may round them
/// differently.
Values counts(const ExperimentResult& result) {
  Values counts{{"status", to_string(result.status)},
                {"parameters", fmt::format("{}", result.parameters)},
                {"task_version", fmt::format("{}", result.task_version)},
                {"steps", fmt::format("{}", result.steps)}};
  const auto add_accuracies = [&](const std::string& name, double token, double sequence) {
    counts[name] = fmt::format("{} of tokens, {} of sequences", token, sequence);
  };
  for (const CurvePoint& point : result.learning_curve) {
    const std::string at = fmt::format("at step {}", point.step);
    add_accuracies("validation " + at, point.validation_token, point.validation_sequence);
    for (const SplitAccuracy& split : point.splits)
      add_accuracies(split.split + " " + at, split.token, split.sequence);
  }
  for (const RateResult& rate : result.learning_rates) {
    if (!rate.diverged_step)
      add_accuracies(fmt::format("validation with learning rate {}", rate.learning_rate),
                     rate.validation_token.value_or(0), rate.validation_sequence.value_or(0));
  }
  if (result.learning_rate) counts["learning_rate"] = fmt::format("{}", *result.learning_rate);
  if (result.diverged_step) counts["diverged_step"] = fmt::format("{}", *result.diverged_step);
  const auto add = [&](const std::string& name, Count count) {
    counts[name] = fmt::format("{} of {}", count.correct, count.total);
  };
  for (const SplitResult& split : result.splits) {
    counts[split.name + ", tested"] = fmt::format("{} sequences", split.sequences);
    add(split.name + ", tokens", split.token);
    add(split.name + ", sequences", split.sequence);
    for (const LengthResult& length : split.by_length) {
      add(fmt::format("{}, tokens at length {}", split.name, length.length), length.token);
      add(fmt::format("{}, sequences at length {}", split.name, length.length), length.sequence);
    }
    for (const DistanceResult& distance : split.by_distance)
      add(fmt::format("{}, tokens at distance {}", split.name, distance.distance), distance.token);
    for (const PositionResult& position : split.by_position)
      add(fmt::format("{}, tokens at position {}", split.name, position.position), position.token);
  }
  for (const GridResult& grid : result.grids) add_counts(grid, counts);
  return counts;
}

/// Returns a description of the first value that differs, or an empty text.
std::string first_difference(const Values& before, const Values& now) {
  for (const auto& [name, value] : before) {
    const auto found = now.find(name);
    if (found == now.end()) return fmt::format("{}: {} in the report, missing now", name, value);
    if (found->second != value) return fmt::format("{}: {} in the report, {} now", name, value, found->second);
  }
  for (const auto& [name, value] : now) {
    if (!before.contains(name)) return fmt::format("{}: missing in the report, {} now", name, value);
  }
  return "";
}

/// The result of repeating an experiment, or the baselines of a task, or the summary.
struct Repetition {
  std::string name, difference;  // the difference is empty if all values agree
  size_t values = 0;
};

/// Trains and tests an experiment again. A report may omit the counts by length, distance and position.
Repetition compare_experiment(const std::string& name, const ExperimentResult& reported,
                              const Experiment& experiment, IdleCores& cores) {
  ExperimentObserver none;
  ThreadPool pool(count_cores(), cores);
  ExperimentResult again = run_experiment(experiment, none, {}, pool)->back();
  for (size_t n = 0; n < std::min(reported.splits.size(), again.splits.size()); ++n) {
    if (reported.splits[n].by_length.empty()) again.splits[n].by_length.clear();
    if (reported.splits[n].by_distance.empty()) again.splits[n].by_distance.clear();
    if (reported.splits[n].by_position.empty()) again.splits[n].by_position.clear();
  }
  const Values now = counts(again);
  return {name, first_difference(counts(reported), now), now.size()};
}

/// Returns the options of a task and the accuracies that need no model.
Values task_values(const TaskBaseline& task) {
  Values values;
  for (const SplitBaseline& split : task.splits) {
    values[split.name + ", chance"] = fmt::format("{}", split.chance);
    for (const auto& [predictor, accuracy] : split.trivial)
      values[fmt::format("{}, {}", split.name, predictor)] = fmt::format("{}", accuracy);
    for (const auto& [option, value] : split.options.value_or(std::map<std::string, std::string>()))
      values[fmt::format("{}, option {}", split.name, option)] = value;
  }
  return values;
}

/// Measures the baselines of a task again. Reports of older versions lack some values.
Repetition compare_task(const TaskBaseline& reported, const TaskSetup& setup) {
  const Values before = task_values(reported);
  Values now = task_values(measure_baselines(setup));
  std::erase_if(now, [&](const auto& value) { return !before.contains(value.first); });
  return {"task " + reported.task, first_difference(before, now), now.size()};
}

/// Compares numbers and texts of a report's summary with those that follow from its experiments. Members that only
/// one of them has are skipped, as other versions have other members.
void compare_summary(const Json& given, const Json& computed, const std::string& place, Repetition& result) {
  if (!result.difference.empty()) return;
  if (given.is_object() && computed.is_object()) {
    for (const auto& [key, value] : given.items()) {
      if (computed.contains(key)) compare_summary(value, computed.at(key), place + "." + key, result);
    }
  } else if (given.is_array() && computed.is_array() && given.size() == computed.size()) {
    for (size_t n = 0; n < given.size(); ++n)
      compare_summary(given[n], computed[n], fmt::format("{}[{}]", place, n), result);
  } else {
    ++result.values;
    constexpr double kRounding = 0.51e-6;
    const bool same = given.is_number() && computed.is_number()
                          ? std::abs(given.get<double>() - computed.get<double>()) <= kRounding
                          : given == computed;
    if (!same)
      result.difference = fmt::format("{}: {} in the report, {} from its experiments", place, describe_json(given),
                                      describe_json(computed));
  }
}

/// Reads the summary and the ranking of a report, which no other command reads, and computes them again. Compares
/// nothing if the run has no report.json.
Repetition compare_summary(const std::filesystem::path& path, const Report& report) {
  Repetition result{.name = "summary and ranking", .difference = ""};
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
  for (const char* key : {"summary", "ranking"}) {
    if (given.contains(key)) compare_summary(given.at(key), computed.at(key), key, result);
  }
  return result;
}

std::string name(const ExperimentId& id) {
  return fmt::format("{} on {} with seed {}", id.encoding, id.task, id.seed);
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
  StatusLine status("running again");
  std::atomic<size_t> done{0};
  const size_t at_once = std::min(repetitions.size(), static_cast<size_t>(jobs));
  IdleCores cores(count_cores() - static_cast<int>(at_once));
  parallel_for(repetitions.size(), jobs, [&](size_t n) {
    if (n < experiments.size()) {
      const ExperimentResult& reported = report.experiments[chosen[n]];
      repetitions[n] = compare_experiment(name(reported.id), reported, experiments[n], cores);
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

  size_t agreeing = 0;
  bool all_agree = missing.empty();
  for (size_t n = 0; n < repetitions.size(); ++n) {
    const auto& [name, difference, values] = repetitions[n];
    agreeing += n < chosen.size() && difference.empty();
    all_agree = all_agree && difference.empty();
    print_text("{}  {}: {}\n", difference.empty() ? "same   " : "DIFFERS", name,
               difference.empty() ? fmt::format("{} values", values) : difference);
  }
  if (!missing.empty())
    print_text("{} experiments of the report's config are not in the report, the first is '{}'\n", missing.size(),
               name(missing.front()));
  std::vector<std::string> differing;  // tasks and the summary
  for (size_t n = chosen.size(); n < repetitions.size(); ++n) {
    if (!repetitions[n].difference.empty()) differing.push_back(repetitions[n].name);
  }
  print_text("{} of {} experiments agree{}\n", agreeing, chosen.size(),
             differing.empty() ? "" : fmt::format("; these differ: {}", fmt::join(differing, ", ")));
  return all_agree ? 0 : 1;
}

}  // namespace posbench
