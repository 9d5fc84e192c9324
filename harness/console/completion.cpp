#include "harness/console/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "encodings/registry.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

constexpr CompletionKind kLists[] = {CompletionKind::tasks,   CompletionKind::encodings, CompletionKind::checkable,
                                     CompletionKind::names,   CompletionKind::profiles,  CompletionKind::splits,
                                     CompletionKind::settings};

/// Quotes a text for all three shells.
std::string shell_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

/// Returns the names of an option that are not empty.
std::vector<std::string> names_of(const CommandOption& o) {
  std::vector<std::string> names{o.short_name, o.long_name};
  std::erase(names, "");
  return names;
}

/// Returns "tasks" for a kind that has a list of names, or "choice auto always".
std::string kind_and_choices(const CommandOption& o) {
  return o.kind == CompletionKind::choice ? "choice " + joined(o.choices) : to_string(o.kind);
}

/// Returns a case for every task and encoding that has options: its name, and "OPTION= ...".
std::string spec_options_cases(const char* form) {
  std::string text;
  const auto add = [&](const auto& registry) {
    for (const std::string& name : registry.names()) {
      std::string options;
      for (const OptionInfo& o : registry.find(name).options)
        options += (options.empty() ? "" : " ") + o.name + "=";
      if (!options.empty()) text += fmt::format(fmt::runtime(form), name, options);
    }
  };
  add(encodings());
  add(tasks());
  return text;
}
constexpr char kShellCase[] = "    {}) echo '{}' ;;\n";

/// Formats the tables of the script: commands, options, values of options, arguments, names, and options of specs.
constexpr char kBashTables[] = R"bash(# bash completion of posbench, made by 'posbench completion bash'.
_posbench_commands={}
_posbench_options() {{
  case $1 in
{}  esac
}}
_posbench_value() {{
  case "$1 $2" in
{}  esac
}}
_posbench_argument() {{
  case "$1 $2" in
{}  esac
}}
_posbench_names() {{
  case $1 in
{}  esac
}}
_posbench_spec_options() {{
  case $1 in
{}  esac
}})bash";

constexpr char kBashFunction[] = R"bash(
_posbench() {
  local line=${COMP_LINE:0:COMP_POINT} cur command= kind= position=0 word before= candidate
  local -a words
  read -ra words <<<"$line"
  cur=${line##*[[:space:]]}
  [ -z "$cur" ] || unset 'words[-1]'
  COMPREPLY=()
  for word in "${words[@]:1}"; do  # where the cursor is: after an option that takes a value, or at a positional
    if [ -n "$kind" ]; then
      kind=
    elif [[ $word == -* ]]; then
      kind=$(_posbench_value "$command" "$word")
      [ -n "$kind" ] || [ -z "$command" ] || kind=$(_posbench_value "" "$word")
    elif [ -z "$command" ]; then
      command=$word
    else
      position=$((position + 1))
    fi
  done
  local candidates=
  if [ -n "$kind" ]; then :
  elif [[ $cur == -* ]]; then
    candidates="$(_posbench_options "$command") $([ -z "$command" ] || _posbench_options "")"
    kind=options
  elif [ -z "$command" ]; then
    candidates=$_posbench_commands
    kind=options
  else
    kind=$(_posbench_argument "$command" "$position")
  fi
  case $kind in
    options) ;;
    choice*) candidates=${kind#choice} ;;
    file | '') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    none) return ;;
    tasks | encodings | checkable | names)
      before=${cur%"${cur##*[:,]}"}
      if [[ $cur == *:* ]]; then  # within the options of a spec, or at the next one
        local spec=${cur%:*}
        spec=${spec##*,}
        candidates=$(_posbench_spec_options "${spec#-}")
      fi
      [[ $before == *: ]] || candidates+=" $(_posbench_names "$kind")"
      ;;
    *) candidates=$(_posbench_names "$kind") ;;
  esac
  local broken=${cur%"${cur##*[:=]}"}  # bash replaces only what follows the last of these
  for candidate in $candidates; do
    [[ $before$candidate == "$cur"* ]] || continue
    candidate=$before$candidate
    COMPREPLY+=("${candidate#"$broken"}")
  done
  [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
}
complete -F _posbench posbench
)bash";

