#!/usr/bin/env bash
# Installs what is missing, builds and runs all tests. The preset is dev unless named: scripts/test.sh asan
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_dependencies.sh tests
cmake --workflow --preset "${1:-dev}"
