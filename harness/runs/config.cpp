#include "harness/runs/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/printable.h"
#include "base/text.h"
#include "encodings/registry.h"
#include "harness/runs/names.h"
#include "harness/training/task_setup.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

Json typed(const Option& option) {
  const std::string text = option.get();
  const bool is_text = option.type == "text" || option.type == "choice" || option.type == "integers" ||
                       (option.type == "numbers" && text.find(',') != text.npos);
  return is_text ? Json(text) : Json::parse(text);
}

std::string untyped(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw std::invalid_argument(printable(where + ": " + what));
}

const Json& expect_object(const Json& json, const std::string& where) {
  if (!json.is_object()) refuse(where, "expected an object");
  return json;
}

std::string join_list(const Json& json, const std::string& where) {
  if (json.is_string()) return json.get<std::string>();
  std::vector<std::string> items;
  if (json.is_array()) {
    for (const Json& item : json) items.push_back(untyped(item));
  }
  if (items.empty()) refuse(where, "expected a list that is not empty, or comma-separated text");
  return fmt::format("{}", fmt::join(items, ","));
}

/// The value of a setting as a user would write it.
std::string setting(const Json& value, const std::string& name) {
  if (value.is_object() || value.is_null()) refuse(name, "expected a number, true, false, text or a list");
  return value.is_array() ? join_list(value, name) : untyped(value);
}

/// The tasks that a key of `splits` names: one task, one with options, or all of the families that match a pattern with
/// a '/', as in "chomsky/*".
std::vector<std::string> tasks_of_key(const std::string& key, const std::string& where) {
  if (key.find(':') != key.npos) {
    return {read_task(key).task.text()};
  }
  if (key.find('/') == key.npos) {
    tasks().find(task_name(key));
    return {task_name(key)};
  }
  std::vector<std::string> names;
  for (const std::string& name : tasks().names()) {
    if (fnmatch(key.c_str(), tasks().find(name).info.family.c_str(), 0) == 0) names.push_back(name);
  }
  if (names.empty()) refuse(where, fmt::format("'{}' matches no family of tasks", key));
  return names;
}

/// Refuses a value whose JSON type is not the setting's own, as in "width": "64".
void check_type(const Config& config, const std::string& section, const std::string& name, const Json& value) {
  Config copy = config;
  copy.for_each_section([&](const std::string& of, const OptionTable& table) {
    if (of != section) return;
    for (const Option& option : table.all()) {
      if (option.name != name) continue;
      const std::string& type = option.type;
      const bool fits = type == "integer"    ? value.is_number_integer()
                        : type == "number"   ? value.is_number()
                        : type == "flag"     ? value.is_boolean()
                        : type == "numbers"  ? value.is_number() || value.is_array() || value.is_string()
                        : type == "integers" ? value.is_number_integer() || value.is_array() || value.is_string()
                                             : value.is_string();
      const bool quoted_number = type == "numbers" && value.is_string() &&
                                 value.get_ref<const std::string&>().find(',') == std::string::npos;
      if (fits && !quoted_number) return;
      refuse(name, fmt::format("is {}, expected {}, as JSON writes it{}", shown(value), option.expected,
                               value.is_string() ? ": without quotation marks" : ""));
    }
  });
}

void read_splits(const Json& json, const std::string& where, Config& config) {
  for (const auto& [key, splits] : expect_object(json, where).items()) {
    std::vector<TaskInfo::Split> read;
    for (const auto& [name, options] : expect_object(splits, where + "." + key).items()) {
      TaskInfo::Split split{name, {}, "from the configuration"};
      if (name == "in_distribution")
        refuse(where + "." + key, "'in_distribution' is what is trained on; give the task options instead");
      if (!options.is_null()) {
        const std::string place = where + "." + key + "." + name;
        for (const auto& [option, value] : expect_object(options, place).items())
          split.options.emplace_back(option, untyped(value));
        if (split.options.empty()) refuse(place, "expected options that the split changes, or null, which leaves it out");
      }
      read.push_back(std::move(split));
    }
    for (const std::string& task : tasks_of_key(key, where)) config.splits[task] = read;
  }
}

