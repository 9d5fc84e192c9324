// `posbench completion`: scripts with which a shell completes verbs, options and registered names.
#include "harness/commands/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "encodings/registry.h"
#include "harness/commands/commands.h"
#include "harness/commands/help.h"
#include "harness/commands/words.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

constexpr ValueKind kLists[] = {ValueKind::tasks,  ValueKind::encodings, ValueKind::checked, ValueKind::named,
                                ValueKind::profiles, ValueKind::splits,  ValueKind::settings};

/// A text between single quotes, as all three shells read it.
std::string shell_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// "tasks" for a kind that has a list of names, or the choices, quoted, behind "choice".
std::string kind_words(const OptionWords& o) {
  if (o.kind != ValueKind::choice) return to_text(o.kind);
  return fmt::format("choice {}", fmt::join(o.choices, " "));
}

/// A case of the shell's `case` or `switch` for every task and encoding that has options: its name, and "OPTION= ...".
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

std::string bash(const std::vector<VerbWords>& all) {
  std::string verbs, options, values, positionals, lists;
  for (const VerbWords& verb : all) {
    if (!verb.name.empty()) verbs += (verbs.empty() ? "" : " ") + verb.name;
    std::string names;
    for (const OptionWords& o : verb.options) {
      for (const std::string& name : {o.short_name, o.long_name}) {
        if (name.empty()) continue;
        names += (names.empty() ? "" : " ") + name;
        if (!o.value.empty()) values += fmt::format("    {}) echo {} ;;\n", shell_quoted(verb.name + " " + name), shell_quoted(kind_words(o)));
      }
    }
    options += fmt::format("    {}) echo {} ;;\n", shell_quoted(verb.name), shell_quoted(names));
    for (size_t n = 0; n < verb.positionals.size(); ++n) {  // the last one may be repeated
      const std::string number = n + 1 == verb.positionals.size() ? "*" : std::to_string(n);
      positionals += fmt::format("    {}{}) echo {} ;;\n", shell_quoted(verb.name + " "), number,
                                 shell_quoted(kind_words(verb.positionals[n])));
    }
  }
  for (const ValueKind kind : kLists)
    lists += fmt::format("    {}) echo {} ;;\n", to_text(kind), shell_quoted(fmt::format("{}", fmt::join(names_of(kind), " "))));
  return fmt::format(R"bash(# bash completion of posbench, made by 'posbench completion bash'.
_posbench_verbs={}
_posbench_options() {{
  case $1 in
{}  esac
}}
_posbench_value() {{
  case "$1 $2" in
{}  esac
}}
_posbench_positional() {{
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
}})bash",
                     shell_quoted(verbs), options, values, positionals, lists, spec_options_cases(kShellCase)) +
         R"bash(
_posbench() {
  local line=${COMP_LINE:0:COMP_POINT} cur verb= kind= position=0 word before= candidate
  local -a words
  read -ra words <<<"$line"
  cur=${line##*[[:space:]]}
  [ -z "$cur" ] || unset 'words[-1]'
  COMPREPLY=()
  for word in "${words[@]:1}"; do  # where the cursor is: after an option that takes a value, or at a positional
    if [ -n "$kind" ]; then
      kind=
    elif [[ $word == -* ]]; then
      kind=$(_posbench_value "$verb" "$word")
      [ -n "$kind" ] || [ -z "$verb" ] || kind=$(_posbench_value "" "$word")
    elif [ -z "$verb" ]; then
      verb=$word
    else
      position=$((position + 1))
    fi
  done
  local candidates=
  if [ -n "$kind" ]; then :
  elif [[ $cur == -* ]]; then
    candidates="$(_posbench_options "$verb") $([ -z "$verb" ] || _posbench_options "")"
    kind=options
  elif [ -z "$verb" ]; then
    candidates=$_posbench_verbs
    kind=options
  else
    kind=$(_posbench_positional "$verb" "$position")
  fi
  case $kind in
    options) ;;
    choice*) candidates=${kind#choice} ;;
    file | '') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    none) return ;;
    tasks | encodings | checked | named)
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
}

/// A text as zsh reads it between brackets or behind a colon, inside single quotes.
std::string zsh_text(const std::string& text) {
  std::string result;
  for (const char c : first_line(text)) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return result;
}

std::string zsh_action(const OptionWords& o) {
  if (o.kind == ValueKind::none) return " ";
  if (o.kind == ValueKind::file) return "_files";
  if (o.kind == ValueKind::choice) return fmt::format("({})", fmt::join(o.choices, " "));
  return " _posbench_names " + to_text(o.kind);  // the space: no arguments of _arguments before ours
}

