#!/usr/bin/env bash
# Installs what is missing, builds, runs the quick profile, and prints its table and the paths of its report and its page.
# Arguments go to `posbench run`, as in: scripts/quickstart.sh -s 3
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_dependencies.sh
cmake -S . -B build/release -G Ninja -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build build/release --target posbench
exec build/release/posbench run "$@"