/// Returns a case for each name of an option that takes a value.
std::string bash_values(const CommandInfo& command) {
  std::string text;
  for (const CommandOption& o : command.options) {
    if (o.value.empty()) continue;
    for (const std::string& name : names_of(o))
      text += fmt::format("    {}) echo {} ;;\n", shell_quoted(command.name + " " + name),
                          shell_quoted(kind_and_choices(o)));
  }
  return text;
}

/// Returns a case for each argument. The last argument may be repeated.
std::string bash_arguments(const CommandInfo& command) {
  std::string text;
  for (size_t n = 0; n < command.arguments.size(); ++n) {
    const std::string number = n + 1 == command.arguments.size() ? "*" : std::to_string(n);
    text += fmt::format("    {}{}) echo {} ;;\n", shell_quoted(command.name + " "), number,
                        shell_quoted(kind_and_choices(command.arguments[n])));
  }
  return text;
}

std::string bash(const std::vector<CommandInfo>& commands) {
  std::vector<std::string> names;
  std::string options, values, arguments, lists;
  for (const CommandInfo& command : commands) {
    if (!command.name.empty()) names.push_back(command.name);
    std::vector<std::string> of_command;
    for (const CommandOption& o : command.options) {
      for (const std::string& name : names_of(o)) of_command.push_back(name);
    }
    options += fmt::format("    {}) echo {} ;;\n", shell_quoted(command.name), shell_quoted(joined(of_command)));
    values += bash_values(command);
    arguments += bash_arguments(command);
  }
  for (const CompletionKind kind : kLists)
    lists += fmt::format("    {}) echo {} ;;\n", to_string(kind), shell_quoted(joined(completion_names(kind))));
  return fmt::format(kBashTables, shell_quoted(joined(names)), options, values, arguments, lists,
                     spec_options_cases(kShellCase)) +
         kBashFunction;
}

/// Escapes a text for zsh, between brackets or behind a colon, inside single quotes.
std::string zsh_text(const std::string& text) {
  std::string result;
  for (const char c : first_line(text)) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return result;
}

std::string zsh_action(const CommandOption& o) {
  if (o.kind == CompletionKind::none) return " ";
  if (o.kind == CompletionKind::file) return "_files";
  if (o.kind == CompletionKind::choice) return "(" + joined(o.choices) + ")";
  return " _posbench_names " + to_string(o.kind);  // after a space, _arguments passes no arguments
}

/// Returns a line of _arguments for each option, except for those that `without` has too.
std::string zsh_options(const CommandInfo& command, const CommandInfo& without) {
  std::string arguments;
  for (const CommandOption& o : command.options) {
    const auto same = [&](const CommandOption& other) { return other.long_name == o.long_name; };
    if (std::any_of(without.options.begin(), without.options.end(), same)) continue;
    for (const std::string& name : names_of(o)) {
      arguments += fmt::format(" \\\n        '*{}[{}]{}'", name, zsh_text(o.description),
                               o.value.empty() ? "" : fmt::format(":{}:{}", zsh_text(o.value), zsh_action(o)));
    }
  }
  return arguments;
}

