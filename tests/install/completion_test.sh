#!/usr/bin/env bash
# Drives the completion of a shell as the Tab key does: completion_test.sh PROGRAM bash|zsh|fish
# Every command, every option in the help of a command, and every registered name, option of a spec, profile, split and
# setting completes. Exit code 77: the shell is missing.
set -euo pipefail
program=$1 shell=$2
command -v "$shell" >/dev/null || { echo "skipped: no $shell (Debian: $shell)"; exit 77; }
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$program" completion "$shell" >"$work/script"

# Each expectation is a line that ends where Tab is pressed, a tab character, and the word that must be offered. Pipes into
# `grep -q` are avoided: it ends at its first match, and then the writer fails.
expect() { printf '%s\t%s\n' "$1" "$2" >>"$work/expected"; }
# A command writes to a file first, because `set -e` does not see a failure in `<(...)` or in the list of a `for`.
"$program" --help >"$work/help"
mapfile -t commands < <(sed -n '/^Commands:/,/^$/s/^  \([a-z]\+\) .*/\1/p' "$work/help")
[ ${#commands[@]} -ge 12 ] || { echo "only ${#commands[@]} commands in --help"; exit 1; }
options=0
for command in "${commands[@]}"; do
  expect "posbench ${command:0:2}" "$command"
  "$program" "$command" --help >"$work/help"
  for option in $(sed -n '/^Options/,/^$/p' "$work/help" | grep -oE '^  (-[A-Za-z], )?--[a-z-]+' | tr ',' ' '); do
    expect "posbench $command -" "$option"
    options=$((options + 1))
  done
done
[ $options -ge 40 ] || { echo "only $options options found in --help"; exit 1; }

for kind in encodings tasks; do
  "$program" list $kind >"$work/list"
  "$program" list $kind --json >"$work/json"
  mapfile -t names < <(sed -n 's/^  \([a-z][^ ]*\).*/\1/p' "$work/list")
  [ ${#names[@]} -ge 40 ] || { echo "only ${#names[@]} $kind"; exit 1; }
  for name in "${names[@]}"; do
    expect "posbench run --$kind " "$name"
    expect "posbench show " "$name"
  done
  while read -r name option; do expect "posbench run --$kind $name:" "$name:$option="; done < <(
    awk -F'"' '/^      "id"/ {name = $4} /^      "/ {within = $2 == "options"}
               within && /^          "name"/ {print name, $4}' "$work/json")
done
"$program" list settings >"$work/settings"
"$program" list profiles >"$work/profiles"
for setting in $(cut -d' ' -f1 "$work/settings"); do expect "posbench run --set ${setting%.*}." "$setting="; done
for profile in $(cut -d' ' -f1 "$work/profiles"); do expect "posbench run --profile " "$profile"; done
expect "posbench run -e rope,cop" rope,cope
expect "posbench run -e rope,ali" rope,alibi
expect "posbench run -e cope:positions=16,ga" cope:positions=16,gates=
expect "posbench sample flip_flop --split ood_s" ood_sparse
expect "posbench sample flip_flop --split ood_s" ood_sparse
expect "posbench help ru" run
expect "posbench report x -" --watch
expect "posbench run -q -" --quiet
expect "posbench -" --plugin
expect "posbench --plugin x.so run -" --plugin
expect "posbench --plugin x.so show flip_" flip_flop

# Each of these words must be the only offer.
while IFS=$'\t' read -r line word; do
  expect "$line" "$word"
  echo "$line" >>"$work/alone"
done <<'END'
posbench run -e cope:posi	cope:positions=
posbench list enc	encodings
posbench completion z	zsh
posbench run --profile smo	smoke
END

# Each driver reads the lines and writes the offers in the form of the expectations.
cut -f1 "$work/expected" | LC_ALL=C sort -u >"$work/lines"
drive_bash() {
  source "$work/script"
  local line cursor word
  while IFS= read -r line; do
    COMP_LINE=$line COMP_POINT=${#line} COMPREPLY=() cursor=${line##* }
    _posbench
    for word in "${COMPREPLY[@]}"; do  # bash replaces the text after the last colon or equals sign
      printf '%s\t%s\n' "$line" "${cursor%"${cursor##*[:=]}"}$word"
    done
  done <"$work/lines" >"$work/offered"
}
drive_zsh() { zsh -f "$here/complete.zsh" "$work/script" "$work/lines" "$work/offered"; }
drive_fish() {
  HOME=$work fish --no-config -c '
    source $argv[1]/script
    while read -l line
      for offer in (complete -C $line)
        printf "%s\t%s\n" $line (string split -f 1 \t -- $offer)
      end
    end <$argv[1]/lines >$argv[1]/offered' "$work"
}
(set +eu; "drive_$shell")

LC_ALL=C sort -u "$work/expected" >"$work/expected_words"
words=$(wc -l <"$work/expected_words")
[ "$words" -ge 1000 ] || { echo "only $words words are expected"; exit 1; }
LC_ALL=C sort -u "$work/offered" >"$work/found"
failed=0
while IFS=$'\t' read -r line word; do
  echo "'$line' does not offer '$word', but: $(awk -F'\t' -v line="$line" '$1 == line && n++ < 8 {printf "%s ", $2}' "$work/found")"
  failed=1
done < <(LC_ALL=C comm -23 "$work/expected_words" "$work/found")
while IFS= read -r line; do
  offers=$(awk -F'\t' -v line="$line" '$1 == line {printf "%s ", $2}' "$work/found")
  [ "$(wc -w <<<"$offers")" -le 1 ] || { echo "'$line' offers $offers"; failed=1; }
done <"$work/alone"
[ $failed = 0 ] || exit 1
echo "$shell: ${#commands[@]} commands, $options options and all names complete: $words words"
