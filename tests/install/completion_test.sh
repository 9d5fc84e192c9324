#!/usr/bin/env bash
# Drives the completion of a shell as the Tab key does: completion_test.sh PROGRAM bash|zsh|fish
# tests/harness/console/names_and_help_test.py tests all words that the program offers; this tests that a shell offers them.
# Exit code 77: the shell is missing.
set -euo pipefail
program=$(realpath "$1") shell=$2
command -v "$shell" >/dev/null || { echo "skipped: no $shell (Debian: $shell)"; exit 77; }
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/folder"
ln -s "$program" "$work/bin/posbench"
touch "$work/first.json"
cd "$work"
PATH=$work/bin:$PATH
posbench completion "$shell" >script

# Each line ends where Tab is pressed; behind the tab character is the only word that may be offered.
sort >expected <<'END'
posbench ru	run
posbench run --encod	--encodings
posbench run -q --plu	--plugin
posbench run -e rope,cop	rope,cope
posbench run -e cope:posi	cope:positions=
posbench run -e cope:positions=16,posi	cope:positions=16,positions=
posbench run --encodings=cop	--encodings=cope
posbench run --set training.st	training.steps=
posbench run --profile smo	smoke
posbench list enc	encodings
posbench board --family rota	rotary
posbench report fir	first.json
posbench run --config=fir	--config=first.json
posbench run -o fo	folder
END
cut -f1 expected >lines

# Each driver reads the lines and writes the offers in the form of the expectations.
drive_bash() {
  source ./script
  local line cursor word breaks=$1
  COMP_WORDBREAKS=$breaks
  breaks=${breaks//[^:=]/}
  while IFS= read -r line; do
    COMP_LINE=$line COMP_POINT=${#line} COMPREPLY=() cursor=${line##* }
    _posbench
    for word in "${COMPREPLY[@]}"; do  # bash replaces the text after the last of these characters
      [ -z "$breaks" ] || word=${cursor%"${cursor##*["$breaks"]}"}$word
      printf '%s\t%s\n' "$line" "$word"
    done
  done <lines >"$2"
}
drive_zsh() { zsh -f "$here/complete.zsh" ./script ./lines "$1"; }
drive_fish() {
  HOME=$work fish --no-config -c '
    source script
    while read -l line
      for offer in (complete -C $line)
        printf "%s\t%s\n" $line (string trim -r -c / -- (string split -f 1 \t -- $offer))
      end
    end <lines >$argv[1]' "$1"
}
(
  set +eu
  case $shell in
    bash) drive_bash $' \t\n"\'@><=;|&(:' offered1; drive_bash $' \t\n"\'@><;|&(' offered2 ;;
    *) "drive_$shell" offered1 ;;
  esac
)
for offered in offered*; do
  sort -u "$offered" | diff expected - || { echo "$shell offers other words (>) than expected (<)"; exit 1; }
done
echo "$shell offers the right words"
