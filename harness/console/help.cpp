#include "harness/console/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "harness/config/config.h"
#include "harness/console/terminal.h"
#include "results/document/wrap.h"

namespace posbench {
namespace {

constexpr size_t kColumn = 26;  // the column at which descriptions begin

/// Returns "1 to 4096" of the type "INT:INT in [1 - 4096]". Empty for any other type.
std::string range(const std::string& type) {
  const size_t open = type.find(" in ["), middle = type.find(" - ", open), close = type.find(']', middle);
  if (open == type.npos || middle == type.npos || close == type.npos) return "";
  return type.substr(open + 5, middle - open - 5) + " to " + type.substr(middle + 3, close - middle - 3);
}

/// Returns "-s, --seeds TEXT", or the name of an argument.
std::string left_side(const CLI::Option& option) {
  if (is_argument(option)) return option.get_name(true) + (option.get_items_expected_max() > 1 ? "..." : "");
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  const std::string value = option.get_items_expected_max() > 0 ? " " + value_name(option) : "";
  return fmt::format("{}{}", fmt::join(names, ", "), value);
}

std::string entry(const std::string& left, const std::string& right) {
  std::string text = "  " + left;
  text += text.size() + 2 <= kColumn ? std::string(kColumn - text.size(), ' ') : "\n" + std::string(kColumn, ' ');
  return text + wrap_text(right, kColumn, console_width()) + "\n";
}

template <class Keep>
std::string options(const std::string& heading, const CLI::App& app, Keep keep) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty() && keep(*option)) text += entry(left_side(*option), describe_option(*option));
  }
  return text.empty() ? "" : "\n" + heading + ":\n" + text;
}

/// Returns the commands by group, in the order in which they were added.
std::string commands(const CLI::App& app) {
  std::string text, group;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_group() != group) text += " " + command->get_group() + "\n";
    group = command->get_group();
    text += entry(command->get_name(), command->get_description());
  }
  return text.empty() ? "" : "\nCommands:\n" + text;
}

/// Returns paragraphs that fit the console, each after an empty line.
std::string wrapped_paragraphs(const std::string& notes) {
  std::string text;
  for (size_t begin = 0; begin < notes.size();) {
    const size_t end = std::min(notes.find("\n\n", begin), notes.size());
    text += "\n" + wrap_text(notes.substr(begin, end - begin), 0, console_width()) + "\n";
    begin = end + 2;
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
std::string wrapped_examples(const std::string& examples) {
  const auto width = static_cast<size_t>(console_width());
  std::string text;
  for (size_t begin = 0; begin < examples.size();) {
    const size_t end = std::min(examples.find('\n', begin), examples.size());
    const std::string line = examples.substr(begin, end - begin);
    const size_t gap = line.size() > width ? line.find("  ", 2) : line.npos;
    text += wrapped_command(line.substr(0, gap), width) + "\n";
    if (gap != line.npos) text += fmt::format("{:6}{}\n", "", line.substr(line.find_first_not_of(' ', gap)));
    begin = end + 1;
  }
  return text;
}

}  // namespace

std::string usage_of(const CLI::App& app) {
  if (app.get_parent() == nullptr) return "posbench COMMAND [OPTIONS]";
  std::string text = "posbench " + app.get_name() + " [OPTIONS]";
  for (const CLI::Option* option : app.get_options()) {
    if (!is_argument(*option)) continue;
    const std::string name = left_side(*option);
    text += option->get_required() ? " " + name : " [" + name + "]";
  }
  return text;
}

void set_footer(CLI::App& app, const std::vector<HelpExample>& examples, const std::vector<std::string>& notes) {
  constexpr size_t kWidest = 72;  // an example that is wider does not move the meanings of the others
  size_t column = 0;
  for (const auto& [command, meaning] : examples) {
    if (!meaning.empty() && command.size() <= kWidest) column = std::max(column, command.size());
  }
  std::string text = "Examples:";
  for (const auto& [command, meaning] : examples)
    text += meaning.empty() ? "\n  " + command : fmt::format("\n  {:<{}}  {}", command, column, meaning);
  for (const std::string& note : notes) text += "\n\n" + note;
  app.footer(text);
}

std::pair<std::string, std::string> split_footer(const std::string& footer) {
  const size_t begin = std::min(footer.find('\n') + 1, footer.size()),
               end = std::min(footer.find("\n\n"), footer.size());
  return {footer.substr(begin, end - begin), footer.substr(std::min(end + 2, footer.size()))};
}

std::vector<std::string> choices_of(const std::string& type) {
  const size_t open = type.find('{'), close = type.rfind('}');
  if (open == type.npos || close == type.npos) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

bool is_argument(const CLI::Option& option) { return option.get_positional() && option.get_lnames().empty(); }

std::string value_name(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

std::string describe_option(const CLI::Option& option) {
  std::string text = option.get_description();
  const std::vector<std::string> words = choices_of(option.get_type_name());
  if (!words.empty()) text += fmt::format("{}one of {}", text.empty() ? "" : "; ", fmt::join(words, ", "));
  const std::string numbers = range(option.get_type_name());
  if (!numbers.empty()) text += "; " + numbers;
  const std::string& initial = option.get_default_str();
  const bool shown = !initial.empty() && initial != "[]" && initial != "{}" && option.get_items_expected_max() > 0;
  if (option.get_required()) return text + " [required]";
  return shown ? fmt::format("{} [default: {}]", text, initial) : text;
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  const auto everywhere = [](const CLI::Option& o) { return o.get_group() == kEverywhere; };
  std::string text = wrap_text(app->get_description(), 0, console_width()) + "\nUsage: " + usage_of(*app) + "\n";
  text += options("Arguments", *app, is_argument);
  text += options("Options", *app, [&](const CLI::Option& o) { return !is_argument(o) && !everywhere(o); });
  text += options(kEverywhere, app->get_parent() ? *app->get_parent() : *app, everywhere);
  const auto [examples, notes] = split_footer(app->get_footer());
  return text + commands(*app) + "\nExamples:\n" + wrapped_examples(examples) + wrapped_paragraphs(notes) + "\n";
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  return CLI::Validator(
      [words](const std::string& given) {
        if (std::find(words.begin(), words.end(), given) != words.end()) return std::string();
        return fmt::format("'{}' is not one of {}{}", given, fmt::join(words, ", "), did_you_mean(given, words));
      },
      fmt::format("{{{}}}", fmt::join(words, ",")));
}

CLI::Validator in_range(const CLI::Range& allowed) {
  const std::string description = allowed.get_description();
  return CLI::Validator(
      [allowed, description](std::string& given) {
        double number = 0;
        if (parse_number(given, number) && allowed(given).empty()) return std::string();
        return fmt::format("'{}' is not a number from {}", given, range(description));
      },
      description);
}

CLI::Validator seed_range() {
  return CLI::Validator(
      [](const std::string& given) {
        return parse_seed(given) ? "" : fmt::format("'{}' is not an integer from 0 to {}", given, kMaxSeed);
      },
      "");
}

CLI::Option* add_choice(CLI::App& command, const std::string& names, std::string& target,
                        const std::vector<std::string>& words, const std::string& help) {
  return command.add_option(names, target, help)->check(one_of(words))->type_name("WORD");
}

CLI::Option* add_list_option(CLI::App& command, const std::string& names, std::optional<std::string>& list,
                             const std::string& help) {
  return command
      .add_option_function<std::vector<std::string>>(
          names,
          [&list](const std::vector<std::string>& given) { list = fmt::format("{}", fmt::join(given, ",")); },
          help)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("LIST");
}

}  // namespace posbench
