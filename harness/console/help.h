// Formats --help, and adds options whose values are one of several words.
#pragma once
#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace posbench {

/// The group of the options that are accepted after every command.
constexpr const char* kEverywhere = "Options of every command";

/// Formats usage, options with their choices and defaults, commands by group, examples and notes.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App*, std::string name, CLI::AppFormatMode) const override;
};

struct HelpExample {
  std::string command, meaning;  // the meaning may be empty
};

/// Sets the end of the help: examples, then paragraphs of notes.
void set_footer(CLI::App&, const std::vector<HelpExample>&, const std::vector<std::string>& notes = {});
/// Returns the lines of the examples and the paragraphs of the notes of a footer.
std::pair<std::string, std::string> split_footer(const std::string& footer);

/// Returns "posbench run [OPTIONS]".
std::string usage_of(const CLI::App&);

/// Returns whether an option is an argument, which has a place instead of a name.
bool is_argument(const CLI::Option&);
/// Returns the name of an option's value, "INT".
std::string value_name(const CLI::Option&);
/// Returns the description of an option, its choices or its range, and its default.
std::string describe_option(const CLI::Option&);
/// Returns the choices in the type of an option, "WORD:{auto,always}". Empty for any other type.
std::vector<std::string> choices_of(const std::string& type);

/// Accepts only these words. The message of a refusal names the nearest one.
CLI::Validator one_of(const std::vector<std::string>& words);

/// Accepts the numbers of a range, in_range({1, 9}). The message of a refusal has the range as --help shows it.
CLI::Validator in_range(const CLI::Range& allowed);

/// Accepts the seeds that a run accepts. Without it, -1 would become a large number.
CLI::Validator seed_range();

/// Adds an option whose value is one of some words, each of which names a value. `Target` is Value, or
/// std::optional<Value> if there is no default.
template <class Target, class Value>
CLI::Option* add_choice(CLI::App& command, const std::string& names, Target& target,
                        std::vector<std::pair<std::string, Value>> choices, const std::string& help) {
  std::vector<std::string> words;
  for (const auto& [word, value] : choices) words.push_back(word);
  const auto initial =
      std::find_if(choices.begin(), choices.end(), [&](const auto& c) { return target == c.second; });
  const std::string initial_word = initial == choices.end() ? "" : initial->first;
  CLI::Option* option = command.add_option_function<std::string>(
      names,
      [&target, choices](const std::string& word) {
        for (const auto& [name, value] : choices) {
          if (name == word) target = value;
        }
      },
      help);
  option->check(one_of(words))->type_name("WORD");
  if (!initial_word.empty()) option->default_str(initial_word);
  return option;
}

/// Adds an option whose value is one of these words.
CLI::Option* add_choice(CLI::App& command, const std::string& names, std::string& target,
                        const std::vector<std::string>& words, const std::string& help);

/// Adds a comma-separated list, which grows if the option is given several times.
CLI::Option* add_list_option(CLI::App& command, const std::string& names, std::optional<std::string>& list,
                             const std::string& help);

}  // namespace posbench
