// Makes the configuration of a run from a profile, a configuration file and flags.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/config/matched_compute.h"
#include "harness/training/task_setup.h"
#include "results/json/json.h"
#include "tasks/task.h"

namespace posbench {

/// Swept names, such as "model.width", "task.length" or "encoding.positions", with their values.
using Sweep = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// Everything that a run depends on.
struct RunConfig : ExperimentOptions {
  std::string profile;
  std::vector<TaskSpec> tasks;
  std::vector<Spec> encodings;  // in canonical form
  std::vector<std::uint64_t> seeds;
  std::optional<MatchedCompute> match_compute;  // empty: all encodings get the same steps
  Sweep sweep;  // a grid of all combinations, in which the first name varies slowest
  /// More splits of a task, by its name or its spec. They are appended to those of the task, or replace one of the
  /// same name. One without options removes that split.
  std::map<std::string, std::vector<TaskInfo::Split>> splits;
  /// Overrides of settings for a task, by its name; the same for all encodings. A setting of a file or a flag for
  /// all tasks replaces the overrides of a profile. A setting of a flag also replaces the overrides of a file.
  std::map<std::string, Settings> overrides;

  /// Returns the options of a task, with the overrides for its name.
  ExperimentOptions for_task(const std::string& task) const;
  /// Sets a value for every task and removes earlier overrides of it.
  void set_for_all(const std::string& name, const std::string& value);
  /// Replaces the values of a swept name by those of a comma-separated list.
  void set_sweep(const std::string& name, const std::string& values);
};

/// The arguments of a command line that change the configuration.
struct ConfigArguments {
  std::optional<std::string> profile, tasks, encodings, seeds, learning_rates, extend;
  std::optional<std::filesystem::path> file;
  std::vector<std::string> settings;         // "model.width=128"
  std::vector<std::string> sweeps;           // "model.width=32,64,128"
  std::optional<std::string> match_compute;  // the base encoding
  bool operator==(const ConfigArguments&) const = default;
};

/// Applies the profile, then the file (a configuration, or a report, whose run it repeats), then the flags. A
/// profile that is only named in a file is not applied if the file has a whole configuration. Throws InputError.
RunConfig make_config(const ConfigArguments&);

/// Applies a JSON object: its settings replace earlier overrides, and its own overrides replace its settings, in
/// whichever order they are given. `where` is the prefix of messages. Throws InputError.
void overlay(const Json&, const std::string& where, RunConfig&);

Json to_json(const RunConfig&);
/// Returns the sections model, training, evaluation and extend.
Json to_json(const ExperimentOptions&);
/// Reads a whole configuration. `where` is the prefix of messages. Throws InputError.
RunConfig config_from_json(const Json&, const std::string& where);

/// Returns true if the configuration has every key that to_json() always writes. What it omits has its default,
/// whatever the profile.
bool is_whole(const Json&);

/// Returns the name under the key "profile", or "quick" if there is none. Throws InputError if it is not a text.
std::string profile_name(const Json&, const std::string& where);

constexpr std::uint64_t kMaxSeed = 1'000'000'000'000;

/// Reads one seed. Returns nullopt if it is no integer from 0 to kMaxSeed.
std::optional<std::uint64_t> parse_seed(std::string_view text);

constexpr int kMaxSeeds = 10000;  // of a count

/// Reads "3" as the seeds 0, 1, 2, and "0,5,7" or "8..12" as those seeds. Throws InputError.
std::vector<std::uint64_t> parse_seeds(const std::string& text);

}  // namespace posbench
