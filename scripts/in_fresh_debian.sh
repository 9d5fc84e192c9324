#!/usr/bin/env bash
# Runs a command in a fresh Debian system, in a copy of this source tree. A missing installation step shows there.
#
#   scripts/in_fresh_debian.sh scripts/test.sh
#   SUITE=trixie scripts/in_fresh_debian.sh scripts/quickstart.sh --profile smoke
#   ROOT=DIR scripts/in_fresh_debian.sh COMMAND      keeps the system in DIR, and uses it again if it exists
#
# The system is a minimal root folder made by debootstrap. Its mounts are private.
# The exit code is that of the command, or 77 if this machine cannot make such a system.
set -euo pipefail
[ -z "${ROOT:-}" ] || ROOT=$(realpath -m "$ROOT")
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }

mark=.made_by_in_fresh_debian # a file of each system; its tree may be replaced
skip() { echo "skipped: $1"; exit 77; }
[ "$(id -u)" = 0 ] || skip "a fresh Debian needs root"
command -v debootstrap >/dev/null || skip "no debootstrap (Debian: debootstrap)"
unshare --mount sh -c 'mount -t proc proc /mnt && mount --rbind /dev /mnt' 2>/dev/null || skip "this machine does not allow mounts"

if [ -n "${ROOT:-}" ]; then
  root=$ROOT
  if [ -n "$(ls -A "$root" 2>/dev/null)" ] && [ ! -e "$root/$mark" ]; then
    echo "in_fresh_debian.sh: ROOT is '$root', which holds other files; expected an empty folder, or a system of this script" >&2
    exit 2
  fi
else
  root=$(mktemp -d -p /var/tmp)
  chmod 755 "$root" # packages run parts of their installation as other users
  trap 'rm -rf "$root"' EXIT
fi
mkdir -p "$root"
touch "$root/$mark"
if [ ! -e "$root/posbench" ]; then
  debootstrap --variant=minbase --include=ca-certificates "${SUITE:-bookworm}" "$root" \
    "${MIRROR:-http://deb.debian.org/debian}" >"$root.log" 2>&1 || { tail -3 "$root.log" >&2; skip "debootstrap failed"; }
  rm "$root.log"
  # Certificates that this machine trusts, such as that of its proxy, are trusted there, too.
  if cp /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates/" 2>/dev/null; then
    chroot "$root" update-ca-certificates >/dev/null 2>&1
  fi
  mkdir "$root/posbench"
fi
find "$root/posbench" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
tar -c --exclude ./build . | tar -x --no-same-owner -C "$root/posbench"
cp /etc/resolv.conf "$root/etc/"

# shellcheck disable=SC2016 # the inner shell expands these variables
unshare --mount --propagation private bash -c '
  set -e
  root=$1; shift
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LANG=C.UTF-8 \
    chroot "$root" bash -c "cd /posbench && exec \"\$@\"" bash "$@"' bash "$root" "$@"
