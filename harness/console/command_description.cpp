#include "harness/console/command_description.h"

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "encodings/aliases.h"
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
                                                           {"encoding", encodings}};
  const auto found = kinds.find(name);
  return found == kinds.end() ? file : found->second;
}

CommandOption describe(const CLI::Option& option) {
  CommandOption o;
  if (!option.get_snames().empty()) o.short_name = "-" + option.get_snames().front();
  if (!option.get_lnames().empty()) o.long_name = "--" + option.get_lnames().front();
  o.description = describe_option(option);
  if (is_argument(option)) o.value = option.get_name(true);
  if (option.get_items_expected_max() == 0) return o;
  if (!is_argument(option)) o.value = value_name(option);
  o.choices = choices_of(option.get_type_name());
  o.kind = completion_kind(option);
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
    (is_argument(*option) ? command.arguments : command.options).push_back(describe(*option));
  }
  return command;
}

}  // namespace

std::string CommandOption::names() const {
  return short_name + (short_name.empty() || long_name.empty() ? "" : ", ") + long_name;
}

CompletionKind completion_kind(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return CompletionKind::none;
  if (!choices_of(option.get_type_name()).empty()) return CompletionKind::choice;
  if (is_argument(option)) return kind_of(option.get_name(true));
  const std::string value = value_name(option);
  if (value == "INT" || value == "UINT" || value == "FLOAT") return CompletionKind::none;
  return kind_of(option.get_lnames().empty() ? "" : "--" + option.get_lnames().front());
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
      names = unique_aliases();
      for (const std::string& name : encodings().names_with_presets()) names.push_back(name);
      return names;
    case CompletionKind::checkable:
      return checkable_names();
    case CompletionKind::names:
      return explained_names();
    case CompletionKind::profiles:
      for (const auto& [name, text] : profiles()) names.push_back(name);
      return names;
    case CompletionKind::splits:
      return split_names();
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
