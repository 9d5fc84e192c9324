// Describes the command line as the parser knows it, for completions, the manual page and docs/cli.md.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace posbench {

/// The ways in which a shell completes a value.
enum class CompletionKind { none, file, choice, tasks, encodings, checkable, names, profiles, splits, settings };

struct CommandOption {
  std::string short_name, long_name;  // "-t", "--tasks"; either may be empty, and both are for an argument
  std::string value;                  // the name of its value in the help; empty for a flag
  std::string description;
  CompletionKind kind = CompletionKind::none;
  std::vector<std::string> choices;  // for the kind `choice`

  std::string names() const;  // "-t, --tasks"
};

struct CommandInfo {
  std::string name, group, description, usage;
  std::string examples;  // lines, each indented by two spaces
  std::string notes;     // paragraphs, separated by an empty line
  std::vector<CommandOption> options, arguments;
};

CompletionKind completion_kind(const CLI::Option&);

/// Describes the program itself, whose name is empty, then each command.
std::vector<CommandInfo> describe_command_line(const CLI::App&);

/// Returns the names that complete a value; those of settings end in '='. Empty for files and choices.
std::vector<std::string> completion_names(CompletionKind);
std::string to_string(CompletionKind);

}  // namespace posbench
