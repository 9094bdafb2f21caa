#!/bin/sh
# Programs that find the installed library through pkg-config, in C and in C++: they compile, link, run.
#
#   consumer.sh SOURCE_DIR BUILD_ROOT MESON WITH_MASTERS        $CC, $CXX
set -eu
source=$1
build=$2
meson=$3
with_masters=$4
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

command -v pkg-config >/dev/null 2>&1 || { echo "there is no pkg-config"; exit 77; }
DESTDIR=$stage "$meson" install -C "$build" --no-rebuild >"$stage/log" 2>&1 || { cat "$stage/log"; exit 1; }
pc=$(find "$stage" -name redlock.pc)
[ -n "$pc" ] || { echo "no redlock.pc was installed"; exit 1; }
PKG_CONFIG_SYSROOT_DIR=$stage
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_PATH
if pkg-config --cflags redlock | grep -E 'hiredis|uuid|event'; then
    echo "programs are to have flags of what is behind the library"
    exit 1
fi
library=$(dirname "$(find "$stage" -name 'libredlock.so.[0-9]*' | head -n 1)")
wanted=$(pkg-config --modversion redlock)
case $wanted in
0.*) soname=libredlock.so.${wanted%.*} ;;
*) soname=libredlock.so.${wanted%%.*} ;;
esac

# run PROGRAM: it names the library by its soname, and locks.
run() {
    if command -v readelf >/dev/null 2>&1; then
        readelf -d "$1" | grep -qF "[$soname]" || { echo "no soname"; exit 1; }
    fi
    LD_LIBRARY_PATH=$library "$with_masters" 3 "$1" "$wanted"
}

# shellcheck disable=SC2046 # the flags are words
"${CC:-cc}" -std=c11 -Wall -Wextra -Werror "$source/consumer.c" -o "$stage/consumer-c" \
    $(pkg-config --cflags --libs redlock) -levent_core
run "$stage/consumer-c"

compiled=
for cxx in ${CXX:+"$CXX"} g++ clang++; do
    if command -v "$cxx" >/dev/null 2>&1; then
        # shellcheck disable=SC2046 # the flags are words
        "$cxx" -std=c++11 -Wall -Wextra -Wpedantic -Werror "$source/consumer.cpp" -o "$stage/consumer-cpp" \
            $(pkg-config --cflags --libs redlock)
        run "$stage/consumer-cpp"
        compiled=yes
    fi
done
[ -n "$compiled" ] || echo "there is no C++ compiler: only C is checked"
