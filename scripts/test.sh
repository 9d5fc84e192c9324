#!/usr/bin/env bash
# Installs what is missing, builds and runs all tests. The default preset is dev; another one: scripts/test.sh asan
# The last lines list the tests that were skipped, with their reasons.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

preset=${1:-dev}
if ! grep -q "\"name\": \"$preset\", \"steps\"" CMakePresets.json; then
  sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
  exit 2
fi
scripts/install_dependencies.sh tests || exit
log=build/$preset/Testing/Temporary/LastTest.log
rm -f "$log"
cmake --workflow --preset "$preset"
code=$?
[ ! -e "$log" ] || awk '/ Test: /{name = $NF} /^skipped: /{sub(/^skipped: /, ""); print "skipped " name ": " $0}' "$log"
exit $code
