#!/usr/bin/env bash
# Prints the size of the source tree with limits and goals: lines of source by part, lines of tests, bytes of documents and,
# if a program is given, its commands. The exit code is 1 if a limit is exceeded. A limit is the size after the last
# simplification: lower it when the tree gets smaller, until it is the goal. The core may grow with tasks, encodings and
# the model; the shell around it may not.
#
#   scripts/size.sh [PROGRAM]
set -euo pipefail
cd "$(dirname "$0")/.."

# Prints the lines of the sources in the given folders.
lines() {
  git ls-files --cached --others --exclude-standard "$@" | grep -v '^results/data/' |
    grep -E '\.(cpp|h|in|js|css|py|sh|cmake)$|CMakeLists' | xargs -r cat | wc -l
}

code=0
# row NAME VALUE LIMIT GOAL: prints a row; no limit is "-".
row() {
  printf '%-50s %9s %9s %9s\n' "$1" "$2" "$3" "$4"
  if [ "$3" != - ] && [ "$2" -gt "$3" ]; then
    echo "size.sh: $1: $2 is more than the limit of $3; look for something that can go before you raise it" >&2
    code=1
  fi
}

core=(base tasks encodings model harness/training harness/check)
shell=(harness/commands harness/console results/presentation results/document)
other=(harness/analysis harness/config harness/exchange harness/runs results/json results/reports results/statistics
       results/types python scripts cmake templates CMakeLists.txt)

printf '%-50s %9s %9s %9s\n' "" size limit goal
for folder in "${core[@]}" "${shell[@]}" "${other[@]}"; do row "  $folder" "$(lines "$folder")" - -; done
row "core: tasks, encodings, model, training, checks" "$(lines "${core[@]}")" 41500 -
row "shell: commands, console, presentation, document" "$(lines "${shell[@]}")" 16134 11500
row "shell and the rest" "$(lines "${shell[@]}" "${other[@]}")" 36850 27000
row "core, shell and the rest" "$(lines "${core[@]}" "${shell[@]}" "${other[@]}")" - 64000
row "tests" "$(lines tests)" 32019 29000
row "bytes of docs/" "$(git ls-files --cached --others --exclude-standard docs | xargs cat | wc -c)" 260000 260000
if [ $# -gt 0 ]; then
  commands=$("$1" --help | grep -cE '^  [a-z]+ {2,}' || true)
  row "commands of posbench --help" "$commands" 17 17
fi
exit $code
