#include "harness/console/man_page.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "harness/config/build.h"

namespace posbench {
namespace {

/// Escapes backslashes and hyphens, and the first characters of lines that roff would read as requests.
std::string roff(const std::string& text) {
  std::string result;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) result += "\\&";
    result += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
    line_begins = c == '\n';
  }
  return result;
}

std::string options(const CommandInfo& command) {
  std::string text;
  for (const CommandOption& o : command.arguments)
    text += fmt::format(".TP\n\\fI{}\\fR\n{}\n", roff(o.value), roff(o.description));
  for (const CommandOption& o : command.options) {
    text += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(o.names()),
                        o.value.empty() ? "" : " \\fI" + roff(o.value) + "\\fR", roff(o.description));
  }
  return text;
}

std::string examples_and_notes(const CommandInfo& command) {
  return fmt::format(".PP\nExamples:\n.PP\n.nf\n{}\n.fi\n", roff(command.examples)) +
         (command.notes.empty() ? "" : ".PP\n" + roff(command.notes) + "\n");
}

}  // namespace

std::string man_page(const std::vector<CommandInfo>& commands) {
  const CommandInfo& program = commands.front();
  std::string text = fmt::format(
      ".TH POSBENCH 1 \"\" \"posbench {}\" \"User Commands\"\n.SH NAME\n"
      "posbench \\- benchmark suite for position encodings of transformers\n.SH SYNOPSIS\n"
      ".B posbench\n\\fIcommand\\fR [\\fIoptions\\fR] [\\fIarguments\\fR]\n.SH DESCRIPTION\n{}.\n",
      kBuildVersion, roff(program.description));
  text += examples_and_notes(program) + ".SH OPTIONS\n" + options(program) + ".SH COMMANDS\n";
  for (size_t n = 1; n < commands.size(); ++n) {
    const CommandInfo& command = commands[n];
    text += fmt::format(".SS posbench {}\n{}.\n", roff(command.name), roff(command.description)) +
            options(command) + examples_and_notes(command);
  }
  return text +
         ".SH ENVIRONMENT\n.TP\n\\fBPOSBENCH_PLUGINS\\fR\nPlug\\-ins to load, separated by colons, if \\-\\-plugin is not given.\n"
         ".TP\n\\fBNO_COLOR\\fR\nNo colors on the console.\n";
}

}  // namespace posbench
