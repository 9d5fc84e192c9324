#include "harness/commands/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/text.h"
#include "harness/commands/commands.h"
#include "harness/commands/completion.h"
#include "harness/commands/help.h"
#include "harness/commands/licenses.h"
#include "harness/commands/message.h"
#include "harness/commands/words.h"
#include "harness/runs/context.h"
#include "harness/runs/plugins.h"

namespace posbench {
namespace {

const CLI::App* find_verb(const CLI::App& app, const std::string& word) {
  for (const CLI::App* verb : app.get_subcommands({})) {
    if (verb->get_name() == word) return verb;
  }
  return nullptr;
}

/// An option by its name as it is typed; null where there is none.
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

/// "-s" of "-s3", "--seeds" of "--seeds=3".
std::string option_name(const std::string& word) {
  return word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
}

bool is_option(const std::string& word) {
  double number = 0;
  return word.size() > 1 && word[0] == '-' && !parse(word, number);
}

std::string unknown_verb(const CLI::App& app, const std::string& word) {
  std::vector<std::string> known = long_options(app);  // "version" for "--version"
  for (const CLI::App* verb : app.get_subcommands({})) known.push_back(verb->get_name());
  return fmt::format("unknown command '{}'{} ('posbench --help' shows all)", word, did_you_mean(word, known));
}

std::string unknown_option(const CLI::App& app, const CLI::App* verb, const std::string& name) {
  std::vector<std::string> known = long_options(app);
  if (verb) {
    const std::vector<std::string> own = long_options(*verb);
    known.insert(known.begin(), own.begin(), own.end());
  }
  const std::string of = verb ? " " + verb->get_name() : "";
  return fmt::format("unknown option '{}' of 'posbench{}'{} ('posbench{} --help' shows all)", name, of,
                     did_you_mean(name, known), of);
}

/// What is said of the first word that is no verb, or no option, where one is expected; empty where there is none.
std::string unknown_word(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* verb = nullptr;
  for (size_t n = 1; n < words.size() && words[n] != "--"; ++n) {
    const std::string& word = words[n];
    if (!is_option(word)) {
      if (verb) continue;
      verb = find_verb(app, word);
      if (!verb) return unknown_verb(app, word);
      continue;
    }
    const std::string name = option_name(word);
    const CLI::Option* option = verb ? find_option(*verb, name) : nullptr;
    if (!option) option = find_option(app, name);
    if (!option) return unknown_option(app, verb, name);
    if (option->get_items_expected_max() > 0 && word == name) ++n;  // its value
  }
  return "";
}

void add_global_options(CLI::App& app) {
  app.set_version_flag("-V,--version", version(), "Print version, commit, compiler and flags, and exit");
  app.add_flag_callback(
      "--licenses", [] { throw CLI::CallForVersion(license_notices(), 0); },
      "Print the licence notices of what is linked and embedded, and exit");
  app.add_flag_callback("--man-page", [&app] { throw CLI::CallForVersion(man_page(app), 0); })->group("");  // hidden
  app.add_flag_callback("-q,--quiet", be_quiet, "No progress and no notes on standard error; errors and results remain")
      ->group(kEverywhere);
  app.add_option_function<std::vector<std::string>>(
         "--plugin",
         [](const std::vector<std::string>& paths) {
           for (const std::string& path : paths) load_plugin(path);
         },
         "A shared library with encodings and tasks of your own; may be repeated (docs/plugins.md)")
      ->envname("POSBENCH_PLUGINS")
      ->delimiter(':')
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("FILE")
      ->default_str("what POSBENCH_PLUGINS lists")
      ->group(kEverywhere);
}

void add_help(CLI::App& app, Invocation&) {
  const auto name = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("help", "Show the usage of a command");
  std::vector<std::string> verbs;
  for (const CLI::App* verb : app.get_subcommands({})) verbs.push_back(verb->get_name());
  command->add_option("command", *name, "a command; all if none is given")->check(one_of(verbs));
  command->footer("Examples:\n  posbench help run");
  command->callback([name, &app] {
    const CLI::App* verb = name->empty() ? &app : find_verb(app, *name);
    std::fputs(HelpFormatter().make_help(verb, "", CLI::AppFormatMode::Normal).c_str(), stdout);
  });
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app{"posbench: what can a transformer's position encoding do, and where does it break?", "posbench"};
  app.formatter(std::make_shared<HelpFormatter>());
  app.option_defaults()->always_capture_default();
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  posbench run                   train and test the core encodings on the core tasks\n"
      "  posbench check mine            prove an encoding's gradients, or a task's generator\n"
      "  posbench show cope             what it computes, and its options\n"
      "  posbench help run              the usage of a command\n"
      "Exit codes: 0 fine; 1 it ran and the answer is no, or disk, memory or output failed; 2 bad usage or input;\n"
      "3 internal failure; 130 interrupted; 128 and a signal's number where it ended the process at once.");
  add_global_options(app);
  Invocation invocation{.words = {argv, argv + argc}};
  for (const auto add : {add_run, add_list, add_show, add_sample, add_check, add_merge, add_compare, add_report,
                         add_inspect, add_export, add_score, add_forward, add_bench, add_verify, add_completion,
                         add_reproduce, add_board, add_separation, add_help}) {
    add(app, invocation);
  }
  for (CLI::App* verb : app.get_subcommands({})) verb->fallthrough();  // --plugin and --quiet may come after the verb
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    const std::string unknown = unknown_word(app, invocation.words);
    const std::string verb = app.get_subcommands().empty() ? "" : app.get_subcommands()[0]->get_name() + " ";
    write_error(unknown.empty() ? fmt::format("{} ('posbench {}--help' shows the usage)", error.what(), verb) : unknown);
    return 2;
  }
  return invocation.code;
}

}  // namespace posbench
