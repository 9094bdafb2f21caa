#!/bin/sh
# The port of tools/packaging/vcpkg, by stand-ins for vcpkg's scripts (vcpkg.cmake): what it installs is where vcpkg
# wants it, and a CMake project finds it there and locks. Its manifest is of this version.
#
#   vcpkg.sh SOURCE_ROOT MESON WITH_MASTERS        $CC
set -eu
root=$1
meson=$2
with_masters=$3
port=$root/tools/packaging/vcpkg/redlock

command -v cmake >/dev/null 2>&1 || { echo "SKIP: there is no cmake"; exit 77; }
# The port brings OpenSSL 3 with it; the stand-ins take the system's.
pkg-config --atleast-version 3.0 openssl || { echo "SKIP: there is no OpenSSL 3"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    cat "$work/log"
    echo "$*"
    exit 1
}

cmake -DPORT_DIR="$port" -DWORK="$work" -DMESON="$meson" -DLINKAGE=static -P "$root/tests/build/vcpkg.cmake" \
    >"$work/log" 2>&1 || fail "the portfile does not work"
packages=$work/packages
(cd "$packages" && find . ! -type d ! -path './include/redlock/*' | sort) >"$work/found"
sort >"$work/wanted" <<'END'
./debug/lib/libredlock.a
./debug/lib/pkgconfig/redlock.pc
./lib/libredlock.a
./lib/pkgconfig/redlock.pc
./share/redlock/copyright
./share/redlock/redlockConfig.cmake
./share/redlock/redlockConfigVersion.cmake
./share/redlock/usage
END
diff "$work/wanted" "$work/found" >"$work/log" || fail "wanted (<) and installed (>)"
nm -u "$packages/lib/libredlock.a" 2>/dev/null | grep -q __assert_fail && fail "the released library has assertions"

mv "$packages" "$work/moved"
{
    cmake -S "$root/tests/build/cmake" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$work/moved" -DWANTED= &&
        cmake --build "$work/cmake"
} >"$work/log" 2>&1 || fail "a project cannot use it"
version=$(sed -nE 's/^ *"version": "(.*)",/\1/p' "$port/vcpkg.json")
"$with_masters" 3 "$work/cmake/consumer" "$version"
