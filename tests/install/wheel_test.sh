#!/usr/bin/env bash
# Installs the wheel of scripts/build_wheel.sh in fresh Debian systems without a compiler and runs it there:
#
#   tests/install/wheel_test.sh DIST [SUITE...]
#
# DIST is the folder of the wheel. The suites are bullseye (Python 3.9, glibc 2.31) and trixie (Python 3.13) by default. The commands of
# README that compare two runs must print the rows of README, and two experiments of the reference report must repeat bit by bit.
# With TORCH=1, PyTorch is installed from PyPI (3 GB), and the example of README trains an encoding in PyTorch, too.
# Exit code 77: this machine cannot make such a system.
set -euo pipefail
fail() { echo "FAILED: $*"; exit 1; }
[ $# -gt 0 ] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
mapfile -t wheel < <(find "$1" -name 'posbench-*manylinux_2_28_x86_64.whl')
[ ${#wheel[@]} = 1 ] || fail "$1 has ${#wheel[@]} manylinux wheels, expected one; scripts/build_wheel.sh makes it"
shift
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d -p /var/tmp)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir "$work/tree"
cp "${wheel[0]}" "$work/tree/"
cp "$source/results/data/reference/report.json" "$work/tree/"
mkdir "$work/tree/scripts"
cp "$source/scripts/in_fresh_debian.sh" "$work/tree/scripts/"

sed -n '/^## Comparing two runs/,/^## /s/^    posbench/posbench/p' "$source/README.md" >"$work/tree/commands.sh"
sed -n '/^## Comparing two runs/,/^## /p' "$source/README.md" | grep -E '^\| (worse|better)' >"$work/tree/rows.txt"
[ -s "$work/tree/rows.txt" ] || fail "README has no table of a comparison"
awk '/^```python/{copy = 1; next} /^```/{copy = 0} copy' "$source/README.md" >"$work/tree/example.py"
[ -s "$work/tree/example.py" ] || fail "README has no example in Python"

cat >"$work/tree/inside.sh" <<'END'
set -euo pipefail
apt-get update -qq
apt-get install -y -qq --no-install-recommends python3 python3-venv >apt.log 2>&1 || { tail -5 apt.log; exit 1; }
if command -v cc || command -v g++; then echo "FAILED: this system has a compiler"; exit 1; fi
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check ./posbench-*.whl
export PATH=$PWD/venv/bin:$PATH
python3 --version
posbench --version
if posbench --licenses | grep 'No copyright file'; then echo "FAILED: the wheel has a library without its license"; exit 1; fi
sed -i 's/^posbench compare .*/& --format markdown/' commands.sh
before=$(date +%s)
bash commands.sh >markdown.txt
# README shows the rows in distribution without the columns of the encoding and the split.
grep in_distribution markdown.txt | sed 's/&gt;/>/g' | cut -d'|' -f1-3,6- >table.md
echo "the table of README took $(($(date +%s) - before)) s on $(nproc) cores"
cat table.md
while read -r row; do grep -qF "$row" table.md || { echo "FAILED: this row of README is missing: $row"; exit 1; }; done <rows.txt
posbench check report.json --sample 2
python3 -c "import posbench; print(posbench.task('flip_flop').samples('train', count=2).tokens.shape)"
if [ "${1:-}" = 1 ]; then
  venv/bin/pip install -q --disable-pip-version-check "$(ls posbench-*.whl)[torch]"
  python3 example.py
fi
END

suites=("$@")
[ ${#suites[@]} != 0 ] || suites=(bullseye trixie)
for suite in "${suites[@]}"; do
  echo "== $suite"
  code=0
  SUITE=$suite "$work/tree/scripts/in_fresh_debian.sh" bash inside.sh "${TORCH:-}" || code=$?
  [ $code != 77 ] || exit 77
  [ $code = 0 ] || fail "the wheel does not work in $suite"
done
