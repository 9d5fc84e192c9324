#!/usr/bin/env bash
# Checks that the wheel's build takes its objects from the compiler cache if build/release has them: shared_cache_test.sh SOURCE_FOLDER
# It compiles the library `base` in two folders that are configured as the preset release and as pyproject.toml.
set -euo pipefail
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$source"/{CMakeLists.txt,CMakePresets.json,base,cmake,docs,encodings,harness,model,python,results,scripts,tasks,templates} "$work"
ln -s "$source"/{README.md,LICENSE,CITATION.cff,CHANGELOG.md} "$work"
cd "$work"
export CCACHE_DIR=$work/cache
{
  cmake --preset release -DPOSBENCH_TESTS=OFF
  cmake --build build/release --target base
  CXX=g++ cmake -G Ninja -S . -B build/wheel -DCMAKE_BUILD_TYPE=Release -DPOSBENCH_TESTS=OFF -DPOSBENCH_UNITY=ON -DSKBUILD=2
  ccache -z
  cmake --build build/wheel --target base
} >log 2>&1 || { cat log; exit 1; }
read -r hits misses <<<"$(ccache --print-stats | awk '/^(direct|preprocessed)_cache_hit/ {h += $2} /^cache_miss/ {m += $2} END {print h + 0, m + 0}')"
echo "$hits objects of the cache, $misses compiled"
[ "$hits" -gt 1 ] && [ "$misses" = 0 ] || { echo "FAILED: the wheel compiles what build/release has compiled"; exit 1; }
