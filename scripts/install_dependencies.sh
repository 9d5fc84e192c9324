#!/usr/bin/env bash
# Installs the missing build dependencies on Debian or Ubuntu. With the argument `tests` it also installs the packages of
# tests that are skipped without them.
set -euo pipefail

packages=(g++ cmake ninja-build git libeigen3-dev nlohmann-json3-dev libcli11-dev libfmt-dev catch2 libboost-dev
          libsimdjson-dev zlib1g-dev libjs-vega)
optional=(ccache)
for_tests=(python3 python3-jsonschema python3-numpy python3-venv shellcheck chromium slurm-wlm munge strace zsh fish man-db clang)
[ "${1:-}" != tests ] || optional+=("${for_tests[@]}")

missing=()
for package in "${packages[@]}" "${optional[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
[ ${#missing[@]} = 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
  echo "please install the equivalents of: ${packages[*]}" >&2
  exit 2
fi
as_root=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || { echo "run as root, or install: ${missing[*]}" >&2; exit 2; }
  as_root=(sudo)
fi
echo "installing: ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
{ "${as_root[@]}" apt-get update -qq &&
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 ||
  { code=$?; tail -20 "$log" >&2; exit $code; }
