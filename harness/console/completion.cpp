#include "harness/console/completion.h"

#include <algorithm>
#include <string>
#include <vector>

#include "encodings/registry.h"
#include "harness/console/known_names.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

constexpr char kBash[] = R"bash(# bash completion of posbench, made by 'posbench completion bash'.
_posbench() {
  local line=${COMP_LINE:0:COMP_POINT} cur kind before breaks broken=
  local -a words lines
  read -ra words <<<"$line"
  cur=${line##*[[:space:]]}
  [ -n "$cur" ] || words+=('')
  mapfile -t lines < <("${words[0]}" --complete "${words[@]:1}" 2>/dev/null)
  read -r kind before <<<"${lines[0]}"
  case $kind in
    file) mapfile -t COMPREPLY < <(compgen -f -- "${cur#"$before"}") ;;
    folder) mapfile -t COMPREPLY < <(compgen -d -- "${cur#"$before"}") ;;
    *) before= COMPREPLY=("${lines[@]:1}") ;;
  esac
  [ "$kind" = words ] || compopt -o filenames 2>/dev/null
  breaks=${COMP_WORDBREAKS//[^:=]/}  # bash replaces only what follows the last of these
  [ -z "$breaks" ] || broken=${cur%"${cur##*["$breaks"]}"}
  COMPREPLY=("${COMPREPLY[@]/#/$before}")
  COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
  COMPREPLY=("${COMPREPLY[@]#"$broken"}")
  [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
}
complete -F _posbench posbench
)bash";

constexpr char kZsh[] = R"zsh(#compdef posbench
# zsh completion of posbench, made by 'posbench completion zsh'.
_posbench() {
  local -a lines assignments
  lines=("${(@f)$("${(Q)words[1]}" --complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  case $lines[1] in
    file*) compset -P "${lines[1]#file }"; _files ;;
    folder*) compset -P "${lines[1]#folder }"; _files -/ ;;
    *)
      lines=("${(@)lines[2,-1]//:/\\:}")
      assignments=(${(M)lines:#*=})
      lines=(${${lines:#*=}/$'\t'/:})
      (( ! $#assignments )) || _describe option assignments -S ''
      (( ! $#lines )) || _describe word lines ;;
  esac
}
if [ "$funcstack[1]" = _posbench ]; then _posbench "$@"; else compdef _posbench posbench; fi
)zsh";

constexpr char kFish[] = R"fish(# fish completion of posbench, made by 'posbench completion fish'.
function __posbench
  set -l words (commandline -opc)
  set -l token (commandline -ct)
  set -l lines ($words[1] --complete $words[2..-1] "$token" 2>/dev/null)
  set -l before (string replace -r '^\S+ ?' '' -- $lines[1])
  set -l value (string sub -s (math 1 + (string length -- "$before")) -- "$token")
  switch $lines[1]
    case 'file*'
      printf '%s\n' $before(__fish_complete_path "$value")
    case 'folder*'
      printf '%s\n' $before(__fish_complete_directories "$value")
    case '*'
      printf '%s\n' $lines[2..-1]
  end
end
complete -c posbench -f -a '(__posbench)'
)fish";

/// Returns "OPTION=" for each option of the task or the encoding that the spec names.
std::vector<std::string> spec_options(const std::string& spec) {
  std::vector<std::string> names;
  const auto add = [&](const auto& registry) {
    if (!registry.contains(spec)) return;
    for (const OptionInfo& option : registry.find(spec).options) names.push_back(option.name + "=");
  };
  add(encodings());
  add(tasks());
  return names;
}

/// Returns the values that a word can have, as whole words.
std::vector<std::string> values(const CommandOption& option, const std::string& word) {
  if (option.kind == ValueKind::choice) return option.choices;
  if (option.kind == ValueKind::setting) return known_names(option.kind);
  const size_t last = word.find_last_of(":,"), colon = word.rfind(':');
  const std::string before = word.substr(0, last == word.npos ? 0 : last + 1);
  std::vector<std::string> found;
  if (colon != word.npos) {  // within the options of a spec, or at the next one
    std::string spec = word.substr(0, colon);
    spec.erase(0, spec.find_last_of(',') + 1);
    found = spec_options(spec.starts_with('-') ? spec.substr(1) : spec);
  }
  if (!before.ends_with(':')) {
    const std::vector<std::string> names = known_names(option.kind);
    found.insert(found.end(), names.begin(), names.end());
  }
  for (std::string& value : found) value.insert(0, before);
  return found;
}

/// The option or the argument whose value is at the cursor, or none. The command is null before its name.
struct Place {
  const Command* command = nullptr;
  const CommandOption* option = nullptr;
  bool is_unknown = false;  // behind an unknown command
};

Place find_place(const CommandLine& line, const std::vector<std::string>& words) {
  Place place;
  size_t position = 0;
  for (size_t n = 0; n + 1 < words.size(); ++n) {
    if (place.option) {
      place.option = nullptr;
    } else if (words[n].starts_with('-')) {
      place.option = line.find_option(place.command, words[n]);
      if (place.option && place.option->kind == ValueKind::none) place.option = nullptr;
    } else if (place.command) {
      ++position;
    } else {
      place.command = line.find(words[n]);
      if (!place.command) return {.is_unknown = true};
    }
  }
  if (place.option || !place.command || words.back().starts_with('-')) return place;
  for (const CommandOption& option : place.command->options()) {  // the last argument may be repeated
    if (!option.is_argument()) continue;
    place.option = &option;
    if (position-- == 0) break;
  }
  return place;
}

void add_options(const Command& command, bool everywhere, std::vector<std::string>& lines) {
  for (const CommandOption& option : command.options()) {
    if (everywhere && !option.is_everywhere) continue;
    for (const std::string& name : option.names()) lines.push_back(name + "\t" + option.description());
  }
}

}  // namespace

std::string completion_script(const std::string& shell) {
  return shell == "bash" ? kBash : shell == "zsh" ? kZsh : kFish;
}

std::string completions(const CommandLine& line, const std::vector<std::string>& words) {
  Place place = find_place(line, words);
  if (words.empty() || place.is_unknown) return "words\n";
  std::string word = words.back(), before;
  if (const size_t end = word.find('='); !place.option && word.starts_with("--") && end != word.npos) {
    place.option = line.find_option(place.command, word.substr(0, end));
    before = word.substr(0, end + 1);
    word.erase(0, end + 1);
    if (!place.option) return "words\n";
  }
  std::vector<std::string> lines;
  if (place.option) {
    if (place.option->kind == ValueKind::file) return "file " + before + "\n";
    if (place.option->kind == ValueKind::folder) return "folder " + before + "\n";
    lines = values(*place.option, word);
    const auto fits = [&](const std::string& value) { return value.starts_with(word); };
    if (place.option->kind == ValueKind::subject && std::ranges::none_of(lines, fits))
      return "file " + before + "\n";
  } else if (word.starts_with('-')) {
    if (place.command) add_options(*place.command, false, lines);
    add_options(line.program, place.command != nullptr, lines);
  } else {
    for (const Command& command : line.commands) lines.push_back(command.name() + "\t" + command.description());
  }
  std::string text = "words\n";
  for (const std::string& each : lines) {
    if (each.starts_with(word)) text += before + each + "\n";
  }
  return text;
}

}  // namespace posbench
