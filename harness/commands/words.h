// What the command line may have at each position, read from the parser: for completions and the manual page.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace posbench {

/// What a value is completed by.
enum class ValueKind { none, file, choice, tasks, encodings, checked, named, profiles, splits, settings };

struct OptionWords {
  std::string short_name, long_name;  // "-t", "--tasks"; either may be empty; both are for a positional
  std::string value;                  // how help calls its value; empty for a flag
  std::string description;
  ValueKind kind = ValueKind::none;
  std::vector<std::string> choices;  // where the kind is choice
};

struct VerbWords {
  std::string name, description, footer;
  std::vector<OptionWords> options, positionals;
};

/// Of the program itself, whose name is empty, and then of each verb.
std::vector<VerbWords> words(const CLI::App&);

/// The names that a kind of value is completed by; settings end in '='. Empty for files and choices.
std::vector<std::string> names_of(ValueKind);
std::string to_text(ValueKind);

}  // namespace posbench
