// `posbench verify`: runs some experiments of a report again and compares every count.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/parallel_for.h"
#include "base/random.h"
#include "harness/commands/commands.h"
#include "harness/console/help.h"
#include "harness/console/read_reports.h"
#include "harness/console/status_line.h"
#include "harness/runs/provenance.h"
#include "harness/runs/run_directory.h"
#include "harness/runs/suite.h"
#include "harness/training/run_experiment.h"

namespace posbench {
namespace {

struct VerifyRequest {
  std::filesystem::path report;
  int sample = 5, jobs = 0;           // jobs: 0 for all cores
  std::optional<std::uint64_t> seed;  // of the random choice
  std::vector<std::string> command;
};

/// Returns all counts of an experiment by name. Losses are omitted, since another compiler may round them differently.
std::map<std::string, std::string> counts(const ExperimentResult& result) {
  std::map<std::string, std::string> counts{{"status", to_string(result.status)},
                                            {"parameters", fmt::format("{}", result.parameters)},
                                            {"task_version", fmt::format("{}", result.task_version)},
                                            {"steps", fmt::format("{}", result.steps)}};
  if (result.diverged_step) counts["diverged_step"] = fmt::format("{}", *result.diverged_step);
  const auto add = [&](const std::string& name, Count count) {
    counts[name] = fmt::format("{} of {}", count.correct, count.total);
  };
  for (const SplitResult& split : result.splits) {
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
  return counts;
}

/// Returns a description of the first count that differs, or an empty text. `compared` receives the number of counts. A
/// report may omit the counts by length and distance.
std::string first_difference(const ExperimentResult& reported, ExperimentResult again, size_t& compared) {
  for (size_t n = 0; n < std::min(reported.splits.size(), again.splits.size()); ++n) {
    if (reported.splits[n].by_length.empty()) again.splits[n].by_length.clear();
    if (reported.splits[n].by_distance.empty()) again.splits[n].by_distance.clear();
    if (reported.splits[n].by_position.empty()) again.splits[n].by_position.clear();
  }
  const auto before = counts(reported), now = counts(again);
  compared = now.size();
  for (const auto& [name, value] : before) {
    const auto found = now.find(name);
    if (found == now.end()) return fmt::format("{}: {} in the report, missing now", name, value);
    if (found->second != value) return fmt::format("{}: {} in the report, {} now", name, value, found->second);
  }
  for (const auto& [name, value] : now) {
    if (before.count(name) == 0) return fmt::format("{}: missing in the report, {} now", name, value);
  }
  return "";
}

std::string name(const ExperimentId& id) {
  return fmt::format("{} on {} with seed {}", id.encoding, id.task, id.seed);
}

/// Returns `count` random indices from 0 to size - 1 in ascending order.
std::vector<size_t> choose(size_t size, size_t count, std::uint64_t seed) {
  std::vector<size_t> indices(size);
  std::iota(indices.begin(), indices.end(), size_t{0});
  Rng rng = make_rng(seed, "verify");
  count = std::min(count, size);
  for (size_t n = 0; n < count; ++n)
    std::swap(indices[n],
              indices[static_cast<size_t>(uniform(rng, static_cast<int>(n), static_cast<int>(size) - 1))]);
  indices.resize(count);
  std::sort(indices.begin(), indices.end());
  return indices;
}

/// Returns the experiments that the report omits although its configuration has them.
std::vector<ExperimentId> missing_experiments(const Report& report, const Suite& suite) {
  std::vector<ExperimentId> missing;
  if (report.context.contains("shard")) return missing;
  for (const ExperimentId& id : ids(suite.experiments)) {
    const auto same = [&](const ExperimentResult& result) { return result.id == id; };
    if (std::none_of(report.experiments.begin(), report.experiments.end(), same)) missing.push_back(id);
  }
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

/// Returns the exit code: 1 if a count differs or experiments are missing.
int verify(const VerifyRequest& request) {
  const Report report = read_run_report(request.report);
  const std::string file = request.report.string();
  const std::string build = version_difference(report.context, provenance(request.command));
  if (!build.empty())
    fmt::print(stderr, "{}: made by another version of posbench, which may give other numbers: {}\n", file, build);
  const Suite suite = make_suite(config_from_json(report.config, file + ": config"));
  if (report.experiments.empty())
    throw InputError(fmt::format("{}: no experiments; expected the report of a run", file));

  const std::uint64_t seed = request.seed ? *request.seed : std::random_device{}() % 1'000'000;
  const std::vector<size_t> chosen = choose(report.experiments.size(), static_cast<size_t>(request.sample), seed);
  std::vector<Experiment> experiments;
  for (const size_t index : chosen) {
    const ExperimentId& id = report.experiments[index].id;
    const std::optional<Experiment> found = find_experiment(suite, id);
    if (!found)
      throw InputError(
          fmt::format("{}: experiment '{}' is not in the report's config; verify the unchanged report of a run",
                      file, name(id)));
    experiments.push_back(*found);
  }
  fmt::print("running {} of {} experiments again (--seed {} chooses the same)\n", chosen.size(),
             report.experiments.size(), seed);
  std::fflush(stdout);

  std::vector<std::string> differences(chosen.size());
  std::vector<size_t> compared(chosen.size());
  StatusLine status("training");
  std::atomic<size_t> done{0};
  parallel_for(chosen.size(), request.jobs > 0 ? request.jobs : all_cores(), [&](size_t n) {
    const std::vector<ExperimentResult> again = *run_experiment(experiments[n]);
    differences[n] = first_difference(report.experiments[chosen[n]], again.back(), compared[n]);
    status.set_progress(++done, chosen.size());
  });
  status.clear();

  size_t differing = 0;
  for (size_t n = 0; n < chosen.size(); ++n) {
    const std::string& difference = differences[n];
    differing += !difference.empty();
    fmt::print("{}  {}: {}\n", difference.empty() ? "same   " : "DIFFERS", name(report.experiments[chosen[n]].id),
               difference.empty() ? fmt::format("{} values", compared[n]) : difference);
  }
  const std::vector<ExperimentId> missing = missing_experiments(report, suite);
  if (!missing.empty())
    fmt::print("{} experiments of the report's config are not in the report, the first is '{}'\n", missing.size(),
               name(missing.front()));
  fmt::print("{} of {} experiments agree\n", chosen.size() - differing, chosen.size());
  return differing == 0 && missing.empty() ? 0 : 1;
}

}  // namespace

void add_verify(CLI::App& app, Invocation& invocation) {
  const auto request = std::make_shared<VerifyRequest>();
  CLI::App* command =
      app.add_subcommand("verify", "Run random experiments of a report again and compare every count")
          ->group(kRunning);
  command->add_option("report", request->report, "report.json or run directory")->required();
  command->add_option("--sample", request->sample, "number of experiments to run")
      ->check(CLI::Range(1, 1'000'000));
  command->add_option("--seed", request->seed, "seed of the random choice of experiments")->default_str("random");
  command->add_option("-j,--jobs", request->jobs, "number of experiments at once, one thread each")
      ->default_str("all cores")
      ->check(CLI::Range(1, 4096));
  set_footer(
      *command, {{"posbench verify results/data/reference/report.json --sample 3", ""}},
      {"The command compares status, steps, parameters and the correct answers of every split: in total, by length "
       "and by distance. It also names experiments that the report omits although its config has them.",
       "Exit codes: 0 all counts agree; 1 a count differs, or experiments are missing; 2 the report cannot be read "
       "or run."});
  command->callback([request, &invocation] {
    request->command = invocation.arguments;
    invocation.exit_code = verify(*request);
  });
}

}  // namespace posbench
