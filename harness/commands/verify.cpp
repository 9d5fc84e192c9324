// `posbench verify`: runs some experiments of a report again, and compares every count.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>

#include "base/parallel_for.h"
#include "base/random.h"
#include "harness/commands/commands.h"
#include "harness/commands/output.h"
#include "harness/commands/read_reports.h"
#include "harness/commands/waiting.h"
#include "harness/runs/context.h"
#include "harness/runs/run_directory.h"
#include "harness/runs/suite.h"

namespace posbench {
namespace {

struct VerifyRequest {
  std::filesystem::path report;
  int sample = 5, jobs = 0;           // jobs: 0, all cores
  std::optional<std::uint64_t> seed;  // of the choice
  std::vector<std::string> command;
};

/// Everything that is counted in an experiment, by what it is called; no losses, which another compiler may round
/// otherwise without changing an answer.
std::map<std::string, std::string> counts(const ExperimentResult& result) {
  std::map<std::string, std::string> counts{{"status", to_text(result.status)},
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

/// The first count that differs, in words; empty where none does. `compared` receives how many there are. A report
/// may leave out counts by length and distance.
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
    if (found == now.end()) return fmt::format("{}: {} in the report, and not there now", name, value);
    if (found->second != value) return fmt::format("{}: {} in the report, {} now", name, value, found->second);
  }
  for (const auto& [name, value] : now) {
    if (before.count(name) == 0) return fmt::format("{}: not in the report, {} now", name, value);
  }
  return "";
}

std::string name(const ExperimentId& id) { return fmt::format("{} on {} with seed {}", id.encoding, id.task, id.seed); }

/// `count` of the indices 0 .. size - 1, ascending.
std::vector<size_t> choose(size_t size, size_t count, std::uint64_t seed) {
  std::vector<size_t> indices(size);
  std::iota(indices.begin(), indices.end(), size_t{0});
  Rng rng = stream(seed, "verify");
  count = std::min(count, size);
  for (size_t n = 0; n < count; ++n)
    std::swap(indices[n], indices[static_cast<size_t>(uniform(rng, static_cast<int>(n), static_cast<int>(size) - 1))]);
  indices.resize(count);
  std::sort(indices.begin(), indices.end());
  return indices;
}

/// Experiments that the configuration has and the report does not: whoever leaves some out may have chosen.
std::vector<ExperimentId> left_out(const Report& report, const Suite& suite) {
  std::vector<ExperimentId> missing;
  if (report.context.contains("shard")) return missing;
  for (const ExperimentId& id : ids(suite.experiments)) {
    const auto same = [&](const ExperimentResult& result) { return result.id == id; };
    if (std::none_of(report.experiments.begin(), report.experiments.end(), same)) missing.push_back(id);
  }
  return missing;
}

/// The experiment with this result, and no other of its extensions. Nothing if the suite does not have it.
std::optional<Experiment> find(const Suite& suite, const ExperimentId& id) {
  for (const Experiment& e : suite.experiments) {
    const std::vector<ExperimentId> ids = e.ids();
    const auto found = std::find(ids.begin(), ids.end(), id);
    if (found == ids.end()) continue;
    Experiment one = e;
    one.extensions.clear();
    if (found != ids.begin()) one.extensions.push_back(e.extensions.at(static_cast<size_t>(found - ids.begin()) - 1));
    return one;
  }
  return std::nullopt;
}

/// Returns the exit code: 1 where a count differs or experiments are left out.
int verify(const VerifyRequest& request) {
  const Report report = read_given(request.report);
  const std::string file = request.report.string();
  const std::string build = version_difference(report.context, context(request.command));
  if (!build.empty()) fmt::print(stderr, "{} was made by another posbench, which may give other numbers: {}\n", file, build);
  const Suite suite = make_suite(config_from_json(report.config, file + ": config"));
  if (report.experiments.empty()) throw std::invalid_argument(fmt::format("{} has no experiments to verify", file));

  const std::uint64_t seed = request.seed ? *request.seed : std::random_device{}() % 1'000'000;
  const std::vector<size_t> chosen = choose(report.experiments.size(), static_cast<size_t>(request.sample), seed);
  std::vector<Experiment> experiments;
  for (const size_t index : chosen) {
    const ExperimentId& id = report.experiments[index].id;
    const std::optional<Experiment> found = find(suite, id);
    if (!found)
      throw std::invalid_argument(fmt::format("{} reports {}, which its configuration does not have", file, name(id)));
    experiments.push_back(*found);
  }
  fmt::print("running {} of {} experiments again (--seed {} chooses the same)\n", chosen.size(), report.experiments.size(), seed);
  std::fflush(stdout);

  std::vector<std::string> differences(chosen.size());
  std::vector<size_t> compared(chosen.size());
  Waiting waiting("training");
  std::atomic<size_t> done{0};
  parallel_for(chosen.size(), request.jobs > 0 ? request.jobs : all_cores(), [&](size_t n) {
    const std::vector<ExperimentResult> again = *run_experiment(experiments[n], {});
    differences[n] = first_difference(report.experiments[chosen[n]], again.back(), compared[n]);
    waiting.count(++done, chosen.size());
  });
  waiting.clear();

  size_t differing = 0;
  for (size_t n = 0; n < chosen.size(); ++n) {
    const std::string& difference = differences[n];
    differing += !difference.empty();
    fmt::print("{}  {}: {}\n", difference.empty() ? "same   " : "DIFFERS", name(report.experiments[chosen[n]].id),
               difference.empty() ? fmt::format("{} values", compared[n]) : difference);
  }
  const std::vector<ExperimentId> missing = left_out(report, suite);
  if (!missing.empty())
    fmt::print("{} experiments of its configuration are not in the report, the first {}\n", missing.size(), name(missing.front()));
  fmt::print("{} of {} experiments agree\n", chosen.size() - differing, chosen.size());
  return differing == 0 && missing.empty() ? 0 : 1;
}

}  // namespace

void add_verify(CLI::App& app, Invocation& invocation) {
  const auto request = std::make_shared<VerifyRequest>();
  CLI::App* command = app.add_subcommand("verify", "Run random experiments of a report again and compare every count");
  command->add_option("report", request->report, "a report.json, or a run directory")->required();
  command->add_option("--sample", request->sample, "how many experiments")->check(CLI::Range(1, 1'000'000));
  command->add_option("--seed", request->seed, "the seed of the random choice")->default_str("random");
  command->add_option("-j,--jobs", request->jobs, "experiments at once, one thread each")
      ->default_str("all cores")
      ->check(CLI::Range(1, 4096));
  command->footer(
      "Examples:\n  posbench verify results/reference/report.json --sample 3\n"
      "What is compared: status, steps, parameters, and the right answers of every split, in all, by length and by\n"
      "distance. Experiments that the report's configuration has and the report leaves out are named as well.\n"
      "Exit codes: 0 all agree; 1 a count differs, or experiments are left out; 2 the report cannot be read or run.");
  command->callback([request, &invocation] {
    request->command = invocation.words;
    invocation.code = verify(*request);
  });
}

}  // namespace posbench
