#!/usr/bin/env bash
# Unpacks the archive of CPack into a root folder with only the C library, and runs the smoke profile there. Then builds the
# template plug-in against the archive: package_test.sh BUILD_FOLDER WORK_FOLDER [ROOT]
# ROOT, a folder that debootstrap filled, replaces the bare root; the .deb is installed in it too.
# Exit code 77: there is no archive, or the root cannot be entered; the other checks have then passed.
set -euo pipefail
build=$1 work=$2
fail() { echo "FAILED: $*"; exit 1; }
archive=$(find "$build" -maxdepth 1 -name 'posbench-*.tar.gz')
deb=$(find "$build" -maxdepth 1 -name 'posbench_*.deb')
[ -n "$archive" ] || { echo "skipped: no archive; cpack makes it"; exit 77; }
[ -n "$deb" ] || fail "cpack made no .deb"
rm -rf "$work"
mkdir -p "$work"
root=${3:-$work/root}
mkdir -p "$root/runs"
cd "$work"
tar -xzf "$archive" -C "$root"
folder=/$(basename "$archive" .tar.gz)
program=$root$folder/bin/posbench

libraries=$(ldd "$program" | awk '{print $1}' | grep -vE '^(linux-vdso\.so\.1|libc\.so\.6|libm\.so\.6|/lib64/ld-linux.*)$' || true)
[ -z "$libraries" ] || fail "the program needs more than the C library: $libraries"
depends=$(dpkg-deb --field "$deb" Depends)
[[ $depends =~ ^libc6\ \(\>=\ [0-9.]+\)$ ]] || fail "the .deb depends on more than the C library: $depends"
dpkg-deb --contents "$deb" >contents.txt
for file in bin/posbench share/bash-completion/completions/posbench lib/libposbench.a; do
  grep -q " ./usr/$file$" contents.txt || fail "the .deb has no /usr/$file"
done

cp -r "$root$folder/share/posbench/templates/plugin" plugin
{ cmake -G Ninja -S plugin -B plugin/build -DCMAKE_PREFIX_PATH="$root$folder" && cmake --build plugin/build; } >plugin.log 2>&1 ||
  fail "$(cat plugin.log)"
mine=plugin/build/libmine.so
"$program" --plugin $mine check mine first_token >check.log || fail "$(cat check.log)"
"$program" --plugin $mine run --profile smoke -e mine,rope -t first_token -o with_plugin -q >/dev/null ||
  fail "the packaged program does not run a plug-in"
if "$program" --plugin $mine show min 2>error.txt; then fail "an unknown name is accepted"; fi
grep -q "did you mean 'mine'" error.txt || fail "an error thrown in the program does not reach its handler: $(cat error.txt)"

if [ $# -lt 3 ]; then  # the files of Debian's libc6 are the whole root
  dpkg -L libc6 2>/dev/null | while read -r file; do
    if [ -f "$file" ]; then
      mkdir -p "root$(dirname "$file")"
      cp -P "$file" "root$file"
    fi
  done
  [ -e root/lib64 ] || cp -a /lib64 root/ 2>/dev/null || true
fi
enter=(chroot "$root")
[ "$(id -u)" = 0 ] || enter=(unshare --map-root-user chroot "$root")
if ! "${enter[@]}" "$folder/bin/posbench" --version >version.txt 2>enter.txt; then
  if grep -qE 'Operation not permitted|unshare' enter.txt; then
    echo "skipped: a root folder cannot be entered here; ldd has checked the program"
    exit 77
  fi
  fail "the program does not start in its root: $(cat enter.txt)"
fi
"${enter[@]}" "$folder/bin/posbench" run --profile smoke -o /runs/smoke -q --force >bare.txt || fail "the smoke profile fails in its root"
"$program" run --profile smoke -o here -q >/dev/null
"$program" compare here "$root/runs/smoke" --fail-on-regression >/dev/null || fail "the root gives other numbers"
if [ $# -ge 3 ]; then
  cp "$deb" "$root/runs/posbench.deb"
  "${enter[@]}" dpkg --install /runs/posbench.deb >dpkg.log 2>&1 || fail "the .deb is not installed: $(cat dpkg.log)"
  "${enter[@]}" posbench --version >/dev/null || fail "the .deb's program does not start"
fi
head -n 1 version.txt
echo "runs in ${3:-a root with libc6 alone}; $(stat -c %s "$archive") bytes .tar.gz, $(stat -c %s "$deb") bytes .deb"
