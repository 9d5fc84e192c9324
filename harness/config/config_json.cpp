#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/name.h"
#include "base/printable.h"
#include "base/text.h"
#include "encodings/presets.h"
#include "harness/config/config.h"
#include "harness/config/names.h"
#include "harness/training/samples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

Json typed(const Option& option) {
  const std::string text = option.get();
  switch (option.type) {
    case OptionType::integer:
    case OptionType::number:
    case OptionType::flag:
      return Json::parse(text);
    case OptionType::numbers:
      if (text.find(',') == text.npos) return Json::parse(text);
      break;
    case OptionType::integers:
    case OptionType::text:
    case OptionType::choice:
      break;
  }
  return text;
}

/// Returns whether JSON writes values of this type so: a number as a number, and not in quotation marks.
bool is_written_as(OptionType type, const Json& value) {
  switch (type) {
    case OptionType::integer:
      return value.is_number_integer();
    case OptionType::number:
      return value.is_number();
    case OptionType::flag:
      return value.is_boolean();
    case OptionType::numbers: {
      const bool is_list = value.is_string() && value.get_ref<const std::string&>().find(',') != std::string::npos;
      return value.is_number() || value.is_array() || is_list;
    }
    case OptionType::integers:
      return value.is_number_integer() || value.is_array() || value.is_string();
    case OptionType::text:
      return value.is_string() || value.is_number_integer();
    case OptionType::choice:
      return value.is_string();
  }
  return false;
}

std::string untyped(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw InputError(to_printable(where + ": " + what));
}

