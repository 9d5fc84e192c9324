// Everything that a run depends on, and where it comes from: a profile, then a configuration file, then flags.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/training/options.h"
#include "results/json/json.h"
#include "tasks/task.h"

namespace posbench {

/// What is swept and its values: "model.width", "task.length" or "encoding.positions".
using Sweep = std::vector<std::pair<std::string, std::vector<std::string>>>;

struct Config : ExperimentOptions {
  std::string profile;
  std::vector<std::string> tasks, encodings;  // specs, in their canonical form
  std::vector<std::uint64_t> seeds;
  Sweep sweep;  // a grid: every value with every other, the first slowest
  /// More splits of a task, by its name or its spec; they come after the task's own, or replace one of the same name.
  /// One without options leaves that one out.
  std::map<std::string, std::vector<TaskInfo::Split>> splits;
  /// What differs for a task, by its name: one setting for all encodings. A profile's give way to what a file or a
  /// flag sets for all tasks, and a file's to flags.
  std::map<std::string, Settings> overrides;

  /// As they hold for a task: with the overrides for its name.
  ExperimentOptions for_task(const std::string& task) const;
};

/// What the command line says of a configuration.
struct ConfigRequest {
  std::optional<std::string> profile, tasks, encodings, seeds, learning_rates;
  std::optional<std::filesystem::path> file;
  std::vector<std::string> settings;  // "model.width=128"
  std::vector<std::string> sweeps;    // "model.width=32,64,128"
};

/// Profile, then file (a configuration, or a report, whose run it repeats), then flags. Throws
/// std::invalid_argument with one line that says what was given, what was expected and what to do.
Config make_config(const ConfigRequest&);

/// Sets what a JSON object says: its settings over the overrides that were there before, and its own overrides
/// over its settings, in whichever order they stand. `where` stands in front of messages. Throws
/// std::invalid_argument.
void overlay(const Json&, const std::string& where, Config&);

Json to_json(const Config&);
/// The sections model, training and evaluation.
Json to_json(const ExperimentOptions&);
/// The reverse; `where` stands in front of messages. Throws std::invalid_argument.
Config config_from_json(const Json&, const std::string& where);

/// The profiles that the program was built with, by name; their text is JSON.
const std::map<std::string, std::string>& profiles();

/// The specs that a comma-separated list of specs and globs selects out of the registered names: "all,-dape*".
/// `kind` is "task" or "encoding".
std::vector<std::string> select(const std::string& list, const std::string& kind);

/// "3" is the seeds 0, 1, 2; "0,5,7" lists them.
std::vector<std::uint64_t> parse_seeds(const std::string& text);

}  // namespace posbench
