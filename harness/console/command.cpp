#include "harness/console/command.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/enum_names.h"
#include "base/text.h"
#include "harness/config/config.h"

namespace posbench {

CommandOption& CommandOption::required() {
  parsed_->required();
  return *this;
}

CommandOption& CommandOption::default_text(const std::string& text) {
  parsed_->default_str(text);
  return *this;
}

CommandOption& CommandOption::repeated() {
  parsed_->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return *this;
}

CommandOption& CommandOption::separated_by(char delimiter) {
  parsed_->delimiter(delimiter);
  return *this;
}

CommandOption& CommandOption::excludes(const std::string& name) {
  parsed_->excludes(name);
  return *this;
}

CommandOption& CommandOption::needs(const std::string& name) {
  parsed_->needs(name);
  return *this;
}

CommandOption& CommandOption::output() {
  is_output = true;
  return *this;
}

CommandOption& CommandOption::everywhere() {
  is_everywhere = true;
  return *this;
}

std::vector<std::string> CommandOption::names() const {
  std::vector<std::string> names;
  for (const std::string& name : parsed_->get_snames()) names.push_back("-" + name);
  for (const std::string& name : parsed_->get_lnames()) names.push_back("--" + name);
  return names;
}

std::string CommandOption::value() const {
  if (is_argument()) return parsed_->get_name(true);
  static const EnumNames<ValueKind> others{{ValueKind::none, ""},         {ValueKind::text, "TEXT"},
                                           {ValueKind::number, "NUMBER"}, {ValueKind::file, "FILE"},
                                           {ValueKind::folder, "DIR"},    {ValueKind::choice, "WORD"}};
  if (kind < ValueKind::task) return others.name(kind);
  return is_list ? "LIST" : "NAME";
}

std::string CommandOption::title() const {
  if (is_argument()) return value() + (takes_several() ? "..." : "");
  return fmt::format("{}{}{}", fmt::join(names(), ", "), kind == ValueKind::none ? "" : " ", value());
}

std::string CommandOption::description() const {
  std::string text = parsed_->get_description();
  if (!choices.empty()) text += fmt::format("; one of {}", fmt::join(choices, ", "));
  if (!range.empty()) text += "; " + range;
  const std::string& initial = parsed_->get_default_str();
  const bool is_shown = kind != ValueKind::none && !initial.empty() && initial != "[]" && initial != "{}";
  if (is_required()) return text + " [required]";
  return is_shown ? fmt::format("{} [default: {}]", text, initial) : text;
}

CommandOption& Command::add(ValueKind kind, CLI::Option* parsed) { return options_.emplace_back(kind, parsed); }

CommandOption& Command::add_choice(CLI::Option* parsed, const std::vector<std::string>& words) {
  CommandOption& option = add(ValueKind::choice, parsed);
  option.choices = words;
  parsed->check([words](const std::string& given) {
    if (std::ranges::find(words, given) != words.end()) return std::string();
    return fmt::format("'{}' is not one of {}{}", given, fmt::join(words, ", "), did_you_mean(given, words));
  });
  return option;
}

CommandOption& Command::add_seed(CLI::Option* parsed) {
  parsed->check([](const std::string& given) {
    return parse_seed(given) ? "" : fmt::format("'{}' is not an integer from 0 to {}", given, kMaxSeed);
  });
  return add(ValueKind::number, parsed);
}

CommandOption& Command::list(const std::string& names, std::optional<std::string>& target, ValueKind kind,
                             const std::string& help) {
  const auto set = [&target](const std::vector<std::string>& given) {
    target = fmt::format("{}", fmt::join(given, ","));
  };
  CommandOption& option = add(kind, parser_->add_option_function<std::vector<std::string>>(names, set, help));
  option.is_list = true;
  return option.repeated();
}

void Command::explain(std::vector<HelpExample> examples, std::vector<std::string> notes) {
  examples_ = std::move(examples);
  notes_ = std::move(notes);
}

std::string Command::usage() const {
  if (!parser_->get_parent()) return "posbench COMMAND [OPTIONS]";
  std::string text = "posbench " + name() + " [OPTIONS]";
  for (const CommandOption& option : options_) {
    if (option.is_argument())
      text += fmt::format(fmt::runtime(option.is_required() ? " {}" : " [{}]"), option.title());
  }
  return text;
}

const CommandOption* Command::find(const std::string& name) const {
  const auto found = std::ranges::find_if(
      options_, [&](const CommandOption& option) { return std::ranges::count(option.names(), name) > 0; });
  return found == options_.end() ? nullptr : &*found;
}

CommandLine::CommandLine(std::vector<std::string> arguments, const std::string& description)
    : arguments(std::move(arguments)), parser(description, "posbench") {
  parser.option_defaults()->always_capture_default();
  parser.require_subcommand(0, 1);  // an argument may be a folder with the name of a command
  program.add(ValueKind::none, parser.set_help_flag("-h,--help", "this help; then exit"));
}

Command& CommandLine::add(const std::string& group, const std::string& name, const std::string& description) {
  CLI::App& added = *parser.add_subcommand(name, description)->group(group);
  Command& command = commands.emplace_back(added, exit_code);
  command.add(ValueKind::none, added.get_help_ptr());
  added.fallthrough();  // the options of the program may come after the command
  return command;
}

const Command* CommandLine::find(const std::string& name) const {
  const auto found =
      std::ranges::find_if(commands, [&](const Command& command) { return command.name() == name; });
  return found == commands.end() ? nullptr : &*found;
}

const CommandOption* CommandLine::find_option(const Command* command, const std::string& name) const {
  const CommandOption* option = command ? command->find(name) : nullptr;
  return option ? option : program.find(name);
}

}  // namespace posbench