/// Removes a setting from those of a task.
void erase(Settings& settings, const std::string& name) {
  std::erase_if(settings, [&](const auto& setting) { return setting.first == name; });
}

/// Sets it for every task; replaces the overrides that were read before.
void set_for_all(Config& config, const std::string& name, const std::string& value) {
  config.set(name, value);
  for (auto& [task, settings] : config.overrides) erase(settings, name);
  std::erase_if(config.overrides, [](const auto& of_task) { return of_task.second.empty(); });
}

void read_overrides(const Json& json, const std::string& where, Config& config) {
  for (const auto& [key, settings] : expect_object(json, where).items()) {
    const std::string task = task_name(key);
    tasks().find(task);
    for (const auto& [name, value] : expect_object(settings, where + "." + task).items()) {
      Config scratch;
      scratch.set(name, setting(value, name));  // checks the value early
      erase(config.overrides[task], name);
      config.overrides[task].emplace_back(name, setting(value, name));
    }
  }
}

void read_match_compute(const Json& json, const std::string& where, Config& config) {
  const Json& object = expect_object(json, where);
  if (!object.contains("base") || !object["base"].is_string())
    refuse(where + ".base", "expected an encoding, as in \"none\"");
  MatchedCompute match{read_encoding(object["base"].get<std::string>()).text(), {}};
  if (object.contains("costs")) {
    for (const auto& [encoding, cost] : expect_object(object["costs"], where + ".costs").items()) {
      const bool fits = cost.is_number() && cost.get<double>() >= 1e-3 && cost.get<double>() <= 1e6;
      if (!fits)
        refuse(where + ".costs." + encoding, fmt::format("is {}, expected a number from 0.001 to 1e6", shown(cost)));
      match.costs[read_encoding(encoding).text()] = cost.get<double>();
    }
  }
  config.match_compute = std::move(match);
}

void set_sweep(Config& config, const std::string& name, const std::string& values) {
  std::vector<std::string> list;
  for (std::string& value : split(values, ',')) {
    if (!value.empty()) list.push_back(std::move(value));
  }
  if (list.empty()) throw std::invalid_argument(fmt::format("sweep of {}: expected values, as in 32,64,128", name));
  if (!name.starts_with("task.") && !name.starts_with("encoding.")) {
    for (std::string& value : list) {
      ExperimentOptions scratch;
      scratch.set(name, value);
      value = scratch.get(name);
    }
  }
  std::erase_if(config.sweep, [&](const auto& sweep) { return sweep.first == name; });
  config.sweep.emplace_back(name, std::move(list));
}

std::string profile_name(const Json& json, const std::string& where) {
  if (!json.contains("profile")) return "quick";
  if (!json["profile"].is_string()) refuse(where, "profile: expected a text");
  return json["profile"].get<std::string>();
}

/// Applies a profile, after the profile that it is based on.
void overlay_profile(const std::string& name, Config& config) {
  const Json json = Json::parse(profiles().at(name));
  if (json.contains("profile")) overlay_profile(json["profile"].get<std::string>(), config);
  overlay(json, "profile " + name, config);
}

/// The configuration in a file, which is a configuration or a report.
Json read_config_file(const std::filesystem::path& path) {
  Json json = read_json(path);
  if (json.is_object() && json.contains("config") && json.contains("experiments")) return json["config"];
  return json;
}

}  // namespace

ExperimentOptions Config::for_task(const std::string& task) const {
  ExperimentOptions options = *this;
  const auto found = overrides.find(task);
  if (found != overrides.end()) {
    for (const auto& [name, value] : found->second) options.set(name, value);
  }
  return options;
}

std::vector<std::string> select(const std::string& list, const std::string& kind) {
  const bool of_tasks = kind == "task";
  const std::vector<std::string> names = of_tasks ? tasks().names() : encodings().names();
  std::vector<std::string> selected;
  for (std::string item : split_specs(list)) {
    const bool exclude = item.starts_with('-');
    if (exclude) item.erase(0, 1);
    std::vector<std::string> matches;
    if (item == "all") {
      matches = names;
    } else if (item.find_first_of("*?[") < item.find(':')) {
      matches = matching(item, names);
      if (matches.empty()) {
        throw std::invalid_argument(
            fmt::format("'{0}' matches no {1} ('posbench list {1}s' shows all {2})", item, kind, names.size()));
      }
    } else {
      matches.push_back(of_tasks ? read_task(item).text() : read_encoding(item).text());
    }
    for (const std::string& match : matches) {
      const auto found = std::find(selected.begin(), selected.end(), match);
      if (exclude && found != selected.end()) selected.erase(found);
      if (!exclude && found == selected.end()) selected.push_back(match);
    }
  }
  if (selected.empty()) throw std::invalid_argument(fmt::format("'{}' selects no {}", list, kind));
  return selected;
}

