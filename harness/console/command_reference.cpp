#include <fmt/format.h>

#include <string>

#include "harness/console/help.h"
#include "results/document/table.h"

namespace posbench {
namespace {

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

}  // namespace

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

}  // namespace posbench