const Json& expect_object(const Json& json, std::string_view where) {
  if (!json.is_object()) refuse(std::string(where), "expected an object");
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

/// Returns the value of a setting in the form of the command line.
std::string setting(const Json& value, const std::string& name) {
  if (value.is_object() || value.is_null()) refuse(name, "expected a number, true, false, text or a list");
  return value.is_array() ? join_list(value, name) : untyped(value);
}

/// Returns the tasks that a key of `splits` names: a task, a task with options, or all tasks of the families that
/// match a pattern with a '/', as in "chomsky/*".
std::vector<std::string> tasks_of_key(const std::string& key, const std::string& where) {
  if (key.find(':') != key.npos) {
    const TaskSpec spec = read_task(key);
    if (!spec.settings.empty())
      refuse(
          where,
          fmt::format("'{}' has settings, which splits do not depend on; expected a task with its options", key));
    return {spec.task.text()};
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
void check_type(const RunConfig& config, const std::string& section, const std::string& name, const Json& value) {
  ExperimentOptions copy = config;
  const auto check = [&](const std::string&, const OptionTable& table) {
    for (const Option& option : table.all()) {
      if (option.name != name || is_written_as(option.type, value)) continue;
      refuse(name, fmt::format("is {}, expected {}, as JSON writes it{}", describe_json(value), option.expected,
                               value.is_string() ? ": without quotation marks" : ""));
    }
  };
  copy.for_each_section(check, section);
}

void read_splits(const Json& json, const std::string& where, RunConfig& config) {
  for (const auto& [key, splits] : expect_object(json, where).items()) {
    std::vector<TaskInfo::Split> read;
    for (const auto& [name, options] : expect_object(splits, where + "." + key).items()) {
      TaskInfo::Split split{name, {}, "from the configuration"};
      if (name == "in_distribution")
        refuse(where + "." + key, "'in_distribution' is what is trained on; give the task options instead");
      if (name == kShift)
        refuse(where + "." + key, "'shift' is the split of evaluation.shift; set that, or take another name");
      if (name == kPacked)
        refuse(where + "." + key, "'packed' is the split of training.pack; set that, or take another name");
      check_name(name, where + "." + key + ": the name of a split");
      if (name == "train" || name == "validation" || name.starts_with("test:"))
        refuse(where + "." + key,
               fmt::format("'{}' names samples in 'posbench export --split'; take another name", name));
      if (!options.is_null()) {
        const std::string place = where + "." + key + "." + name;
        for (const auto& [option, value] : expect_object(options, place).items())
          split.options.emplace_back(option, untyped(value));
        if (split.options.empty())
          refuse(place, "expected options that the split changes, or null, which leaves it out");
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

void read_overrides(const Json& json, const std::string& where, RunConfig& config) {
  for (const auto& [key, settings] : expect_object(json, where).items()) {
    const std::string task = task_name(key);
    tasks().find(task);
    for (const auto& [name, value] : expect_object(settings, where + "." + task).items()) {
      RunConfig scratch;
      scratch.set(name, setting(value, name));  // checks the value early
      erase(config.overrides[task], name);
      config.overrides[task].emplace_back(name, setting(value, name));
    }
  }
}

void read_match_compute(const Json& json, const std::string& where, RunConfig& config) {
  const Json& object = expect_object(json, where);
  if (!object.contains("base") || !object["base"].is_string())
    refuse(where + ".base", "expected an encoding, as in \"none\"");
  MatchedCompute match{read_encoding(object["base"].get<std::string>()).text(), {}};
  if (object.contains("costs")) {
    for (const auto& [encoding, cost] : expect_object(object["costs"], where + ".costs").items()) {
      const bool fits = cost.is_number() && cost.get<double>() >= 1e-3 && cost.get<double>() <= 1e6;
      if (!fits)
        refuse(where + ".costs." + encoding,
               fmt::format("is {}, expected a number from 0.001 to 1e6", describe_json(cost)));
      match.costs[read_encoding(encoding).text()] = cost.get<double>();
    }
  }
  config.match_compute = std::move(match);
}

/// Throws InputError if a preset of a configuration has another spec than in this version.
void check_presets(const Json& json, const std::string& where) {
  for (const auto& [name, spec] : expect_object(json, where).items()) {
    const Preset* preset = find_preset(name);
    if (preset != nullptr && spec == preset->spec) continue;
    refuse(where, fmt::format("'{}' is {} there, and {} in this version; write the spec in place of the name",
                              name, spec.dump(), preset == nullptr ? "no preset" : "'" + preset->spec + "'"));
  }
}

/// Returns the default values, by full name, of the options that are omitted if they have them.
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

}  // namespace

std::string profile_name(const Json& json, const std::string& where) {
  if (!json.contains("profile")) return "quick";
  if (!json["profile"].is_string()) refuse(where, "profile: expected a text");
  return json["profile"].get<std::string>();
}

void overlay(const Json& json, const std::string& where, RunConfig& config) {
  static const std::vector<std::string> known{
      "profile",   "description", "model",  "training",  "evaluation", "extend",        "tasks",
      "encodings", "seeds",       "splits", "overrides", "sweep",      "match_compute", "presets"};
  const auto read_key = [&](const std::string& key, const Json& value) {
    const std::string position = where + ": " + key;
    try {
      if (key == "model" || key == "training" || key == "evaluation" || key == "extend") {
        for (const auto& [name, option] : expect_object(value, position).items()) {
          check_type(config, key, name, option);
          config.set_for_all(key + "." + name, setting(option, name));
        }
      } else if (key == "tasks") {
        config.tasks = select_tasks(join_list(value, key), config.tasks);
      } else if (key == "encodings") {
        config.encodings = select_encodings(join_list(value, key));
      } else if (key == "seeds") {
        config.seeds =
            parse_seeds(value.is_array() && value.size() == 1 ? value[0].dump() + "," : join_list(value, key));
      } else if (key == "sweep") {
        for (const auto& [name, values] : expect_object(value, position).items())
          config.set_sweep(name, join_list(values, name));
      } else if (key == "match_compute") {
        read_match_compute(value, key, config);
      } else if (key == "presets") {
        check_presets(value, key);
      } else if (key == "splits") {
        read_splits(value, key, config);
      } else if (key == "overrides") {
        read_overrides(value, key, config);
      } else if (std::ranges::find(known, key) == known.end()) {
        refuse(key, fmt::format("unknown key{} (known: {})", did_you_mean(key, known), fmt::join(known, ", ")));
      }
    } catch (const InputError& error) {
      const std::string message = error.what();
      refuse(message.starts_with(key) ? where : position, message);
    }
  };
  for (const auto& [key, value] : expect_object(json, where).items()) {
    if (key != "overrides") read_key(key, value);
  }
  if (json.contains("overrides")) read_key("overrides", json["overrides"]);
}

RunConfig config_from_json(const Json& json, const std::string& where) {
  RunConfig config;
  overlay(json, where, config);
  if (config.tasks.empty() || config.encodings.empty() || config.seeds.empty())
    refuse(where, "expected a whole configuration, with tasks, encodings and seeds");
  config.profile = profile_name(json, where);
  return config;
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

bool is_whole(const Json& json) {
  for (const char* key : {"tasks", "encodings", "seeds"}) {
    if (!json.contains(key)) return false;
  }
  const Json always = to_json(ExperimentOptions{});
  for (const auto& [section, options] : always.items()) {
    for (const auto& [name, value] : options.items()) {
      if (!json.contains(section) || !json.at(section).is_object() || !json.at(section).contains(name))
        return false;
    }
  }
  return true;
}

Json to_json(const RunConfig& config) {
  Json json{{"profile", config.profile}};
  json.update(to_json(static_cast<const ExperimentOptions&>(config)));
  json["tasks"] = texts(config.tasks);
  json["encodings"] = texts(config.encodings);
  json["seeds"] = config.seeds;
  for (const Spec& encoding : config.encodings) {
    for (const auto& [name, spec] : presets_in(encoding)) json["presets"][name] = spec;
  }
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