constexpr char kZshScript[] = R"zsh(#compdef posbench
# zsh completion of posbench, made by 'posbench completion zsh'.
_posbench_spec_options() {{
  case $1 in
{}  esac
}}
_posbench_names() {{
  local -a names options
  case $1 in
{}  esac
  case $1 in
    tasks|encodings|checkable|names) ;;
    settings) compadd -S '' -- $names; return ;;
    *) compadd -- $names; return ;;
  esac
  if [[ $PREFIX == *:* ]]; then  # within the options of a spec, or at the next one
    local spec=${{PREFIX%:*}}
    options=($(_posbench_spec_options ${{${{spec##*,}}#-}}))
  fi
  compset -P '*[:,]'
  (( ! $#options )) || compadd -S '' -- $options
  [[ $IPREFIX == *: ]] || compadd -- $names
}}
_posbench() {{
  local state line
  local -a subcommands
  subcommands=(
{}  )
  _arguments -C{} \
        '1: :->command' '*::arg:->argument'
  case $state in
    command) _describe command subcommands ;;
    argument)
      case $line[1] in
{}      esac ;;
  esac
}}
if [ "$funcstack[1]" = _posbench ]; then _posbench "$@"; else compdef _posbench posbench; fi
)zsh";

/// Returns what _arguments reads of the options and arguments of a command.
std::string zsh_arguments(const CommandInfo& command, const CommandInfo& program) {
  std::string text = zsh_options(command, {}) + zsh_options(program, command);
  for (size_t n = 0; n < command.arguments.size(); ++n) {
    const CommandOption& o = command.arguments[n];
    const std::string number = n + 1 == command.arguments.size() ? "*" : std::to_string(n + 1);
    text += fmt::format(" \\\n        '{}:{}:{}'", number, zsh_text(o.value), zsh_action(o));
  }
  return text;
}

std::string zsh(const std::vector<CommandInfo>& commands) {
  std::string lists, descriptions, cases;
  for (const CompletionKind kind : kLists)
    lists += fmt::format("    {}) names=({}) ;;\n", to_string(kind), joined(completion_names(kind)));
  for (const CommandInfo& command : commands) {
    if (command.name.empty()) continue;
    descriptions += fmt::format("    '{}:{}'\n", command.name, zsh_text(command.description));
    cases += fmt::format("      {}) _arguments -s{} ;;\n", command.name, zsh_arguments(command, commands.front()));
  }
  return fmt::format(kZshScript, spec_options_cases(kShellCase), lists, descriptions,
                     zsh_options(commands.front(), {}), cases);
}

/// Formats the function that completes names: the lists of names, then the options of specs.
constexpr char kFishNames[] = R"fish(# fish completion of posbench, made by 'posbench completion fish'.
function __posbench_names
  switch $argv[1]
{}  end
  set -l token (commandline -ct)
  switch (string replace -r '^(.*,)?-?(.*):.*' '$2' -- $token)
{}  end
  set -l before (string match -r '^.*[:,]' -- $token; or echo)
  string match -q '*:*' -- $token; and for option in $options
    echo $before$option
  end
  string match -q '*:' -- $before; or for name in $names
    echo $before$name
  end
end
complete -c posbench -f
)fish";

/// Returns how `complete` completes a value.
std::string fish_value(const CommandOption& o) {
  if (o.kind == CompletionKind::file) return " -F";
  if (o.kind == CompletionKind::none) return "";
  if (o.kind == CompletionKind::choice) return " -a " + shell_quoted(joined(o.choices));
  return fmt::format(" -a '(__posbench_names {})'", to_string(o.kind));
}

std::string fish_command(const CommandInfo& command) {
  std::string text, where;
  if (!command.name.empty()) {
    where = fmt::format(" -n '__fish_seen_subcommand_from {}'", command.name);
    text += fmt::format("complete -c posbench -n __fish_use_subcommand -a {} -d {}\n", command.name,
                        shell_quoted(command.description));
  }
  for (const CommandOption& o : command.options) {
    text += "complete -c posbench" + where;
    if (!o.short_name.empty()) text += " -s " + o.short_name.substr(1);
    if (!o.long_name.empty()) text += " -l " + o.long_name.substr(2);
    if (!o.value.empty()) text += (o.kind == CompletionKind::file ? " -r" : " -x") + fish_value(o);
    text += " -d " + shell_quoted(first_line(o.description)) + "\n";
  }
  for (const CommandOption& o : command.arguments) text += "complete -c posbench" + where + fish_value(o) + "\n";
  return text;
}

std::string fish(const std::vector<CommandInfo>& commands) {
  std::string lists;
  for (const CompletionKind kind : kLists)
    lists += fmt::format("    case {}\n      set names {}\n", to_string(kind), joined(completion_names(kind)));
  std::string text = fmt::format(kFishNames, lists, spec_options_cases("    case {}\n      set options {}\n"));
  for (const CommandInfo& command : commands) text += fish_command(command);
  return text;
}

}  // namespace

std::string completion_script(const std::vector<CommandInfo>& commands, const std::string& shell) {
  return shell == "bash" ? bash(commands) : shell == "zsh" ? zsh(commands) : fish(commands);
}

}  // namespace posbench
