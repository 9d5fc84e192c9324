#!/usr/bin/env bash
# Installs what is missing, builds the program and the files of `cmake --install build/release`, runs the quick profile, and prints
# its table and the paths of its report and its page.
# Arguments go to `posbench run`, as in: scripts/quickstart.sh -s 3
set -euo pipefail
case "${1:-}" in -h | --help)
  sed -n 's/^# //p' "$0"
  exit
  ;;
esac
cd "$(dirname "$0")/.."

scripts/install_dependencies.sh
cmake --preset release -D POSBENCH_FETCH=ON >/dev/null # downloads what the packages of this system lack
cmake --build --preset release
exec build/release/posbench run "$@"
