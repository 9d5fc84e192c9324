#!/usr/bin/env bash
# Installs posbench to a prefix, builds the template plug-in against it from another folder, and uses both:
# installed_test.sh BUILD_FOLDER WORK_FOLDER
set -euo pipefail
build=$1 work=$2
rm -rf "$work"
mkdir -p "$work"
cd "$work"
cmake --install "$build" --prefix "$work/prefix" >install.log
posbench=$work/prefix/bin/posbench

fail() { echo "FAILED: $*"; exit 1; }
# Expects an exit code and, on standard error, one line that contains a text.
refused() {
  local code=$1 text=$2 status=0
  shift 2
  "$@" >out 2>err || status=$?
  [ $status = "$code" ] || fail "$*: exit code $status, expected $code: $(cat err)"
  [ "$(wc -l <err)" = 1 ] && grep -qF -- "$text" err || fail "$*: expected one line with '$text': $(cat err)"
}

# Expects a command to succeed, and a line of its output to match a pattern.
prints() {
  local pattern=$1
  shift
  "$@" >out 2>err || fail "$*: $(cat err)"
  grep -q -- "$pattern" out || fail "$*: expected a line with '$pattern', not: $(head -20 out)"
}
# Configures and builds a folder against the installed tree.
build() {
  { cmake -G Ninja -S "$1" -B "$1/build" -DCMAKE_PREFIX_PATH="$work/prefix" && cmake --build "$1/build"; } >build.log 2>&1 ||
    fail "$1 does not build: $(cat build.log)"
}

# The files that are installed with the program.
for file in share/posbench/report.schema.json share/posbench/profiles/quick.json \
            share/bash-completion/completions/posbench share/zsh/site-functions/_posbench \
            share/fish/vendor_completions.d/posbench.fish share/doc/posbench/LICENSE share/posbench/templates/plugin/mine.cpp; do
  [ -s "prefix/$file" ] || fail "$file is not installed"
done
# The script for Slurm finds the program next to which it is installed. This sbatch prints a job's id and keeps its arguments.
mkdir fake
printf '#!/bin/sh\necho "$@" >>"%s/submitted"\necho 7\n' "$work" >fake/sbatch
chmod +x fake/sbatch
PATH=$work/fake:$PATH POSBENCH_CPUS=4 prints 'array job 7, merge job 7' prefix/share/posbench/slurm.sh 2 cluster --profile smoke
grep -q -- "--cpus-per-task=4 .*--signal=B:TERM@60" submitted || fail "slurm.sh submits $(cat submitted)"
grep -q -- "--shard $posbench 2 $work/cluster --profile smoke" submitted || fail "slurm.sh submits $(cat submitted)"
PATH=$work/fake:$PATH prints 'array job 7' prefix/share/posbench/slurm.sh 2 cluster -e none
grep -q -- "$work/cluster --profile quick -e none" submitted || fail "slurm.sh submits no profile: $(cat submitted)"
SLURM_ARRAY_TASK_ID=2 SLURM_CPUS_PER_TASK=4 POSBENCH_THREADS=2 prints '^run -e none --shard 2/3 -j 2 --threads 2 -o cluster/shards/2 --resume$' \
  prefix/share/posbench/slurm.sh --shard echo 3 cluster -e none
POSBENCH_THREADS=0 refused 2 "POSBENCH_THREADS is '0', expected a number of cores" prefix/share/posbench/slurm.sh 2 cluster
POSBENCH=missing refused 2 "the program 'missing' does not exist" prefix/share/posbench/slurm.sh 2 cluster

# The library, from another folder.
mkdir library plugin
cp prefix/share/doc/posbench/docs/library_example.cpp library/
cat >library/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(example LANGUAGES CXX)
find_package(posbench REQUIRED)
add_executable(example library_example.cpp)
target_link_libraries(example PRIVATE posbench::core)
CMAKE
build library
prints 'sequences right' library/build/example

# The template plug-in, from another folder.
cp -r prefix/share/posbench/templates/plugin/. plugin/
build plugin
mine=plugin/build/libmine.so

prints '^  mine ' "$posbench" --plugin $mine list encodings
POSBENCH_PLUGINS=$work/$mine prints '^  first_token ' "$posbench" list tasks
prints 'answers the first' "$posbench" show first_token --plugin $mine  # --plugin after the command
prints . "$posbench" --plugin $mine sample first_token
prints '^pass mine ' "$posbench" --plugin $mine check mine first_token
grep -q '^pass first_token .*compared with the oracle' out || fail "no oracle: $(cat out)"
prints first_token "$posbench" --complete --plugin $mine sample first_t

