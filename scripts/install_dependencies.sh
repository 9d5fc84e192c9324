#!/usr/bin/env bash
# Installs the missing build dependencies with the package manager of this system: apt (Debian, Ubuntu), dnf (Fedora, RHEL),
# pacman (Arch), Homebrew (macOS), or conda if an environment is active. With the argument `tests` it also installs the packages
# of tests that are skipped without them; only apt has all of these.
set -euo pipefail

# Debian's packages. Vega is missing on the other systems; CMake downloads it with -DPOSBENCH_FETCH=ON.
debian=(g++ cmake ninja-build git libeigen3-dev nlohmann-json3-dev libcli11-dev libfmt-dev catch2 libboost-dev
        zlib1g-dev libjs-vega ccache)
debian_tests=(python3 python3-jsonschema python3-numpy python3-venv shellcheck chromium slurm-wlm munge strace zsh fish clang)
fedora=(gcc-c++ cmake ninja-build git eigen3-devel json-devel cli11-devel fmt-devel catch-devel boost-devel zlib-devel
        ccache)
arch=(gcc cmake ninja git eigen nlohmann-json cli11 fmt catch2 boost zlib ccache)
homebrew=(cmake ninja eigen nlohmann-json cli11 fmt catch2 boost ccache)
conda=(cxx-compiler cmake ninja git eigen nlohmann_json cli11 fmt catch2 libboost-headers zlib ccache)

case "${1:-}" in
  '' | tests) ;;
  *)
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
    exit 2
    ;;
esac

has() { command -v "$1" >/dev/null; }

as_root=()
if [ "$(id -u)" != 0 ]; then as_root=(sudo); fi
need_root() {
  [ ${#as_root[@]} = 0 ] || has sudo || { echo "run as root, or install: $*" >&2; exit 2; }
}

# Runs a command without output, unless it fails.
quietly() {
  local log
  log=$(mktemp)
  "$@" >"$log" 2>&1 || { local code=$?; tail -20 "$log" >&2; rm -f "$log"; exit $code; }
  rm -f "$log"
}

if [ -n "${CONDA_PREFIX:-}" ] && has conda; then
  quietly conda install --yes --channel conda-forge "${conda[@]}"
elif has apt-get; then
  wanted=("${debian[@]}")
  [ "${1:-}" != tests ] || wanted+=("${debian_tests[@]}")
  missing=()
  for package in "${wanted[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} != 0 ] || exit 0
  need_root "${missing[@]}"
  echo "installing: ${missing[*]}" >&2
  quietly "${as_root[@]}" apt-get update -qq
  quietly "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
elif has dnf; then
  need_root "${fedora[@]}"
  quietly "${as_root[@]}" dnf install --assumeyes "${fedora[@]}"
elif has pacman; then
  need_root "${arch[@]}"
  quietly "${as_root[@]}" pacman -S --needed --noconfirm "${arch[@]}"
elif has brew; then
  quietly brew install "${homebrew[@]}"
else
  echo "no package manager of this script was found; please install the equivalents of: ${debian[*]}" >&2
  exit 2
fi
