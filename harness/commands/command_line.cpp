#include "harness/commands/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "harness/commands/commands.h"
#include "harness/console/command_description.h"
#include "harness/console/help.h"
#include "harness/console/known_names.h"
#include "harness/console/licenses.h"
#include "harness/console/man_page.h"
#include "harness/console/message.h"
#include "harness/exchange/plugins.h"
#include "harness/exchange/sample_set.h"
#include "harness/runs/provenance.h"

namespace posbench {
namespace {

/// Returns null if there is no such command.
const CLI::App* find_command(const CLI::App& app, const std::string& word) {
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == word) return command;
  }
  return nullptr;
}

/// Returns the option with a name, "-s" or "--seeds". Null if there is none.
const CLI::Option* find_option(const CLI::App& app, const std::string& name) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->check_name(name) && !option->get_positional()) return option;
  }
  return nullptr;
}

std::vector<std::string> long_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
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

/// Commands of former versions, and what replaces them.
struct RemovedCommand {
  const char *name, *replacement;
};
constexpr RemovedCommand kRemoved[] = {
    {"recommend", "posbench board --aspects ASPECTS"},
};

std::string unknown_command(const CLI::App& app, const std::string& word) {
  for (const auto& [name, replacement] : kRemoved) {
    if (word == name) return fmt::format("'posbench {}' was removed; use '{}'", name, replacement);
  }
  std::vector<std::string> known = long_options(app);  // "version" for "--version"
  for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
  return fmt::format("unknown command '{}'{} ('posbench --help' shows all)", word, did_you_mean(word, known));
}

