#include "harness/console/command_description.h"

#include <map>
#include <set>
#include <tuple>

#include "encodings/registry.h"
#include "harness/config/config.h"
#include "harness/config/embedded_data.h"
#include "harness/console/help.h"
#include "harness/console/known_names.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

/// Returns the kind of an option by its long name, or of an argument by its name. Every other value is a file.
CompletionKind kind_of(const std::string& name) {
  using enum CompletionKind;
  static const std::map<std::string, CompletionKind> kinds{{"--tasks", tasks},        {"--encodings", encodings},
                                                           {"--profile", profiles},   {"--split", splits},
                                                           {"--set", settings},       {"--task", tasks},
                                                           {"--encoding", encodings}, {"name", names},
                                                           {"names", checkable},      {"task", tasks},
                                                           {"encoding", encodings},   {"--stream", splits}};
  const auto found = kinds.find(name);
  return found == kinds.end() ? file : found->second;
}

CommandOption describe(const CLI::Option& option) {
  CommandOption o;
  if (!option.get_snames().empty()) o.short_name = "-" + option.get_snames().front();
  if (!option.get_lnames().empty()) o.long_name = "--" + option.get_lnames().front();
  o.description = describe_option(option);
  const bool is_argument = o.short_name.empty() && o.long_name.empty();
  if (is_argument) o.value = option.get_name(true);
  if (option.get_items_expected_max() == 0) return o;
  const std::string type = option.get_type_name();
  if (!is_argument) o.value = type.substr(0, type.find(':'));
  o.choices = choices_of(type);
  const bool is_number = o.value == "INT" || o.value == "UINT" || o.value == "FLOAT";
  o.kind = !o.choices.empty() ? CompletionKind::choice
           : is_number        ? CompletionKind::none
                              : kind_of(is_argument ? o.value : o.long_name);
  return o;
}

CommandInfo describe_command(const CLI::App& app) {
  CommandInfo command{.name = app.get_parent() == nullptr ? "" : app.get_name(),
                      .group = app.get_group(),
                      .description = app.get_description(),
                      .usage = usage_of(app)};
  std::tie(command.examples, command.notes) = split_footer(app.get_footer());
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    (option->get_positional() && option->get_lnames().empty() ? command.arguments : command.options)
        .push_back(describe(*option));
  }
  return command;
}

std::vector<std::string> all_splits() {
  std::set<std::string> splits;
  for (const std::string& task : tasks().names()) {
    for (const TaskInfo::Split& split : tasks().find(task).info.splits) splits.insert(split.name);
  }
  return {splits.begin(), splits.end()};
}

}  // namespace

std::string CommandOption::names() const {
  return short_name + (short_name.empty() || long_name.empty() ? "" : ", ") + long_name;
}

std::vector<CommandInfo> describe_command_line(const CLI::App& app) {
  std::vector<CommandInfo> commands{describe_command(app)};
  for (const CLI::App* command : app.get_subcommands({})) commands.push_back(describe_command(*command));
  return commands;
}

std::vector<std::string> completion_names(CompletionKind kind) {
  std::vector<std::string> names;
  switch (kind) {
    case CompletionKind::none:
    case CompletionKind::file:
    case CompletionKind::choice:
      return {};
    case CompletionKind::tasks:
      return tasks().names();
    case CompletionKind::encodings:
      return encodings().names();
    case CompletionKind::checkable:
    case CompletionKind::names:
      return known_names(/*with_profiles=*/kind == CompletionKind::names);
    case CompletionKind::profiles:
      for (const auto& [name, text] : profiles()) names.push_back(name);
      return names;
    case CompletionKind::splits:
      return all_splits();
    case CompletionKind::settings:
      for (const OptionInfo& setting : all_settings()) names.push_back(setting.name + "=");
      return names;
  }
  return names;
}

std::string to_string(CompletionKind kind) {
  static const char* const texts[] = {"none",      "file",  "choice",   "tasks",  "encodings",
                                      "checkable", "names", "profiles", "splits", "settings"};
  return texts[static_cast<size_t>(kind)];
}

}  // namespace posbench
