// The manual page, made from what --help shows.
#include <fmt/format.h>

#include "harness/commands/completion.h"
#include "harness/commands/words.h"
#include "harness/runs/build.h"

namespace posbench {
namespace {

/// A text as roff shows it: backslashes and hyphens as they are, no line taken for a request.
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

std::string options(const VerbWords& verb) {
  std::string text;
  for (const OptionWords& o : verb.positionals) text += fmt::format(".TP\n\\fI{}\\fR\n{}\n", roff(o.value), roff(o.description));
  for (const OptionWords& o : verb.options) {
    std::string names = o.short_name + (o.short_name.empty() || o.long_name.empty() ? "" : ", ") + o.long_name;
    text += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(names), o.value.empty() ? "" : " \\fI" + roff(o.value) + "\\fR",
                        roff(o.description));
  }
  return text;
}

/// A footer as it is: examples are lines of their own.
std::string verbatim(const std::string& text) { return text.empty() ? "" : ".PP\n.nf\n" + roff(text) + "\n.fi\n"; }

}  // namespace

std::string man_page(const CLI::App& app) {
  const std::vector<VerbWords> all = words(app);
  std::string text = fmt::format(
      ".TH POSBENCH 1 \"\" \"posbench {}\" \"User Commands\"\n.SH NAME\nposbench \\- benchmark suite for position encodings "
      "of transformers\n.SH SYNOPSIS\n.B posbench\n[\\fIoptions\\fR] \\fIverb\\fR [\\fIarguments\\fR]\n.SH DESCRIPTION\n{}\n",
      kBuildVersion, roff(all.front().description));
  text += verbatim(all.front().footer) + ".SH OPTIONS\n" + options(all.front()) + ".SH VERBS\n";
  for (size_t n = 1; n < all.size(); ++n) {
    text += fmt::format(".SS posbench {}\n{}.\n", roff(all[n].name), roff(all[n].description)) + options(all[n]) +
            verbatim(all[n].footer);
  }
  return text +
         ".SH ENVIRONMENT\n.TP\n\\fBPOSBENCH_PLUGINS\\fR\nPlug\\-ins to load, separated by colons, where \\-\\-plugin is not given.\n"
         ".TP\n\\fBNO_COLOR\\fR\nNo colors on the console.\n"
         ".SH EXIT STATUS\n0 fine; 1 it ran and the answer is no; 2 bad usage, configuration or input; 3 internal failure; 130 "
         "interrupted.\n";
}

}  // namespace posbench
