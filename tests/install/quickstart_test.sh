#!/usr/bin/env bash
# Checks that scripts/quickstart.sh builds every file that `cmake --install` needs: quickstart_test.sh SOURCE_FOLDER BUILD_FOLDER
# The dependencies are those of a build folder of any preset, which has the same targets as build/release.
set -euo pipefail
source=$1 build=$2
targets=$(sed -n 's/^cmake --build --preset release --target //p' "$source/scripts/quickstart.sh")
if [ -z "$targets" ]; then
  grep -qx 'cmake --build --preset release' "$source/scripts/quickstart.sh"
  targets=$(sed -n '/"buildPresets"/,/]$/s/.*"name": "release",.*"targets": \[\(.*\)\].*/\1/p' "$source/CMakePresets.json" | tr -d '",')
fi
[ -n "$targets" ] || { echo "FAILED: the preset release names no targets"; exit 1; }
# shellcheck disable=SC2086
commands=$(ninja -C "$build" -t commands $targets)
failed=0 checked=0
for file in $(grep -o "\"$build/[^\"]*" "$build/cmake_install.cmake" | cut -c2- | sort -u); do
  name=${file#"$build"/}
  ninja -C "$build" -t query "$name" >/dev/null 2>&1 || continue  # made when CMake configures
  checked=$((checked + 1))
  grep -qE -- "(-o |rcs? |qc |OUTPUT=|> |/)$name( |$)" <<<"$commands" || { echo "FAILED: quickstart does not build $name"; failed=1; }
done
echo "targets: $targets; $checked files"
[ "$checked" -ge 6 ] || { echo "FAILED: expected at least 6 files of the build folder"; exit 1; }
exit $failed
