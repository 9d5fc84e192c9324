#include "harness/config/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "base/text.h"
#include "harness/config/embedded_data.h"
#include "harness/config/names.h"
#include "harness/config/user_files.h"

namespace posbench {
namespace {

/// Applies a profile, after the profile that it is based on.
void overlay_profile(const std::string& name, RunConfig& config) {
  const Json json = Json::parse(profiles().at(name));
  if (json.contains("profile")) overlay_profile(json["profile"].get<std::string>(), config);
  overlay(json, "profile " + name, config);
}

/// Reads the configuration from a file, which is a configuration or a report.
Json read_config_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (const std::filesystem::path report = path / "report.json"; exists(report, ignored))
    throw InputError(fmt::format("{}: is a folder, expected a file; give {}", path.string(), report.string()));
  Json json = read_json(path);
  if (json.is_object() && json.contains("config") && json.contains("experiments")) return json["config"];
  return json;
}

/// Adds the seeds of "5" or "8..12". Returns false if the text is neither, or has a seed that was added before.
bool add_seeds(std::string_view text, std::vector<std::uint64_t>& seeds) {
  const size_t dots = text.find("..");
  const std::optional<std::uint64_t> first = parse_seed(text.substr(0, dots));
  const std::optional<std::uint64_t> last = dots == text.npos ? first : parse_seed(text.substr(dots + 2));
  if (!first || !last || *last < *first || *last - *first >= static_cast<std::uint64_t>(kMaxSeeds)) return false;
  for (std::uint64_t seed = *first; seed <= *last; ++seed) {
    if (std::ranges::find(seeds, seed) != seeds.end()) return false;
    seeds.push_back(seed);
  }
  return true;
}

}  // namespace

ExperimentOptions RunConfig::for_task(const std::string& task) const {
  ExperimentOptions options = *this;
  const auto found = overrides.find(task);
  if (found != overrides.end()) {
    for (const auto& [name, value] : found->second) options.set(name, value);
  }
  return options;
}

void RunConfig::set_for_all(const std::string& name, const std::string& value) {
  set(name, name == "extend.encodings" ? named_extensions(value) : value);
  for (auto& [task, settings] : overrides)
    std::erase_if(settings, [&](const auto& setting) { return setting.first == name; });
  std::erase_if(overrides, [](const auto& of_task) { return of_task.second.empty(); });
}

void RunConfig::set_sweep(const std::string& name, const std::string& values) {
  std::vector<std::string> list;
  for (std::string& value : split_list(values, ',')) {
    if (!value.empty()) list.push_back(std::move(value));
  }
  if (list.empty()) throw InputError(fmt::format("sweep of {}: expected values, as in 32,64,128", name));
  if (!name.starts_with("task.") && !name.starts_with("encoding.")) {
    for (std::string& value : list) {
      ExperimentOptions scratch;
      scratch.set(name, value);
      value = scratch.get(name);
    }
  }
  std::erase_if(sweep, [&](const auto& swept) { return swept.first == name; });
  sweep.emplace_back(name, std::move(list));
}

std::optional<std::uint64_t> parse_seed(std::string_view text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc{} || end != text.data() + text.size() || seed > kMaxSeed) return std::nullopt;
  return seed;
}

std::vector<std::uint64_t> parse_seeds(const std::string& text) {
  std::vector<std::uint64_t> seeds;
  const bool is_list = text.find(',') != text.npos || text.find("..") != text.npos;
  for (const std::string& piece : split_list(text, ',')) {
    if (piece.empty() && !seeds.empty()) continue;  // a list of one is written "5,"
    if (add_seeds(piece, seeds)) continue;
    throw InputError(fmt::format(
        "seeds '{}': expected a number of seeds, such as 3, or different seeds up to {}, such as 0,5,7 or 8..12",
        text, kMaxSeed));
  }
  if (is_list) return seeds;
  if (seeds.empty() || seeds[0] == 0 || seeds[0] > static_cast<std::uint64_t>(kMaxSeeds)) {
    throw InputError(fmt::format(
        "seeds '{}': expected a number of seeds from 1 to {}, such as 3, or seeds, such as 0,5,7 or 8..12", text,
        kMaxSeeds));
  }
  std::vector<std::uint64_t> first(seeds[0]);
  for (size_t n = 0; n < first.size(); ++n) first[n] = n;
  return first;
}

RunConfig make_config(const ConfigArguments& request) {
  RunConfig config;
  Json file;
  std::string file_name;
  if (request.file) {
    file_name = request.file->string();
    file = read_user_files([&] { return read_config_file(*request.file); });
    if (!file.is_object()) throw InputError(to_printable(file_name + ": expected an object"));
  }
  config.profile = request.profile.value_or(request.file ? profile_name(file, file_name) : "quick");
  if (!profiles().contains(config.profile)) {
    std::vector<std::string> names;
    for (const auto& [name, text] : profiles()) names.push_back(name);
    const std::string message = fmt::format("unknown profile '{}'{} (profiles: {})", config.profile,
                                            did_you_mean(config.profile, names), fmt::join(names, ", "));
    throw InputError(to_printable(!request.profile && request.file ? file_name + ": " + message : message));
  }
  if (!request.file || request.profile || !is_whole(file)) overlay_profile(config.profile, config);
  if (request.file) overlay(file, file_name, config);
  std::set<std::string> set;
  for (const std::string& setting : request.settings) {
    const size_t equals = setting.find('=');
    if (equals == setting.npos)
      throw InputError(fmt::format("--set is '{}', expected SECTION.OPTION=VALUE", setting));
    set.insert(setting.substr(0, equals));
    config.set_for_all(setting.substr(0, equals), setting.substr(equals + 1));
  }
  std::set<std::string> swept;
  for (const std::string& sweep : request.sweeps) {
    const size_t equals = sweep.find('=');
    if (equals == sweep.npos) {
      throw InputError(fmt::format(
          "'{}': expected NAME=VALUE,VALUE with a setting, task.OPTION or encoding.OPTION, as in model.width=32,64,128",
          sweep));
    }
    const std::string name = sweep.substr(0, equals);
    if (set.contains(name))
      throw InputError(fmt::format("--set and --sweep both have {}; give it in one of them", name));
    if (!swept.insert(name).second)
      throw InputError(fmt::format("--sweep has {} twice; give all its values at once, as in {}=A,B", name, name));
    config.set_sweep(name, sweep.substr(equals + 1));
  }
  if (request.learning_rates) config.set_for_all("training.learning_rate", *request.learning_rates);
  if (request.extend) config.set_for_all("extend.encodings", *request.extend);
  if (request.tasks) config.tasks = select_tasks(*request.tasks, config.tasks);
  if (request.encodings) config.encodings = select_encodings(*request.encodings);
  if (request.seeds) config.seeds = parse_seeds(*request.seeds);
  if (request.match_compute)
    config.match_compute = MatchedCompute{read_encoding(*request.match_compute).text(), {}};
  if (config.match_compute) find_costs(*config.match_compute, config.encodings);
  return config;
}

}  // namespace posbench
