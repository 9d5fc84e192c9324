// The format of --help, and options whose values are words.
#pragma once
#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace posbench {

/// The group of options that may come after every verb.
constexpr const char* kEverywhere = "Options of every command";

/// Usage, options with their choices and defaults in words, and for a verb the options of every command.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App*, std::string name, CLI::AppFormatMode) const override;
};

/// What --help says of an option: its description, the words or the range that its value is of, and its default.
std::string describe_option(const CLI::Option&);

/// Accepts these words only, and says which is near.
CLI::Validator one_of(const std::vector<std::string>& words);

/// An option whose value is one of some words, each of which names a value. `Target` is Value, or
/// std::optional<Value> where there is no default.
template <class Target, class Value>
CLI::Option* add_choice(CLI::App& command, const std::string& names, Target& target,
                        std::vector<std::pair<std::string, Value>> choices, const std::string& help) {
  std::vector<std::string> words;
  for (const auto& [word, value] : choices) words.push_back(word);
  const auto initial = std::find_if(choices.begin(), choices.end(), [&](const auto& c) { return target == c.second; });
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

/// The same where the words themselves are the values.
CLI::Option* add_choice(CLI::App& command, const std::string& names, std::string& target,
                        const std::vector<std::string>& words, const std::string& help);

/// A comma-separated list that adds up where the option is given several times.
CLI::Option* add_list_option(CLI::App& command, const std::string& names, std::optional<std::string>& list,
                             const std::string& help);

}  // namespace posbench
