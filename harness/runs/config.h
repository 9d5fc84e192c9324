// Everything that a run depends on, and where it comes from: a profile, then a configuration file, then flags.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/runs/matched_compute.h"
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
  std::optional<MatchedCompute> match_compute;  // otherwise all encodings get the same steps
  Sweep sweep;  // a grid: every value with every other, the first slowest
  /// More splits of a task, by its name or its spec; they are appended to those of the task, or replace one of the same
  /// name. One without options leaves that one out.
  std::map<std::string, std::vector<TaskInfo::Split>> splits;
  /// Overrides of settings for a task, by its name; the same for all encodings. What a file or a flag sets for all
  /// tasks replaces the overrides of a profile; what a flag sets also replaces those of a file.
  std::map<std::string, Settings> overrides;

  /// The options of a task: with the overrides for its name.
  ExperimentOptions for_task(const std::string& task) const;
};

/// The configuration in the arguments of a command line.
struct ConfigRequest {
  std::optional<std::string> profile, tasks, encodings, seeds, learning_rates, extend;
  std::optional<std::filesystem::path> file;
  std::vector<std::string> settings;  // "model.width=128"
  std::vector<std::string> sweeps;    // "model.width=32,64,128"
  std::optional<std::string> match_compute;  // the base
};

/// Profile, then file (a configuration, or a report, whose run it repeats), then flags. Throws
/// std::invalid_argument with one line: what was given, what was expected and what to do.
Config make_config(const ConfigRequest&);

/// Applies a JSON object: its settings replace earlier overrides, and its own overrides replace its settings, in
/// whichever order they are given. `where` is the prefix of messages. Throws
/// std::invalid_argument.
void overlay(const Json&, const std::string& where, Config&);

Json to_json(const Config&);
/// The sections model, training, evaluation and extend.
Json to_json(const ExperimentOptions&);
/// The inverse; `where` is the prefix of messages. Throws std::invalid_argument.
Config config_from_json(const Json&, const std::string& where);

/// The profiles that the program was built with, by name; their text is JSON. The key "profile" names the one that a
/// profile is based on.
const std::map<std::string, std::string>& profiles();

/// The specs that a comma-separated list of specs and globs selects out of the registered names: "all,-dape*".
/// `kind` is "task" or "encoding".
std::vector<std::string> select(const std::string& list, const std::string& kind);

/// "3" is the seeds 0, 1, 2; "0,5,7" lists them.
std::vector<std::uint64_t> parse_seeds(const std::string& text);

}  // namespace posbench