std::vector<std::uint64_t> parse_seeds(const std::string& text) {
  constexpr std::uint64_t kMax = 1'000'000'000'000;
  std::vector<std::uint64_t> seeds;
  const bool is_list = text.find(',') != text.npos;
  for (const std::string& piece : split(text, ',')) {
    if (piece.empty() && !seeds.empty()) continue;  // a list of one is written "5,"
    std::uint64_t seed = 0;
    const auto [end, error] = std::from_chars(piece.data(), piece.data() + piece.size(), seed);
    if (error != std::errc{} || end != piece.data() + piece.size() || seed > kMax ||
        std::find(seeds.begin(), seeds.end(), seed) != seeds.end()) {
      throw std::invalid_argument(
          fmt::format("seeds '{}': expected how many (3) or different numbers (0,5,7) up to {}", text, kMax));
    }
    seeds.push_back(seed);
  }
  if (is_list) return seeds;
  constexpr std::uint64_t kMaxSeeds = 10000;
  if (seeds.empty() || seeds[0] == 0 || seeds[0] > kMaxSeeds) {
    throw std::invalid_argument(
        fmt::format("seeds '{}': expected how many, from 1 to {}, or a list such as 0,5,7", text, kMaxSeeds));
  }
  std::vector<std::uint64_t> first(seeds[0]);
  for (size_t n = 0; n < first.size(); ++n) first[n] = n;
  return first;
}

Config make_config(const ConfigRequest& request) {
  Config config;
  Json file;
  std::string file_name;
  if (request.file) {
    file_name = request.file->string();
    try {
      file = read_config_file(*request.file);
    } catch (const std::runtime_error& error) {
      throw std::invalid_argument(error.what());
    }
    expect_object(file, file_name);
  }
  config.profile = request.profile.value_or(request.file ? profile_name(file, file_name) : "quick");
  if (!profiles().contains(config.profile)) {
    std::vector<std::string> names;
    for (const auto& [name, text] : profiles()) names.push_back(name);
    const std::string message = fmt::format("unknown profile '{}'{} (profiles: {})", config.profile,
                                            did_you_mean(config.profile, names), fmt::join(names, ", "));
    if (!request.profile && request.file) refuse(file_name, message);
    throw std::invalid_argument(message);
  }
  overlay_profile(config.profile, config);
  if (request.file) overlay(file, file_name, config);
  for (const std::string& setting : request.settings) {
    const size_t equals = setting.find('=');
    if (equals == setting.npos)
      throw std::invalid_argument(fmt::format("'{}' is not SECTION.OPTION=VALUE", setting));
    set_for_all(config, setting.substr(0, equals), setting.substr(equals + 1));
  }
  for (const std::string& sweep : request.sweeps) {
    const size_t equals = sweep.find('=');
    if (equals == sweep.npos) {
      throw std::invalid_argument(fmt::format(
          "'{}': expected NAME=VALUE,VALUE with a setting, task.OPTION or encoding.OPTION, as in model.width=32,64,128",
          sweep));
    }
    set_sweep(config, sweep.substr(0, equals), sweep.substr(equals + 1));
  }
  if (request.learning_rates) set_for_all(config, "training.learning_rate", *request.learning_rates);
  if (request.extend) set_for_all(config, "extend.encodings", *request.extend);
  if (request.tasks) config.tasks = select(*request.tasks, "task");
  if (request.encodings) config.encodings = select(*request.encodings, "encoding");
  if (request.seeds) config.seeds = parse_seeds(*request.seeds);
  if (request.match_compute) config.match_compute = MatchedCompute{read_encoding(*request.match_compute).text(), {}};
  if (config.match_compute) find_costs(*config.match_compute, config.encodings);
  return config;
}

