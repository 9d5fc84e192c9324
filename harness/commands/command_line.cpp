// Parses the command line.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "harness/commands/commands.h"
#include "harness/commands/forms.h"
#include "harness/console/completion.h"
#include "harness/console/help.h"
#include "harness/console/known_names.h"
#include "harness/console/message.h"
#include "harness/console/output.h"
#include "harness/exchange/plugins.h"
#include "harness/exchange/sample_set.h"
#include "harness/runs/provenance.h"

namespace posbench {
namespace {

/// Commands of former versions, and what replaces them.
struct RemovedCommand {
  const char *name, *replacement;
};
constexpr RemovedCommand kRemoved[] = {
    {"card", "posbench show ENCODING"},
    {"verify", "posbench check REPORT"},
    {"golden", "posbench export ENCODING' or 'posbench check SPEC --against FILE"},
    {"forward", "posbench export RUN TASK ENCODING"},
    {"help", "posbench COMMAND --help"},
    {"recommend", "posbench board --aspects ASPECTS"},
    {"separation", "posbench report RUN --separation"},
};

/// Options of former versions.
constexpr RemovedCommand kRemovedOptions[] = {
    {"--rerun-failed", "--reuse RUN with another -o, which trains again what diverged or failed"},
    {"--keep-going", "a pattern such as -t all, which leaves out what the settings exclude"},
    {"--verdict", "posbench show VERDICT"},
};

std::vector<std::string> long_options(const Command& command) {
  std::vector<std::string> names;
  for (const CommandOption& option : command.options()) {
    for (const std::string& name : option.names()) {
      if (name.starts_with("--")) names.push_back(name);
    }
  }
  return names;
}

/// Returns "-s" for "-s3" and "--seeds" for "--seeds=3".
std::string option_name(const std::string& word) {
  return word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
}

bool is_option(const std::string& word) {
  double number = 0;
  return word.size() > 1 && word[0] == '-' && !parse_number(word, number);
}

std::string unknown_command(const CommandLine& line, const std::string& word) {
  for (const auto& [name, replacement] : kRemoved) {
    if (word == name) return fmt::format("'posbench {}' was removed; use '{}'", name, replacement);
  }
  std::vector<std::string> known = long_options(line.program);  // "version" for "--version"
  for (const Command& command : line.commands) known.push_back(command.name());
  return fmt::format("unknown command '{}'{} ('posbench --help' shows all)", word, did_you_mean(word, known));
}

/// Returns a hint for an option of a command with settings that is the name of one, as --steps, or that other
/// programs have.
std::string option_hint(const Command* command, const std::string& name) {
  if (!command || !command->find("--set")) return "";
  const std::string word = name.substr(std::min(name.find_first_not_of('-'), name.size()));
  for (const char* device : {"device", "gpu", "cuda"}) {
    if (word == device) return "; posbench computes on the CPU, and -j sets the number of experiments at once";
  }
  for (const OptionInfo& setting : all_settings()) {
    const std::string last = setting.name.substr(setting.name.find('.') + 1);
    if (last == word || (word == "lr" && last == "learning_rate"))
      return fmt::format("; use --set {}=VALUE", setting.name);
  }
  return "";
}

std::string unknown_option(const CommandLine& line, const Command* command, const std::string& name) {
  for (const auto& [removed, replacement] : kRemovedOptions) {
    if (name == removed) return fmt::format("{} was removed; use {}", name, replacement);
  }
  std::vector<std::string> known = command ? long_options(*command) : std::vector<std::string>();
  for (const std::string& of_program : long_options(line.program)) known.push_back(of_program);
  const std::string suffix = command ? " " + command->name() : "", hint = option_hint(command, name);
  return fmt::format("unknown option '{}' of 'posbench{}'{} ('posbench{} --help' shows all)", name, suffix,
                     hint.empty() ? did_you_mean(name, known) : hint, suffix);
}

/// Returns a message if the value of an option is another option, so that its own value is missing. Empty
/// otherwise. Lists of tasks and encodings may begin with a dash.
std::string option_as_value(const CommandLine& line, const Command* command, const CommandOption& option,
                            const std::string& name, const std::string& value) {
  if (!is_option(value)) return "";
  const bool is_file = option.kind == ValueKind::file || option.kind == ValueKind::folder;
  if (!is_file && !line.find_option(command, value) && !value.starts_with("--")) return "";
  return fmt::format("{} has no value, but is followed by '{}'; add the value{}", name, value,
                     is_file ? fmt::format(", or write ./{} for a file of this name", value) : "");
}

/// Returns a message about the first argument that should be a command or an option and is none, or about the
/// first option whose value is missing. Empty if there is none.
std::string unknown_word(const CommandLine& line) {
  const std::vector<std::string>& words = line.arguments;
  const Command* command = nullptr;
  for (size_t n = 1; n < words.size() && words[n] != "--"; ++n) {
    const std::string& word = words[n];
    if (!is_option(word)) {
      if (command) continue;
      command = line.find(word);
      if (!command) return unknown_command(line, word);
      continue;
    }
    const std::string name = option_name(word);
    const CommandOption* option = line.find_option(command, name);
    if (!option) return unknown_option(line, command, name);
    if (word == name + "=") return fmt::format("{} has no value; add it after the =, or leave out {}", name, word);
    if (option->kind == ValueKind::none || word != name || ++n == words.size()) continue;
    const std::string message = option_as_value(line, command, *option, name, words[n]);
    if (!message.empty()) return message;
  }
  return "";
}

/// Throws InputError if an output file of a command is one of its input files, or another of its output files.
void check_outputs(const Command& command) {
  namespace fs = std::filesystem;
  struct File {
    std::string option;
    fs::path path;
  };
  std::vector<File> inputs, outputs;
  for (const CommandOption& option : command.options()) {
    const bool is_file = option.kind == ValueKind::file || option.kind == ValueKind::folder;
    if (!is_file && option.kind != ValueKind::subject) continue;
    const std::string name = option.is_argument() ? option.value() : option.names().back();
    for (const std::string& value : option.given()) {
      if (!is_file && subject_of(value) != Subject::path) continue;
      (option.is_output ? outputs : inputs).push_back({name, value});
      if (!option.is_output) inputs.push_back({name, manifest_path(value)});  // read with answers
    }
  }
  std::error_code error;
  const auto place = [&](const File& file) { return fs::weakly_canonical(fs::absolute(file.path, error), error); };
  for (const File& output : outputs) {
    for (const File& other : outputs) {
      if (&other == &output || place(output) != place(other)) continue;
      throw InputError(fmt::format("{} and {} are both '{}'; give each its own file", output.option, other.option,
                                   output.path.string()));
    }
    if (!fs::is_regular_file(output.path, error)) continue;
    for (const File& input : inputs) {
      if (!fs::equivalent(output.path, input.path, error)) continue;
      throw InputError(
          fmt::format("{0} is '{1}', an input of this command, which would be lost; choose another {0}",
                      output.option, output.path.string()));
    }
  }
}

/// Ends the program with a text on standard output.
[[noreturn]] void print_and_exit(const std::string& text) { throw CLI::CallForVersion(text, 0); }

void add_global_options(CommandLine& line) {
  Command& program = line.program;
  program.add(ValueKind::none, line.parser.set_version_flag("-V,--version", version(),
                                                            "version, commit, compiler and flags; then exit"));
  program.flag(
      "--licenses", [] { print_and_exit(license_notices()); },
      "license notices of all linked and embedded libraries; then exit");
  program.flag(
      "--cite", [] { print_and_exit(citation()); }, "entry of BibTeX for a paper; then exit");
  program.flag("--markdown", line.markdown, "with --help: every command and option in one line, as Markdown");
  program
      .flag(
          "-q,--quiet", be_quiet,
          "no progress, no notes and no tables of a finished run; errors and the results of other commands remain")
      .everywhere();
  program
      .choice("--color", color_choice(), {"auto", "always", "never"},
              "use of colors on the console; auto: if standard output is a terminal and NO_COLOR is not set")
      .everywhere();
  CLI::Option* plugins = line.parser.add_option_function<std::vector<std::string>>(
      "--plugin",
      [](const std::vector<std::string>& paths) {
        for (const std::string& path : paths) load_plugin(path);
      },
      "shared library with additional encodings and tasks (docs/plugins.md); may be repeated");
  plugins->envname("POSBENCH_PLUGINS");
  program.add(ValueKind::file, plugins)
      .separated_by(':')
      .repeated()
      .default_text("those in POSBENCH_PLUGINS")
      .everywhere();
}

/// Makes help_text() the --help of a command. Both must outlive the parser.
void format_help(const CommandLine& line, Command& command) {
  command.parser().formatter_fn([&line, &command](auto&&...) { return help_text(line, command); });
}

void add_commands(CommandLine& line) {
  line.program.explain(
      {{"posbench run", "train and test seven encodings on seven tasks"},
       {"posbench check mine", "verify the gradients of an encoding, or the samples of a task"},
       {"posbench show cope", "equation and options of an encoding"},
       {"posbench run --help", "usage of a command"},
       {"posbench --plugin ./libmine.so run -e mine,rope", "an encoding from a plug-in"}},
      {"An encoding or a task with options is a spec, as in rope:base=500,pairing=half_split. Names are accepted "
       "in any case.",
       "Tables on a terminal are as wide as the terminal. The width of a pipe or a file is constant.",
       "Exit codes: 0 success; 1 the command ran and the answer is no (an experiment diverged, a check failed), or "
       "disk, memory or standard output failed; 2 invalid usage or input; 3 a defect of posbench or of a plug-in; 130 "
       "interrupted, with running experiments saved; 128 plus the number of a signal that ended the process at once "
       "(a second Ctrl-C, SIGKILL)."});
  add_global_options(line);
  for (const auto add :
       {add_run, add_merge, add_reproduce, add_report, add_compare, add_board, add_site, add_inspect, add_list,
        add_show, add_sample, add_check, add_bench, add_export, add_score, add_completion}) {
    add(line);
  }
  format_help(line, line.program);
  for (Command& command : line.commands) {
    format_help(line, command);
    command.parser().parse_complete_callback([&command] { check_outputs(command); });
  }
}

/// Prints what completes the last word, for the scripts of `posbench completion`. A plug-in that cannot be loaded
/// has no names.
int print_completions(const CommandLine& line) {
  const std::vector<std::string> words(line.arguments.begin() + 2, line.arguments.end());
  const char* variable = std::getenv("POSBENCH_PLUGINS");
  std::vector<std::string> paths = CLI::detail::split(variable ? variable : "", ':');
  for (size_t n = 0; n + 2 < words.size(); ++n) {
    if (words[n] == "--plugin") paths.push_back(words[n + 1]);
  }
  for (const std::string& path : paths) {
    try {
      load_plugin(path);
    } catch (const InputError&) {
      continue;
    }
  }
  print_text("{}", completions(line, words));
  return 0;
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CommandLine line({argv, argv + argc}, "Benchmark suite for the position encodings of transformers");
  add_commands(line);
  if (argc > 1 && line.arguments[1] == "--complete") return print_completions(line);
  if (const std::string unknown = unknown_word(line); !unknown.empty()) {
    write_error(unknown);
    return 2;
  }
  try {
    line.parser.parse(argc, argv);
    if (line.parser.get_subcommands().empty()) throw CLI::CallForHelp();
  } catch (const CLI::Success& success) {  // --help, --version
    return line.parser.exit(success);
  } catch (const CLI::ParseError& error) {
    const Command* command =
        line.parser.get_subcommands().empty() ? nullptr : line.find(line.parser.get_subcommands()[0]->get_name());
    std::string reason = error.what();
    if (const size_t end = reason.find(": At Most 1 required"); end != reason.npos)
      reason = fmt::format("{0} is given more than once; give it once", reason.substr(0, end));
    write_error(fmt::format("{} (usage: {}; 'posbench {}--help' explains it)", reason,
                            (command ? *command : line.program).usage(), command ? command->name() + " " : ""));
    return 2;
  }
  return line.exit_code;
}

}  // namespace posbench