/// What _arguments reads of options, a line each; those named in `without` are left out.
std::string zsh_options(const VerbWords& verb, const VerbWords& without) {
  std::string arguments;
  for (const OptionWords& o : verb.options) {
    const auto same = [&](const OptionWords& other) { return other.long_name == o.long_name; };
    if (std::any_of(without.options.begin(), without.options.end(), same)) continue;
    for (const std::string& name : {o.short_name, o.long_name}) {
      if (name.empty()) continue;
      arguments += fmt::format(" \\\n        '*{}[{}]{}'", name, zsh_text(o.description),
                               o.value.empty() ? "" : fmt::format(":{}:{}", zsh_text(o.value), zsh_action(o)));
    }
  }
  return arguments;
}

std::string zsh(const std::vector<VerbWords>& all) {
  std::string lists, verbs, cases;
  for (const ValueKind kind : kLists)
    lists += fmt::format("    {}) names=({}) ;;\n", to_text(kind), fmt::join(names_of(kind), " "));
  for (const VerbWords& verb : all) {
    if (verb.name.empty()) continue;
    std::string arguments = zsh_options(verb, {}) + zsh_options(all.front(), verb);
    for (size_t n = 0; n < verb.positionals.size(); ++n) {
      const OptionWords& o = verb.positionals[n];
      const std::string number = n + 1 == verb.positionals.size() ? "*" : std::to_string(n + 1);
      arguments += fmt::format(" \\\n        '{}:{}:{}'", number, zsh_text(o.value), zsh_action(o));
    }
    verbs += fmt::format("    '{}:{}'\n", verb.name, zsh_text(verb.description));
    cases += fmt::format("      {}) _arguments -s{} ;;\n", verb.name, arguments);
  }
  return fmt::format(R"zsh(#compdef posbench
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
    tasks|encodings|checked|named) ;;
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
  local -a verbs
  verbs=(
{}  )
  _arguments -C{} \
        '1: :->verb' '*::arg:->argument'
  case $state in
    verb) _describe verb verbs ;;
    argument)
      case $line[1] in
{}      esac ;;
  esac
}}
if [ "$funcstack[1]" = _posbench ]; then _posbench "$@"; else compdef _posbench posbench; fi
)zsh",
                     spec_options_cases(kShellCase), lists, verbs, zsh_options(all.front(), {}), cases);
}

std::string fish(const std::vector<VerbWords>& all) {
  std::string text = "# fish completion of posbench, made by 'posbench completion fish'.\nfunction __posbench_names\n  switch $argv[1]\n";
  for (const ValueKind kind : kLists)
    text += fmt::format("    case {}\n      set names {}\n", to_text(kind), fmt::join(names_of(kind), " "));
  text +=
      "  end\n  set -l token (commandline -ct)\n  switch (string replace -r '^(.*,)?-?(.*):.*' '$2' -- $token)\n" +
      spec_options_cases("    case {}\n      set options {}\n") + R"fish(  end
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
  for (const VerbWords& verb : all) {
    const std::string where = verb.name.empty() ? "" : fmt::format(" -n '__fish_seen_subcommand_from {}'", verb.name);
    if (!verb.name.empty()) {
      text += fmt::format("complete -c posbench -n __fish_use_subcommand -a {} -d {}\n", verb.name, shell_quoted(verb.description));
    }
    const auto value = [](const OptionWords& o) {
      if (o.kind == ValueKind::file) return std::string(" -F");
      if (o.kind == ValueKind::none) return std::string();
      if (o.kind == ValueKind::choice) return fmt::format(" -a {}", shell_quoted(fmt::format("{}", fmt::join(o.choices, " "))));
      return fmt::format(" -a '(__posbench_names {})'", to_text(o.kind));
    };
    for (const OptionWords& o : verb.options) {
      text += "complete -c posbench" + where;
      if (!o.short_name.empty()) text += " -s " + o.short_name.substr(1);
      if (!o.long_name.empty()) text += " -l " + o.long_name.substr(2);
      if (!o.value.empty()) text += (o.kind == ValueKind::file ? " -r" : " -x") + value(o);
      text += " -d " + shell_quoted(first_line(o.description)) + "\n";
    }
    for (const OptionWords& o : verb.positionals) text += "complete -c posbench" + where + value(o) + "\n";
  }
  return text;
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
  const std::vector<VerbWords> all = words(app);
  return shell == "bash" ? bash(all) : shell == "zsh" ? zsh(all) : fish(all);
}

void add_completion(CLI::App& app, Invocation&) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "Print a script that completes verbs, options and names in a shell");
  command->add_option("shell", *shell, "")->required()->check(one_of({"bash", "zsh", "fish"}));
  command->footer(
      "Examples:\n  source <(posbench completion bash)            in ~/.bashrc\n"
      "  source <(posbench completion zsh)             in ~/.zshrc, behind compinit\n"
      "  posbench completion fish | source             in ~/.config/fish/config.fish\n"
      "With --plugin, or POSBENCH_PLUGINS, the names of plug-ins are completed as well.");
  command->callback([shell, &app] { std::fputs(completion_script(app, *shell).c_str(), stdout); });
}

}  // namespace posbench