/// Returns a hint for an option of a command with settings that is the name of one, as --steps, or that other
/// programs have.
std::string option_hint(const CLI::App* command, const std::string& name) {
  if (!command || !find_option(*command, "--set")) return "";
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

std::string unknown_option(const CLI::App& app, const CLI::App* command, const std::string& name) {
  std::vector<std::string> known = long_options(app);
  if (command) {
    const std::vector<std::string> of_command = long_options(*command);
    known.insert(known.begin(), of_command.begin(), of_command.end());
  }
  const std::string suffix = command ? " " + command->get_name() : "", hint = option_hint(command, name);
  return fmt::format("unknown option '{}' of 'posbench{}'{} ('posbench{} --help' shows all)", name, suffix,
                     hint.empty() ? did_you_mean(name, known) : hint, suffix);
}

/// Returns a message if the value of an option is another option, so that its own value is missing. Empty
/// otherwise. Lists of tasks and encodings may begin with a dash.
std::string option_as_value(const CLI::App& app, const CLI::App* command, const CLI::Option& option,
                            const std::string& name, const std::string& value) {
  if (!is_option(value)) return "";
  const bool is_file = completion_kind(option) == CompletionKind::file;
  const bool is_known = find_option(app, value) || (command && find_option(*command, value));
  if (!is_file && !is_known && !value.starts_with("--")) return "";
  return fmt::format("{} has no value, but is followed by '{}'; add the value{}", name, value,
                     is_file ? fmt::format(", or write ./{} for a file of this name", value) : "");
}

/// Returns a message about the first argument that should be a command or an option and is none, or about the
/// first option whose value is missing. Empty if there is none.
std::string unknown_word(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App* command = nullptr;
  for (size_t n = 1; n < arguments.size() && arguments[n] != "--"; ++n) {
    const std::string& word = arguments[n];
    if (!is_option(word)) {
      if (command) continue;
      command = find_command(app, word);
      if (!command) return unknown_command(app, word);
      continue;
    }
    const std::string name = option_name(word);
    const CLI::Option* option = command ? find_option(*command, name) : nullptr;
    if (!option) option = find_option(app, name);
    if (!option) return unknown_option(app, command, name);
    if (word == name + "=") return fmt::format("{} has no value; add it after the =, or leave out {}", name, word);
    if (option->get_items_expected_max() == 0 || word != name || ++n == arguments.size()) continue;
    const std::string message = option_as_value(app, command, *option, name, arguments[n]);
    if (!message.empty()) return message;
  }
  return "";
}

/// Throws InputError if an output file of a command is one of its input files, or another of its output files.
void check_outputs(const CLI::App& command) {
  namespace fs = std::filesystem;
  struct File {
    std::string option;
    fs::path path;
  };
  std::vector<File> inputs, outputs;
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || completion_kind(*option) != CompletionKind::file) continue;
    bool is_output = false;
    for (const char* name : {"--output", "--manifest", "--model-output", "--page"})
      is_output = is_output || option->check_name(name);
    for (const std::string& value : option->results()) {
      (is_output ? outputs : inputs).push_back({option->get_name(), value});
      if (!is_output) inputs.push_back({option->get_name(), manifest_path(value)});  // read with answers
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

void add_global_options(CLI::App& app) {
  app.set_version_flag("-V,--version", version(), "version, commit, compiler and flags; then exit");
  app.add_flag_callback(
      "--licenses", [] { throw CLI::CallForVersion(license_notices(), 0); },
      "license notices of all linked and embedded libraries; then exit");
  app.add_flag_callback("--man-page",
                        [&app] { throw CLI::CallForVersion(man_page(describe_command_line(app)), 0); })
      ->group("");  // hidden
  app.add_flag_callback("-q,--quiet", be_quiet,
                        "no progress and no notes on standard error; errors and results remain")
      ->group(kEverywhere);
  app.add_option_function<std::vector<std::string>>(
         "--plugin",
         [](const std::vector<std::string>& paths) {
           for (const std::string& path : paths) load_plugin(path);
         },
         "shared library with additional encodings and tasks (docs/plugins.md); may be repeated")
      ->envname("POSBENCH_PLUGINS")
      ->delimiter(':')
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("FILE")
      ->default_str("those in POSBENCH_PLUGINS")
      ->group(kEverywhere);
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app{"Benchmark suite for the position encodings of transformers", "posbench"};
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", "this help; then exit");
  app.option_defaults()->always_capture_default();
  app.require_subcommand(1);
  set_footer(
      app,
      {{"posbench run", "train and test the core encodings on the core tasks"},
       {"posbench check mine", "verify the gradients of an encoding, or the samples of a task"},
       {"posbench show cope", "equation and options of an encoding"},
       {"posbench help run", "usage of a command"},
       {"posbench --plugin ./libmine.so run -e mine,rope", "an encoding from a plug-in"}},
      {"An encoding or a task with options is a spec, as in cope:positions=16,gates=separate. Names are accepted "
       "in any case.",
       "Tables on a terminal are as wide as the terminal. The width of a pipe or a file is constant.",
       "Exit codes: 0 success; 1 the command ran and the answer is no (an experiment diverged, a check failed), or "
       "disk, memory or standard output failed; 2 invalid usage or input; 3 a defect of posbench; 130 interrupted, "
       "with running experiments saved; 128 plus the number of a signal that ended the process at once (a second "
       "Ctrl-C, SIGKILL)."});
  add_global_options(app);
  Invocation invocation{.arguments = {argv, argv + argc}};
  for (const auto add :
       {add_run,    add_merge,      add_reproduce, add_verify, add_report,     add_compare, add_board, add_card,
        add_site,   add_separation, add_inspect,   add_list,   add_show,       add_sample,  add_check, add_bench,
        add_export, add_golden,     add_forward,   add_score,  add_completion, add_help}) {
    add(app, invocation);
  }
  for (CLI::App* command : app.get_subcommands({})) {
    command->fallthrough();  // --plugin and --quiet may come after the command
    command->parse_complete_callback([command] { check_outputs(*command); });
  }
  if (const std::string unknown = unknown_word(app, invocation.arguments); !unknown.empty()) {
    write_error(unknown);
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    const CLI::App& command = app.get_subcommands().empty() ? app : *app.get_subcommands()[0];
    const std::string name = &command == &app ? "" : command.get_name() + " ";
    const bool has_none = &command == &app && error.get_name() == "RequiredError";
    std::string reason = has_none ? "no command is given" : error.what();
    if (const size_t end = reason.find(": At Most 1 required"); end != reason.npos)
      reason = fmt::format("{0} is given more than once; give it once", reason.substr(0, end));
    write_error(fmt::format("{} (usage: {}; 'posbench {}--help' explains it)", reason, usage_of(command), name));
    return 2;
  }
  return invocation.exit_code;
}

}  // namespace posbench
