#include "harness/console/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "harness/console/message.h"
#include "results/document/table.h"
#include "results/document/wrap.h"

namespace posbench {
namespace {

constexpr size_t kColumn = 26;  // the column at which descriptions begin

std::string entry(const std::string& left, const std::string& right) {
  std::string text = "  " + left;
  text += text.size() + 2 <= kColumn ? std::string(kColumn - text.size(), ' ') : "\n" + std::string(kColumn, ' ');
  return text + wrap_text(right, kColumn, console_width()) + "\n";
}

template <class Keep>
std::string options(const std::string& heading, const Command& command, Keep keep) {
  std::string text;
  for (const CommandOption& option : command.options()) {
    if (keep(option)) text += entry(option.title(), option.description());
  }
  return text.empty() ? "" : "\n" + heading + ":\n" + text;
}

/// Returns the commands by group, in the order in which they were added.
std::string commands(const CommandLine& line) {
  std::string text = "\nCommands:\n", group;
  for (const Command& command : line.commands) {
    if (command.group() != group) text += " " + command.group() + "\n";
    group = command.group();
    text += entry(command.name(), command.description());
  }
  return text;
}

/// Returns a command whose lines fit the console. A backslash joins them in a shell.
std::string wrapped_command(std::string command, size_t width) {
  std::string text;
  const std::string indent(5, ' ');
  while (command.size() > width) {
    const size_t option = command.rfind(" -", width - 2);
    if (option == command.npos || option <= indent.size()) break;
    text += command.substr(0, option) + " \\\n";
    command = indent + command.substr(option);
  }
  return text + command;
}

/// Returns the examples. A meaning that does not fit the console has a line of its own.
std::string examples(const Command& command) {
  constexpr size_t kWidest = 72;  // an example that is wider does not move the meanings of the others
  const auto width = static_cast<size_t>(console_width());
  size_t column = 0;
  for (const auto& [example, meaning] : command.examples()) {
    if (!meaning.empty() && example.size() <= kWidest) column = std::max(column, example.size());
  }
  std::string text = "\nExamples:\n";
  for (const auto& [example, meaning] : command.examples()) {
    const std::string line = fmt::format("  {:<{}}  {}", example, column, meaning);
    if (!meaning.empty() && line.size() <= width) {
      text += line + "\n";
    } else {
      text += wrapped_command("  " + example, width) + "\n";
      if (!meaning.empty()) text += fmt::format("{:6}{}\n", "", meaning);
    }
  }
  return text;
}

/// Returns the description up to its first clause; the help has all of it.
std::string in_short(const std::string& description) {
  size_t end = description.size();
  for (const char* mark : {"; ", ", as in ", " [default: ", " ("}) end = std::min(end, description.find(mark));
  return escape_markdown(description.substr(0, end));
}

std::string option_lines(const Command& command) {
  std::string text;
  for (const CommandOption& o : command.options()) {
    if (o.title() != "-h, --help") text += fmt::format("* `{}` {}\n", o.title(), in_short(o.description()));
  }
  return text + "\n";
}

/// Returns docs/cli.md: one line for each command and each option, by group.
std::string command_reference(const CommandLine& line) {
  std::string text =
      "# Command line\n\n"
      "<!-- Written by `posbench --help --markdown > docs/cli.md`; a test compares. -->\n\n"
      "This page lists every command and option in one line, for readers who look for a name.\n"
      "`posbench COMMAND --help` prints ranges, choices, defaults, examples and notes.\n\n"
      "## Options of every command\n\n" +
      option_lines(line.program);
  std::string group;
  for (const Command& command : line.commands) {
    if (command.group() != group) text += fmt::format("## {}\n\n", command.group());
    group = command.group();
    text += fmt::format("### {}\n\n{}: `{}`\n\n{}", command.name(), escape_markdown(command.description()),
                        command.usage(), option_lines(command));
  }
  text.pop_back();  // one end of line is enough at the end of the page
  return text;
}

}  // namespace

std::string help_text(const CommandLine& line, const Command& command) {
  if (line.markdown) return command_reference(line);
  const bool is_program = &command == &line.program;
  const auto is_everywhere = [](const CommandOption& o) { return o.is_everywhere; };
  std::string text =
      wrap_text(command.description(), 0, console_width()) + "\nUsage: " + command.usage() + "\n" +
      options("Arguments", command, [](const CommandOption& o) { return o.is_argument(); }) +
      options("Options", command, [&](const CommandOption& o) { return !o.is_argument() && !o.is_everywhere; }) +
      options("Options of every command", line.program, is_everywhere) + (is_program ? commands(line) : "") +
      examples(command);
  for (const std::string& note : command.notes()) text += "\n" + wrap_text(note, 0, console_width()) + "\n";
  return text + "\n";
}

}  // namespace posbench
