#!/bin/sh
# A project that finds the installed library through CMake: it builds, and locks. Versions with another soname are
# refused.
#
#   cmake.sh SOURCE_DIR BUILD_ROOT MESON WITH_MASTERS        $CC
set -eu
source=$1
build=$2
meson=$3
with_masters=$4

command -v cmake >/dev/null 2>&1 || { echo "SKIP: there is no cmake"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
DESTDIR=$work/stage "$meson" install -C "$build" --no-rebuild >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
config=$(find "$work/stage" -name redlockConfig.cmake)
[ -n "$config" ] || { echo "no redlockConfig.cmake was installed"; exit 1; }
header=$(find "$work/stage" -name version.h)
version=$(sed -nE 's/^#define REDLOCK_VERSION "(.*)"/\1/p' "$header")

# configure VERSION [ARGUMENT...]: into a fresh directory.
configure() {
    rm -rf "$work/build"
    wanted=$1
    shift
    cmake -S "$source/cmake" -B "$work/build" -DWANTED="$wanted" -DCMAKE_PREFIX_PATH="${header%/include/*}" \
        "$@" >"$work/log" 2>&1
}

major=${version%%.*}
minor=${version#*.}
minor=${minor%%.*}
for other in "$major.$((minor + 1))" "$major.${minor}0" "$((major + 1))"; do
    if configure "$other"; then
        echo "version $other is not $version, and is found"
        exit 1
    fi
    grep -q 'compatible' "$work/log" || { cat "$work/log"; exit 1; }
done
for same in '' "$major.$minor" "$version;EXACT"; do
    configure "$same" || { cat "$work/log"; echo "version '$same' is $version, and is not found"; exit 1; }
done

# What was installed may be moved.
mv "$work/stage" "$work/moved"
header=$work/moved${header#"$work/stage"}
configure "$version" -DCMAKE_C_FLAGS='-Wall -Wextra -Werror'
cmake --build "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
for program in "$work/build/consumer" "$work/build/consumer-cpp"; do
    # Only where there is a compiler for it.
    [ -x "$program" ] || [ "$program" = "$work/build/consumer-cpp" ] || { echo "$program was not built"; exit 1; }
    [ ! -x "$program" ] || "$with_masters" 3 "$program" "$version"
done
