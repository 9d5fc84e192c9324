#!/usr/bin/env bash
# Builds a copy of the source tree with the files of the tutorial, by the page's first command: build.sh SOURCE FILES COPY
# An earlier copy keeps its build folder.
set -euo pipefail
source=$1 files=$2 copy=$3
mkdir -p "$copy"
find "$copy" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
find "$source" -mindepth 1 -maxdepth 1 ! -name build ! -name '.*' ! -name runs -exec cp -rp -t "$copy" {} +
cp -rp "$files"/{encodings,harness,tasks,tests} "$copy"
cd "$copy"
command=$(sed -n 's/^    \(cmake --preset release .*\)/\1/p' docs/tutorial.md)
bash -euxc "$command"