# shellcheck disable=SC2054,SC2206
run=("$posbench" --plugin $mine run --profile smoke -e mine,rope,cope -t first_token,flip_flop -s 2 -q)
"${run[@]}" -o one >/dev/null
"${run[@]}" -o two >/dev/null
"$posbench" compare one two --fail-on-regression >/dev/null || fail "two runs of a plug-in differ"
hash=$(sha256sum $mine | cut -d' ' -f1)
for file in one/manifest.json one/report.json; do
  grep -q "$hash" $file && grep -q libmine.so $file || fail "$file does not name the plug-in and its hash"
done
"$posbench" --plugin $mine check one/report.json --sample 2 >/dev/null || fail "check does not agree"

# A run without the plug-in or with another plug-in, and a library that is no plug-in, are refused in one line.
"${run[@]}" -o one --resume >/dev/null || fail "the run does not resume"
refused 2 "unknown encoding 'mine'" "$posbench" run -e mine -o three
refused 2 "one was trained with the plug-in libmine.so; load the same file with --plugin PATH" "$posbench" run --resume -o one
sed -i 's/double start = -1/double start = -2/; s/d\[weight_\](0, h) += d_values/d[weight_](0, h) -= d_values/' plugin/mine.cpp
cp $mine libmine.so
build plugin
refused 2 "made by another posbench: plugins.libmine.so.sha256 was \"$hash\" and is now \"$(sha256sum $mine | cut -d' ' -f1)\"" \
  "${run[@]}" -o one --resume
"$posbench" --plugin $mine check mine -q >out && fail "a wrong gradient passes"
grep -q '^FAIL mine' out || fail "a wrong gradient passes: $(cat out)"
refused 2 "there is no such file" "$posbench" --plugin missing.so list tasks
refused 2 "expected a shared library, not a folder" "$posbench" --plugin . list tasks
refused 2 "not a plug-in of posbench" "$posbench" --plugin "$posbench" list tasks
refused 2 "not a plug-in of posbench" "$posbench" --plugin "$(ldd "$posbench" | awk '/libc\.so/ {print $3}')" list tasks
sed 's/posbench-plugin-abi{posbench/posbench-plugin-abi{posbenxx/' libmine.so >other.so
refused 2 "build it again" "$posbench" --plugin other.so list tasks
mkdir taken
# Builds the plug-in `taken` from a template, which an expression of sed changes.
build_taken() {
  sed "$2" "prefix/share/posbench/templates/plugin/$1" >"taken/$1"
  sed "s/mine.cpp first_token.cpp/$1/" plugin/CMakeLists.txt >taken/CMakeLists.txt
  build taken
}
taken=("$posbench" --plugin taken/build/libmine.so)
build_taken mine.cpp 's/\.learned = true/.learned = false/'
! "${taken[@]}" check mine >out || fail "wrong info passes"
grep -q 'learned: stated false, but the encoding has parameters' out || fail "wrong info is not named: $(cat out)"
build_taken mine.cpp 's/\.name = "mine"/.name = "rope"/'
refused 2 "encoding 'rope' is registered twice" "${taken[@]}" list tasks
build_taken mine.cpp 's/\.name = "mine"/.name = "Flip_Flop"/'
refused 2 "encoding 'Flip_Flop' has the name of task 'flip_flop'; rename it" "${taken[@]}" list tasks
build_taken mine.cpp 's/\.name = "mine"/.name = "roformer"/'
refused 2 "encoding 'roformer' has the name of an alias of 'rope'; rename it" "${taken[@]}" list tasks
build_taken first_token.cpp 's/{"length", "1.05x[^"]*"}/{"lenght", "21"}/'
! "${taken[@]}" check first_token >out || fail "a misspelt split passes"
grep -q "split 'ood_length': unknown option 'lenght'" out || fail "a misspelt split is not named: $(cat out)"
build_taken first_token.cpp 's/"first_token"/"shaw"/'
refused 2 "task 'shaw' has the name of an alias of 'shaw_k'; rename it" "${taken[@]}" list tasks
echo "installed, library and plug-in built against it, certified and run"
