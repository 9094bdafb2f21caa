#!/bin/sh
# Programs that find the installed library through pkg-config, in C and in C++: they compile, link, run. Among them are
# the examples, which have a program for each kind of lock.
#
#   consumer.sh SOURCE_ROOT BUILD_ROOT MESON WITH_MASTERS        $CC, $CXX
set -eu
root=$1
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

# run COMMAND...: on fresh masters, whose URLs are its last arguments.
run() {
    LD_LIBRARY_PATH=$library "$with_masters" 3 "$@"
}

# named PROGRAM: it names the library by its soname.
named() {
    if command -v readelf >/dev/null 2>&1; then
        readelf -d "$1" | grep -qF "[$soname]" || { echo "no soname"; exit 1; }
    fi
}

# c SOURCE PROGRAM, cpp SOURCE PROGRAM: compiles it as strictly as users may do.
c() {
    # shellcheck disable=SC2046 # the flags are words
    "${CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Wstrict-prototypes -Werror "$1" -o "$2" \
        $(pkg-config --cflags --libs "${3:-redlock}") -levent_core -pthread
    named "$2"
}
cpp() {
    # shellcheck disable=SC2046 # the flags are words
    "$cxx" -std=c++11 -Wall -Wextra -Wpedantic -Werror "$1" -o "$2" $(pkg-config --cflags --libs redlock) -pthread
    named "$2"
}

# The consumer declares the masters, on which an example runs then.
c "$root/tests/build/consumer.c" "$stage/consumer-c"
for example in "$root"/tools/examples/*.c; do
    case $example in
    */simulated.c | */fenced_sqlite.c | */fenced_postgres.c) ;;
    *) c "$example" "$stage/example-$(basename "$example" .c)" ;;
    esac
done
if pkg-config --exists redlock-test; then
    c "$root/tools/examples/simulated.c" "$stage/example-simulated" redlock-test
    run "$stage/example-simulated"
fi
run sh -c 'consumer=$1 wanted=$2 example=$3; shift 3; "$consumer" "$wanted" "$@" && "$example" "$@"' sh \
    "$stage/consumer-c" "$wanted" "$stage/example-rwlock" >"$stage/log" 2>&1 || { cat "$stage/log"; exit 1; }

compiled=
for cxx in ${CXX:+"$CXX"} g++ clang++; do
    if command -v "$cxx" >/dev/null 2>&1; then
        cpp "$root/tests/build/consumer.cpp" "$stage/consumer-cpp"
        run "$stage/consumer-cpp" "$wanted"
        for example in "$root"/tools/examples/*.cpp; do
            cpp "$example" "$stage/example-$(basename "$example" .cpp)"
        done
        compiled=yes
    fi
done
[ -n "$compiled" ] || echo "there is no C++ compiler: only C is checked"
