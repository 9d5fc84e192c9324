// Declares a command with its options once. The parser, the help, the reference, the completion and
// the check of outputs read this table.
#pragma once
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <concepts>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace posbench {

/// The kind of a value. The program knows the names that values of the kinds from `task` on can have.
enum class ValueKind {
  none,  // a flag
  text,
  number,
  file,
  folder,
  choice,
  task,
  encoding,
  subject,    // a task, an encoding, a file or a folder
  explained,  // whatever `posbench show` explains
  profile,
  split,
  setting,  // SECTION.NAME=VALUE
  aspect,
  claim,
};

/// An option of a command, or an argument, which has a place instead of a name.
class CommandOption {
 public:
  CommandOption(ValueKind kind, CLI::Option* parsed) : kind(kind), parsed_(parsed) {}

  CommandOption& required();
  CommandOption& default_text(const std::string&);   // in the help, for a default that is no value
  CommandOption& repeated();                         // has one value each time that it is given
  CommandOption& separated_by(char);                 // its values are a list in one word
  CommandOption& excludes(const std::string& name);  // of an option that the command has already
  CommandOption& needs(const std::string& name);
  CommandOption& output();      // a file or a folder that the command writes
  CommandOption& everywhere();  // of the program: accepted after every command too

  std::vector<std::string> names() const;  // "-t" and "--tasks"; none for an argument
  std::string title() const;               // "-t, --tasks LIST", or the name of an argument
  std::string value() const;               // "LIST", the name of an argument, or nothing for a flag
  std::string description() const;         // the help, the choices or the range, and the default
  bool takes_several() const { return parsed_->get_items_expected_max() > 1; }
  bool is_argument() const { return parsed_->get_positional() && parsed_->get_lnames().empty(); }
  bool is_required() const { return parsed_->get_required(); }
  const std::vector<std::string>& given() const { return parsed_->results(); }

  ValueKind kind;
  std::vector<std::string> choices;  // of ValueKind::choice
  std::string range;                 // "1 to 4096"; empty: any number, or no number
  bool is_list = false;              // of names, separated by commas
  bool is_output = false, is_everywhere = false;

 private:
  friend class Command;
  CLI::Option* parsed_;
};

struct HelpExample {
  std::string command, meaning;  // the meaning may be empty
};

class Command {
 public:
  Command(CLI::App& parser, int& exit_code) : parser_(&parser), exit_code_(&exit_code) {}

  // The names of an option are "-s,--seeds", those of an argument "task". A target is a value, a std::optional or
  // a vector.
  template <class T>
  CommandOption& text(const std::string& names, T& target, const std::string& help) {
    return add(ValueKind::text, parser_->add_option(names, target, help));
  }
  CommandOption& text(const std::string& names, const std::function<void(const std::string&)>& set,
                      const std::string& help) {
    return add(ValueKind::text, parser_->add_option_function<std::string>(names, set, help));
  }
  template <class T>
  CommandOption& file(const std::string& names, T& target, const std::string& help) {
    return add(ValueKind::file, parser_->add_option(names, target, help));
  }
  template <class T>
  CommandOption& folder(const std::string& names, T& target, const std::string& help) {
    return add(ValueKind::folder, parser_->add_option(names, target, help));
  }
  template <class T>
  CommandOption& name(const std::string& names, T& target, ValueKind kind, const std::string& help) {
    return add(kind, parser_->add_option(names, target, help));
  }
  /// Names that are separated by commas. The list grows if the option is given several times.
  CommandOption& list(const std::string& names, std::optional<std::string>& target, ValueKind kind,
                      const std::string& help);
  template <class T, class Number>
  CommandOption& number(const std::string& names, T& target, Number least, Number greatest,
                        const std::string& help) {
    return add_number(parser_->add_option(names, target, help), least, greatest);
  }
  /// A seed that a run accepts. Without the check -1 would become a large number.
  template <class T>
  CommandOption& seed(const std::string& names, T& target, const std::string& help) {
    return add_seed(parser_->add_option(names, target, help));
  }
  CommandOption& flag(const std::string& names, bool& target, const std::string& help) {
    return add(ValueKind::none, parser_->add_flag(names, target, help));
  }
  CommandOption& flag(const std::string& names, const std::function<void()>& set, const std::string& help) {
    return add(ValueKind::none, parser_->add_flag_callback(names, set, help));
  }
  /// One of some words, each of which names a value. `Target` is Value, or std::optional<Value> without a default.
  template <class Target, class Value>
  CommandOption& choice(const std::string& names, Target& target,
                        const std::vector<std::pair<std::string, Value>>& choices, const std::string& help) {
    std::vector<std::string> words;
    std::string initial;
    for (const auto& [word, value] : choices) {
      words.push_back(word);
      if (target == value) initial = word;
    }
    const auto set = [&target, choices](const std::string& given) {
      for (const auto& [word, value] : choices) {
        if (word == given) target = value;
      }
    };
    return add_choice(parser_->add_option_function<std::string>(names, set, help)->default_str(initial), words);
  }
  template <class T>
  CommandOption& choice(const std::string& names, T& target, const std::vector<std::string>& words,
                        const std::string& help) {
    return add_choice(parser_->add_option(names, target, help), words);
  }

  /// Sets the end of the help: examples, then paragraphs of notes.
  void explain(std::vector<HelpExample>, std::vector<std::string> notes = {});

  /// Sets the function that runs the command. It returns the exit code, or nothing for 0.
  template <std::invocable F>
  void run(F function) {
    parser_->callback([function, code = exit_code_] {
      if constexpr (std::is_void_v<std::invoke_result_t<F>>) {
        function();
      } else {
        *code = function();
      }
    });
  }

  std::string name() const { return parser_->get_name(); }
  std::string group() const { return parser_->get_group(); }
  std::string description() const { return parser_->get_description(); }
  std::string usage() const;  // "posbench sample [OPTIONS] task"
  const std::deque<CommandOption>& options() const { return options_; }
  const std::vector<HelpExample>& examples() const { return examples_; }
  const std::vector<std::string>& notes() const { return notes_; }
  CLI::App& parser() { return *parser_; }

  /// Returns the option with a name, "-s" or "--seeds". Null if there is none.
  const CommandOption* find(const std::string& name) const;
  /// Adds an option that the parser has already.
  CommandOption& add(ValueKind, CLI::Option*);

 private:
  CommandOption& add_choice(CLI::Option*, const std::vector<std::string>& words);
  CommandOption& add_seed(CLI::Option*);

  template <class Number>
  CommandOption& add_number(CLI::Option* parsed, Number least, Number greatest) {
    CommandOption& option = add(ValueKind::number, parsed);
    option.range = fmt::format("{} to {}", least, greatest);
    parsed->check([least, greatest, range = option.range](const std::string& given) {
      Number number{};
      const bool is_number = CLI::detail::lexical_cast(given, number) && least <= number && number <= greatest;
      return is_number ? std::string() : fmt::format("'{}' is not a number from {}", given, range);
    });
    return option;
  }

  CLI::App* parser_;
  int* exit_code_;
  std::deque<CommandOption> options_;  // whose addresses do not change
  std::vector<HelpExample> examples_;
  std::vector<std::string> notes_;
};

/// All commands, and the options that every command accepts.
struct CommandLine {
  CommandLine(std::vector<std::string> arguments, const std::string& description);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  Command& add(const std::string& group, const std::string& name, const std::string& description);
  /// Returns null if there is no such command.
  const Command* find(const std::string& name) const;
  /// Returns the option of a command, which may be null, or of the program. Null if there is none.
  const CommandOption* find_option(const Command*, const std::string& name) const;

  std::vector<std::string> arguments;  // the whole command line
  int exit_code = 0;                   // set by the command that ran
  bool markdown = false;               // the help is the page of all commands
  CLI::App parser;
  Command program{parser, exit_code};
  std::deque<Command> commands;
};

}  // namespace posbench
