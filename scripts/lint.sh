#!/usr/bin/env bash
# Checks style and types of the sources with pinned tools, which it installs from PyPI into build/lint.
#
#   scripts/lint.sh                     every check except tidy
#   scripts/lint.sh format              clang-format on all C++ files
#   scripts/lint.sh python              ruff and mypy --strict on the Python files
#   scripts/lint.sh shell               shellcheck on the scripts, if it is installed (Debian: shellcheck)
#   scripts/lint.sh workflows           the schema of GitHub's workflows
#   scripts/lint.sh tidy [FILE...]      clang-tidy, which also checks the includes; without files, on all of them
#   scripts/lint.sh tidy --newest N     clang-tidy on the N files that were changed last
#   scripts/lint.sh fix                 formats all C++ and Python files
#
# The exit code is 0 if all is well, 1 if a check failed, and 77 if a tool is missing and cannot be installed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

bin=build/lint/venv/bin
requirements=(clang-format==14.0.6 clang-tidy==23.1.4 ruff==0.17.6 mypy==2.4.1 numpy==2.4.6 check-jsonschema==0.39.0)

install_tools() {
  local wanted="${requirements[*]}"
  [ "$(cat build/lint/installed 2>/dev/null)" = "$wanted" ] && return
  mkdir -p build/lint
  if ! { python3 -m venv build/lint/venv && "$bin/pip" -q install "${requirements[@]}"; } >build/lint/log 2>&1; then
    echo "skipped: the tools of scripts/lint.sh cannot be installed from PyPI (see build/lint/log)"
    exit 77
  fi
  echo "$wanted" >build/lint/installed
}

# Lists tracked and new files.
files() { git ls-files --cached --others --exclude-standard "$@"; }
cpp_files() { files '*.cpp' '*.h'; }

check_format() {
  cpp_files | xargs "$bin/clang-format" --dry-run -Werror || return 1
  local missing
  missing=$(cpp_files | xargs grep -lF 'fmt::' | xargs grep -LF '#include <fmt/')
  [ -z "$missing" ] || { printf '%s\n' "$missing" "These files use fmt and include no header of it." >&2; return 1; }
  cpp_files | xargs awk 'length > 115 && /^ *\/\// { print FILENAME ":" FNR ": a comment of more than 115 columns"; n++ }
    END { exit n > 0 }' >&2
}

check_python() {
  "$bin/ruff" check python scripts tests && "$bin/ruff" format --check python scripts tests &&
    "$bin/mypy"
}

check_shell() {
  if ! command -v shellcheck >/dev/null; then
    echo "skipped: no shellcheck (Debian: shellcheck)"
    exit 77
  fi
  { files '*.sh' && echo .ci/run; } | xargs shellcheck -S warning
}

check_workflows() { "$bin/check-jsonschema" --builtin-schema vendor.github-workflows .github/workflows/*.yml; }

# Writes the commands of build/dev without precompiled headers and options that only GCC knows.
write_compile_commands() {
  [ -e build/dev/compile_commands.json ] || cmake --preset dev >/dev/null || return
  cmake --build build/dev --target commit header_hash >/dev/null || return # headers that the build makes
  mkdir -p build/lint/commands
  python3 - build/dev/compile_commands.json build/lint/commands/compile_commands.json <<'PYTHON'
import json, re, sys

commands = {}
for entry in json.load(open(sys.argv[1])):
    if "kernels_v4" in entry["command"] or (entry["file"] in commands and "POSBENCH_REAL=float64" in entry["command"]):
        continue  # the same file with other options
    if "cmake_pch" in entry["file"]:
        continue
    command = re.sub(r"^.*?(\S*\+\+ )", r"\1", entry["command"])
    command = re.sub(r"-include \S+cmake_pch\.hxx|-Winvalid-pch|-fpch-preprocess|--param \S+|-Wa,\S+|-Werror", "", command)
    command = re.sub(r"-Wno-(restrict|stringop-overflow|stringop-overread)\b", "", command)
    commands[entry["file"]] = dict(entry, command=command)
json.dump(list(commands.values()), open(sys.argv[2], "w"))
PYTHON
}

check_tidy() {
  write_compile_commands || return 1
  local files=("$@")
  if [ "${1:-}" = --newest ]; then
    mapfile -t files < <(git log --name-only --format= -- '*.cpp' | awk '!seen[$0]++' |
      while read -r file; do [ ! -e "$file" ] || echo "$file"; done | head -n "$2")
  elif [ $# = 0 ]; then
    mapfile -t files < <(files '*.cpp')
  fi
  printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 4 "$bin/clang-tidy" -p build/lint/commands --quiet
}

usage() {
  sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
  exit 2
}

[[ "${1:-all}" =~ ^(all|fix|format|python|shell|workflows|tidy)$ ]] || usage
[ "${2:-}" != --newest ] || [[ "${3:-}" =~ ^[1-9][0-9]*$ ]] || usage
install_tools
case "${1:-all}" in
  all)
    code=0
    for check in format python shell workflows; do ("check_$check") || [ $? = 77 ] || code=1; done
    exit $code
    ;;
  fix)
    cpp_files | xargs "$bin/clang-format" -i && "$bin/ruff" check -q --fix python scripts tests &&
      "$bin/ruff" format -q python scripts tests || exit 1
    ;;
  *)
    check=$1
    shift
    "check_$check" "$@" || exit 1
    ;;
esac