void overlay(const Json& json, const std::string& where, Config& config) {
  static const std::vector<std::string> known{"profile", "description", "model", "training",  "evaluation", "extend",
                                              "tasks",   "encodings",   "seeds", "splits",    "overrides",  "sweep",
                                              "match_compute"};
  const auto read_key = [&](const std::string& key, const Json& value) {
    const std::string position = where + ": " + key;
    try {
      if (key == "model" || key == "training" || key == "evaluation" || key == "extend") {
        for (const auto& [name, option] : expect_object(value, position).items()) {
          check_type(config, key, name, option);
          set_for_all(config, key + "." + name, setting(option, name));
        }
      } else if (key == "tasks") {
        config.tasks = select(join_list(value, key), "task");
      } else if (key == "encodings") {
        config.encodings = select(join_list(value, key), "encoding");
      } else if (key == "seeds") {
        config.seeds =
            parse_seeds(value.is_array() && value.size() == 1 ? value[0].dump() + "," : join_list(value, key));
      } else if (key == "sweep") {
        for (const auto& [name, values] : expect_object(value, position).items())
          set_sweep(config, name, join_list(values, name));
      } else if (key == "match_compute") {
        read_match_compute(value, key, config);
      } else if (key == "splits") {
        read_splits(value, key, config);
      } else if (key == "overrides") {
        read_overrides(value, key, config);
      } else if (std::find(known.begin(), known.end(), key) == known.end()) {
        refuse(key, fmt::format("unknown key{} (known: {})", did_you_mean(key, known), fmt::join(known, ", ")));
      }
    } catch (const std::invalid_argument& error) {
      const std::string message = error.what();
      refuse(message.starts_with(key) ? where : position, message);
    }
  };
  for (const auto& [key, value] : expect_object(json, where).items()) {
    if (key != "overrides") read_key(key, value);
  }
  if (json.contains("overrides")) read_key("overrides", json["overrides"]);
}

Config config_from_json(const Json& json, const std::string& where) {
  Config config;
  overlay(json, where, config);
  if (config.tasks.empty() || config.encodings.empty() || config.seeds.empty())
    refuse(where, "expected a whole configuration, with tasks, encodings and seeds");
  config.profile = profile_name(json, where);
  return config;
}

/// The options that are left out if they have their default: full name and default value.
std::map<std::string, std::string> omitted_defaults() {
  std::map<std::string, std::string> omitted;
  ExperimentOptions defaults;
  defaults.for_each_section([&](const std::string& section, const OptionTable& table) {
    for (const Option& option : table.all()) {
      if (option.omit_default) omitted[section + "." + option.name] = option.get();
    }
  });
  return omitted;
}

Json to_json(const ExperimentOptions& options) {
  Json json;
  ExperimentOptions copy = options;
  const std::map<std::string, std::string> omitted = omitted_defaults();
  copy.for_each_section([&](const std::string& section, const OptionTable& table) {
    for (const Option& option : table.all()) {
      const auto found = omitted.find(section + "." + option.name);
      if (found == omitted.end() || option.get() != found->second) json[section][option.name] = typed(option);
    }
  });
  return json;
}

Json to_json(const Config& config) {
  Json json{{"profile", config.profile}};
  json.update(to_json(static_cast<const ExperimentOptions&>(config)));
  json["tasks"] = config.tasks;
  json["encodings"] = config.encodings;
  json["seeds"] = config.seeds;
  if (config.match_compute)
    json["match_compute"] = {{"base", config.match_compute->base}, {"costs", config.match_compute->costs}};
  for (const auto& [name, values] : config.sweep) json["sweep"][name] = values;
  for (const auto& [task, splits] : config.splits) {
    for (const TaskInfo::Split& split : splits) {
      Json& options = json["splits"][task][split.name];  // null: left out
      for (const auto& [name, value] : split.options) options[name] = value;
    }
  }
  for (const auto& [task, settings] : config.overrides) {
    for (const auto& [name, value] : settings) json["overrides"][task][name] = value;
  }
  return json;
}

}  // namespace posbench
