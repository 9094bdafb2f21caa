#!/bin/sh
# A program that finds the installed library through pkg-config: compiles as C (and the headers as C++), links, runs.
#
#   consumer.sh SOURCE BUILD_ROOT MESON WITH_MASTERS        $CC
set -eu
source=$1
build=$2
meson=$3
with_masters=$4
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

command -v pkg-config >/dev/null 2>&1 || { echo "there is no pkg-config"; exit 77; }
"$meson" install -C "$build" --no-rebuild --quiet --destdir "$stage" >"$stage/log" 2>&1 || { cat "$stage/log"; exit 1; }
pc=$(find "$stage" -name redlock.pc)
[ -n "$pc" ] || { echo "no redlock.pc was installed"; exit 1; }
PKG_CONFIG_SYSROOT_DIR=$stage
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_PATH
library=$(dirname "$(find "$stage" -name 'libredlock.so.?')")

# shellcheck disable=SC2046 # the flags are words
"${CC:-cc}" -std=c11 -Wall -Wextra -Werror "$source" -o "$stage/consumer" \
    $(pkg-config --cflags --libs redlock) -levent_core
wanted=$(pkg-config --modversion redlock)
if command -v readelf >/dev/null 2>&1; then
    readelf -d "$stage/consumer" | grep -q 'NEEDED.*libredlock\.so\.[0-9]*\]' || { echo "no soname"; exit 1; }
fi
LD_LIBRARY_PATH=$library "$with_masters" 3 "$stage/consumer" "$wanted"
