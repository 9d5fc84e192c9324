#include "harness/console/command_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "results/document/table.h"
#include "results/document/wrap.h"

namespace posbench {
namespace {

constexpr size_t kWidth = 140;  // columns of a page

/// Escapes paragraphs, which are separated by empty lines, and breaks them into lines of a page.
std::string paragraphs(const std::string& text) {
  std::string result;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find("\n\n", begin), text.size());
    result += wrap_text(escape_markdown(text.substr(begin, end - begin)), 0, kWidth) + "\n\n";
    begin = end + 2;
  }
  return result;
}

std::string option_rows(const std::vector<CommandOption>& options) {
  std::string text;
  for (const CommandOption& o : options) {
    if (o.long_name == "--help") continue;  // the page replaces it
    const std::string name = o.names().empty() ? o.value : o.names() + (o.value.empty() ? "" : " " + o.value);
    text += fmt::format("| `{}` | {} |\n", name, escape_markdown(o.description));
  }
  return text;
}

std::string option_table(const CommandInfo& command) {
  const std::string rows = option_rows(command.arguments) + option_rows(command.options);
  return rows.empty() ? "" : "| option | meaning |\n|---|---|\n" + rows + "\n";
}

/// Returns lines as a block of code.
std::string code_block(const std::string& examples) {
  std::string text;
  for (size_t begin = 0; begin < examples.size();) {
    const size_t end = std::min(examples.find('\n', begin), examples.size());
    text += "  " + examples.substr(begin, end - begin) + "\n";  // they are indented by two spaces already
    begin = end + 1;
  }
  return text + "\n";
}

std::string command_section(const CommandInfo& command) {
  return fmt::format("### {}\n\n{}.\n\n    {}\n\n", command.name, escape_markdown(command.description),
                     command.usage) +
         option_table(command) + "Examples:\n\n" + code_block(command.examples) + paragraphs(command.notes);
}

}  // namespace

std::string command_reference(const std::vector<CommandInfo>& commands) {
  const CommandInfo& program = commands.front();
  std::string text =
      "# Command line\n\n"
      "<!-- Written by `posbench help --markdown > docs/cli.md`; a test compares. -->\n\n"
      "This page lists every command and option, for readers who know what they want to do.\n"
      "`posbench help COMMAND` prints the same text.\n\n"
      "| to | command | purpose |\n|---|---|---|\n";
  std::string sections, group;
  for (auto command = commands.begin() + 1; command != commands.end(); ++command) {
    const bool is_first = command->group != group;
    group = command->group;
    text += fmt::format("| {} | [{}](#{}) | {} |\n", is_first ? group : "", command->name, command->name,
                        escape_markdown(command->description));
    sections += (is_first ? "## " + group + "\n\n" : "") + command_section(*command);
  }
  text += "\n## Common options and exit codes\n\n" + option_table(program) + "Examples:\n\n" +
          code_block(program.examples) + paragraphs(program.notes) + sections;
  text.pop_back();  // one end of line is enough at the end of the page
  return text;
}

}  // namespace posbench
