#!/usr/bin/env bash
# Unpacks the archive that CPack made into a root that has the C library and nothing else, and runs the smoke profile there;
# then builds the template plug-in against the archive: package_test.sh BUILD_FOLDER WORK_FOLDER
# Exit code 77: no archive was made, or the root cannot be entered (all that does not need it has then passed).
set -euo pipefail
build=$1 work=$2
fail() { echo "FAILED: $*"; exit 1; }
archive=$(find "$build" -maxdepth 1 -name 'posbench-*.tar.gz')
[ -n "$archive" ] || { echo "skipped: no archive; cpack makes it"; exit 77; }
rm -rf "$work"
mkdir -p "$work/root/runs"
cd "$work"
tar -xzf "$archive" -C root
folder=/$(basename "$archive" .tar.gz)
program=root$folder/bin/posbench

libraries=$(ldd "$program" | awk '{print $1}' | grep -vE '^(linux-vdso\.so\.1|libc\.so\.6|libm\.so\.6|/lib64/ld-linux.*)$' || true)
[ -z "$libraries" ] || fail "the program needs more than the C library: $libraries"
for package in "$build"/*.deb; do
  [ -e "$package" ] || fail "no .deb"
  dpkg-deb --field "$package" Depends | grep -qvE 'fmt|simdjson|stdc\+\+' || fail "the .deb depends on more than the C library"
  dpkg-deb --contents "$package" | grep -q './usr/bin/posbench$' || fail "the .deb has no program"
done

cp -r root"$folder"/share/posbench/templates/plugin plugin
cmake -S plugin -B plugin/build -DCMAKE_PREFIX_PATH="$work/root$folder" >plugin.log 2>&1 || fail "$(cat plugin.log)"
cmake --build plugin/build >>plugin.log 2>&1 || fail "$(cat plugin.log)"
"$program" --plugin plugin/build/libmine.so check mine first_token >check.log || fail "$(cat check.log)"
"$program" --plugin plugin/build/libmine.so run --profile smoke -e mine,rope -t first_token -o with_plugin -q >/dev/null ||
  fail "the packaged program does not run a plug-in"
if "$program" --plugin plugin/build/libmine.so show min 2>error.txt; then fail "an unknown name is accepted"; fi
grep -q "did you mean 'mine'" error.txt || fail "an error thrown in the program does not reach its handler: $(cat error.txt)"

# What Debian's libc6 has, as files, is the whole root.
dpkg -L libc6 2>/dev/null | while read -r file; do
  if [ -f "$file" ]; then
    mkdir -p "root$(dirname "$file")"
    cp -P "$file" "root$file"
  fi
done
[ -e root/lib64 ] || cp -a /lib64 root/ 2>/dev/null || true
enter=(chroot root)
[ "$(id -u)" = 0 ] || enter=(unshare --map-root-user chroot root)
if ! "${enter[@]}" "$folder/bin/posbench" --version >version.txt 2>enter.txt; then
  if grep -qE 'Operation not permitted|unshare' enter.txt; then
    echo "skipped: no root of its own can be entered here; the program was checked by ldd"
    exit 77
  fi
  fail "the program does not start in the bare root: $(cat enter.txt)"
fi
"${enter[@]}" "$folder/bin/posbench" run --profile smoke -o /runs/smoke -q >bare.txt || fail "the smoke profile fails in the bare root"
"$program" run --profile smoke -o here -q >/dev/null
"$program" compare here root/runs/smoke --fail-on-regression >/dev/null || fail "the bare root gives other numbers"
echo "$(cat version.txt): runs in a root with libc6 alone"
