#include "harness/commands/words.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "encodings/registry.h"
#include "harness/commands/describe.h"
#include "harness/commands/help.h"
#include "harness/runs/config.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

/// By the option's long name, or a positional's. What is not here is a file where it takes a value.
ValueKind kind_of(const std::string& name) {
  static const std::map<std::string, ValueKind> kinds{
      {"--tasks", ValueKind::tasks},       {"--encodings", ValueKind::encodings}, {"--profile", ValueKind::profiles},
      {"--split", ValueKind::splits},      {"--set", ValueKind::settings},        {"--task", ValueKind::tasks},
      {"--encoding", ValueKind::encodings}, {"name", ValueKind::named},           {"names", ValueKind::checked},
      {"task", ValueKind::tasks},          {"encoding", ValueKind::encodings}, {"--stream", ValueKind::splits}};
  const auto found = kinds.find(name);
  return found == kinds.end() ? ValueKind::file : found->second;
}

/// The choices of a validator's text: "TEXT:{bash,zsh,fish}", or "TEXT:value in {token->0,sequence->1} OR {0,1}".
std::vector<std::string> choices_of(const std::string& type) {
  const size_t open = type.find('{'), close = type.find('}');
  if (open == type.npos || close == type.npos) return {};
  std::vector<std::string> choices = CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
  for (std::string& choice : choices) choice.erase(std::min(choice.find("->"), choice.size()));
  return choices;
}

OptionWords option_words(const CLI::Option& option) {
  OptionWords o;
  if (!option.get_snames().empty()) o.short_name = "-" + option.get_snames().front();
  if (!option.get_lnames().empty()) o.long_name = "--" + option.get_lnames().front();
  o.description = describe_option(option);
  const bool positional = o.short_name.empty() && o.long_name.empty();
  if (positional) o.value = option.get_name(true);
  if (option.get_items_expected_max() == 0) return o;
  if (!positional) o.value = option.get_type_name().substr(0, option.get_type_name().find(':'));
  o.choices = choices_of(option.get_type_name());
  const bool number = o.value == "INT" || o.value == "UINT" || o.value == "FLOAT";
  o.kind = !o.choices.empty() ? ValueKind::choice
           : number           ? ValueKind::none
                              : kind_of(positional ? o.value : o.long_name);
  return o;
}

VerbWords verb_words(const CLI::App& app) {
  VerbWords verb{app.get_name(), app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    (option->get_positional() && option->get_lnames().empty() ? verb.positionals : verb.options)
        .push_back(option_words(*option));
  }
  return verb;
}

}  // namespace

std::vector<VerbWords> words(const CLI::App& app) {
  std::vector<VerbWords> all{verb_words(app)};
  all.front().name.clear();
  for (const CLI::App* verb : app.get_subcommands({})) all.push_back(verb_words(*verb));
  return all;
}

std::vector<std::string> names_of(ValueKind kind) {
  std::vector<std::string> names;
  const auto add = [&](const std::vector<std::string>& more) { names.insert(names.end(), more.begin(), more.end()); };
  if (kind == ValueKind::tasks || kind == ValueKind::checked || kind == ValueKind::named) add(tasks().names());
  if (kind == ValueKind::encodings || kind == ValueKind::checked || kind == ValueKind::named) add(encodings().names());
  if (kind == ValueKind::profiles || kind == ValueKind::named) {
    for (const auto& [name, text] : profiles()) names.push_back(name);
  }
  if (kind == ValueKind::splits) {
    std::set<std::string> splits;
    for (const std::string& task : tasks().names()) {
      for (const TaskInfo::Split& split : tasks().find(task).info.splits) splits.insert(split.name);
    }
    add({splits.begin(), splits.end()});
  }
  if (kind == ValueKind::settings) {
    const Json settings = list_json("settings");
    for (const Json& setting : settings.at("settings")) names.push_back(setting.at("name").get<std::string>() + "=");
  }
  return names;
}

std::string to_text(ValueKind kind) {
  static const char* const texts[] = {"none",  "file",     "choice", "tasks",   "encodings",
                                      "checked", "named", "profiles", "splits", "settings"};
  return texts[static_cast<int>(kind)];
}

}  // namespace posbench
