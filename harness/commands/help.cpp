#include "harness/commands/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "harness/commands/terminal.h"

namespace posbench {
namespace {

constexpr size_t kColumn = 26;  // where descriptions begin

/// "TYPE:{a,b}" as "a", "b"; nothing for another type.
std::vector<std::string> choices(const std::string& type) {
  const size_t open = type.find('{'), close = type.rfind('}');
  if (open == type.npos || close == type.npos) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

/// "1 to 4096" of "INT:INT in [1 - 4096]"; empty for another type.
std::string range(const std::string& type) {
  const size_t open = type.find(" in ["), middle = type.find(" - ", open), close = type.find(']', middle);
  if (open == type.npos || middle == type.npos || close == type.npos) return "";
  return type.substr(open + 5, middle - open - 5) + " to " + type.substr(middle + 3, close - middle - 3);
}

/// "-s, --seeds TEXT"; of a positional its name.
std::string left_side(const CLI::Option& option) {
  if (option.get_positional() && option.get_lnames().empty()) {
    return option.get_name(true) + (option.get_items_expected_max() > 1 ? "..." : "");
  }
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  const std::string type = option.get_type_name();
  const std::string value = option.get_items_expected_max() > 0 ? " " + type.substr(0, type.find(':')) : "";
  return fmt::format("{}{}", fmt::join(names, ", "), value);
}

std::string entry(const std::string& left, const std::string& right) {
  std::string text = "  " + left;
  text += text.size() + 2 <= kColumn ? std::string(kColumn - text.size(), ' ') : "\n" + std::string(kColumn, ' ');
  return text + wrapped(right, kColumn, console_width()) + "\n";
}

template <class Keep>
std::string options(const std::string& heading, const CLI::App& app, Keep keep) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty() && keep(*option)) text += entry(left_side(*option), describe_option(*option));
  }
  return text.empty() ? "" : "\n" + heading + ":\n" + text;
}

std::string usage(const CLI::App& app) {
  std::string text = "Usage: posbench";
  if (app.get_parent() == nullptr) return text + " COMMAND [OPTIONS]\n";
  text += " " + app.get_name() + " [OPTIONS]";
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional() || !option->get_lnames().empty()) continue;
    const std::string name = left_side(*option);
    text += option->get_required() ? " " + name : " [" + name + "]";
  }
  return text + "\n";
}

}  // namespace

std::string describe_option(const CLI::Option& option) {
  std::string text = option.get_description();
  const std::vector<std::string> words = choices(option.get_type_name());
  if (!words.empty()) text += fmt::format("{}one of {}", text.empty() ? "" : "; ", fmt::join(words, ", "));
  const std::string numbers = range(option.get_type_name());
  if (!numbers.empty()) text += "; " + numbers;
  const std::string& initial = option.get_default_str();
  const bool shown = !initial.empty() && initial != "[]" && initial != "{}" && option.get_items_expected_max() > 0;
  if (option.get_required()) return text + " [required]";
  return shown ? fmt::format("{} [default: {}]", text, initial) : text;
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  const auto positional = [](const CLI::Option& o) { return o.get_positional() && o.get_lnames().empty(); };
  const auto everywhere = [](const CLI::Option& o) { return o.get_group() == kEverywhere; };
  std::string text = app->get_description() + "\n" + usage(*app);
  text += options("Arguments", *app, positional);
  text += options("Options", *app, [&](const CLI::Option& o) { return !positional(o) && !everywhere(o); });
  text += options(kEverywhere, app->get_parent() ? *app->get_parent() : *app, everywhere);
  const std::vector<const CLI::App*> verbs = app->get_subcommands({});
  if (!verbs.empty()) text += "\nCommands:\n";
  for (const CLI::App* verb : verbs) text += entry(verb->get_name(), verb->get_description());
  return text + "\n" + app->get_footer() + "\n";
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  return CLI::Validator(
      [words](const std::string& given) {
        if (std::find(words.begin(), words.end(), given) != words.end()) return std::string();
        return fmt::format("'{}' is none of {}{}", given, fmt::join(words, ", "), did_you_mean(given, words));
      },
      fmt::format("{{{}}}", fmt::join(words, ",")));
}

CLI::Option* add_choice(CLI::App& command, const std::string& names, std::string& target,
                        const std::vector<std::string>& words, const std::string& help) {
  return command.add_option(names, target, help)->check(one_of(words))->type_name("WORD");
}

CLI::Option* add_list_option(CLI::App& command, const std::string& names, std::optional<std::string>& list,
                             const std::string& help) {
  return command
      .add_option_function<std::vector<std::string>>(
          names, [&list](const std::vector<std::string>& given) { list = fmt::format("{}", fmt::join(given, ",")); }, help)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("LIST");
}

}  // namespace posbench
