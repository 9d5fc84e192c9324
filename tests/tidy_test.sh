#!/usr/bin/env bash
# `scripts/lint.sh tidy` refuses a planted warning and a missing include, and accepts a file without them.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p build/lint
folder=$(mktemp -d -p build/lint)  # clang-tidy finds its settings in a parent folder
trap 'rm -rf "$folder"' EXIT
expect_finding() {
  local code=0
  scripts/lint.sh tidy "$folder/planted.cpp" >"$folder/log" 2>&1 || code=$?
  [ $code != 77 ] || { cat "$folder/log"; exit 77; }
  [ $code = 1 ] && grep -q "$1" "$folder/log" || { cat "$folder/log"; echo "tidy does not find $1 (exit code $code)"; exit 1; }
}

printf '#include <string>\nint length(std::string text) { return static_cast<int>(text.size()); }\n' >"$folder/planted.cpp"
expect_finding performance-unnecessary-value-param
printf '#include <string>\nstd::string moved(std::string& text) { return std::move(text); }\n' >"$folder/planted.cpp"
expect_finding misc-include-cleaner
printf '#include <string>\nint length(const std::string& text) { return static_cast<int>(text.size()); }\n' >"$folder/planted.cpp"
scripts/lint.sh tidy "$folder/planted.cpp"
