#include <fmt/format.h>

#include <string>

#include "harness/config/build.h"
#include "harness/console/help.h"

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

std::string options(const Command& command) {
  std::string text;
  for (const CommandOption& o : command.options())
    text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(o.title()), roff(o.description()));
  return text;
}

std::string examples_and_notes(const Command& command) {
  std::string text = ".PP\nExamples:\n";
  for (const auto& [example, meaning] : command.examples())
    text += fmt::format(".TP\n{}\n{}\n", roff(example), roff(meaning));
  for (const std::string& note : command.notes()) text += ".PP\n" + roff(note) + "\n";
  return text;
}

}  // namespace

std::string man_page(const CommandLine& line) {
  std::string text = fmt::format(
      ".TH POSBENCH 1 \"\" \"posbench {}\" \"User Commands\"\n.SH NAME\n"
      "posbench \\- benchmark suite for position encodings of transformers\n.SH SYNOPSIS\n"
      ".B posbench\n\\fIcommand\\fR [\\fIoptions\\fR] [\\fIarguments\\fR]\n.SH DESCRIPTION\n{}.\n",
      kBuildVersion, roff(line.program.description()));
  text += examples_and_notes(line.program) + ".SH OPTIONS\n" + options(line.program) + ".SH COMMANDS\n";
  for (const Command& command : line.commands) {
    text += fmt::format(".SS posbench {}\n{}.\n", roff(command.name()), roff(command.description())) +
            options(command) + examples_and_notes(command);
  }
  return text +
         ".SH ENVIRONMENT\n.TP\n\\fBPOSBENCH_PLUGINS\\fR\nPlug\\-ins to load, separated by colons, if \\-\\-plugin is not given.\n"
         ".TP\n\\fBNO_COLOR\\fR\nNo colors on the console.\n";
}

}  // namespace posbench
