#!/usr/bin/env bash
# Drives the bash completion as a user's Tab does: completion_test.sh PROGRAM
# Every verb, every option that a verb's --help names, every registered name, profile, split and setting completes.
set -uo pipefail
program=$1
eval "$("$program" completion bash)" || exit 1
failures=0

# Prints what Tab offers at the end of a line.
offered() {
  COMP_LINE=$1 COMP_POINT=${#1}
  COMPREPLY=()
  _posbench
  printf '%s\n' "${COMPREPLY[@]}"
}
# A line and one of the words that it must offer.
expect() {
  offered "$1" | grep -qxF -- "$2" && return
  echo "'$1' does not offer '$2', but: $(offered "$1" | head -5 | tr '\n' ' ')"
  failures=$((failures + 1))
}
# A line and all that it must offer, nothing else.
expect_only() {
  [ "$(offered "$1" | tr '\n' ' ')" = "$2 " ] && return
  echo "'$1' offers '$(offered "$1" | tr '\n' ' ')', not '$2'"
  failures=$((failures + 1))
}

mapfile -t verbs < <("$program" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]\+\) .*/\1/p')
[ ${#verbs[@]} -ge 12 ] || { echo "only ${#verbs[@]} verbs in --help"; exit 1; }
options=0
for verb in "${verbs[@]}"; do
  expect "posbench ${verb:0:2}" "$verb"
  for option in $("$program" "$verb" --help | sed -n '/^Options:/,/^$/s/^  \(-[^ ]*\).*/\1/p' | tr ',' ' '); do
    expect "posbench $verb -" "$option"
    options=$((options + 1))
  done
done
[ $options -ge 40 ] || { echo "only $options options found in --help"; exit 1; }

for kind in encodings tasks; do
  names=$("$program" list $kind | cut -d' ' -f1)
  [ "$(wc -w <<<"$names")" -ge 40 ] || { echo "only $(wc -w <<<"$names") $kind"; exit 1; }
  all=$'\n'$(offered "posbench run --$kind ")$'\n'
  shown=$'\n'$(offered "posbench show ")$'\n'
  for name in $names; do
    [[ $all == *$'\n'$name$'\n'* ]] || { echo "--$kind does not offer $name"; failures=$((failures + 1)); }
    [[ $shown == *$'\n'$name$'\n'* ]] || { echo "show does not offer $name"; failures=$((failures + 1)); }
  done
done
for setting in $("$program" list settings | cut -d' ' -f1); do expect "posbench run --set ${setting%.*}." "$setting="; done
for profile in $("$program" list profiles | cut -d' ' -f1); do expect "posbench run --profile " "$profile"; done

expect "posbench run -e rope,cop" rope,cope
expect "posbench run -e rope,ali" rope,alibi
expect "posbench sample flip_flop --split ood_s" ood_sparse
expect "posbench -" --plugin
expect "posbench --plugin x.so run -" --plugin
expect_only "posbench run -e cope:posi" positions=  # bash replaces the text after the colon
expect_only "posbench list enc" encodings
expect_only "posbench completion z" zsh
expect_only "posbench run --profile smo" smoke
[ $failures = 0 ] || exit 1
echo "${#verbs[@]} verbs, $options options and all names complete"
