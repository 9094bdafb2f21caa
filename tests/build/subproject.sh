#!/bin/sh
# A Meson project that has this tree among its subprojects, by the wrap file of tools/packaging/meson: the library is
# built with it, without tests and command, and its program locks.
#
#   subproject.sh SOURCE_ROOT MESON WITH_MASTERS        $CC
set -eu
root=$1
meson=$2
with_masters=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    cat "$work/log"
    echo "$*"
    exit 1
}

mkdir "$work/subprojects"
cp "$root/tools/packaging/meson/redlock.wrap" "$work/subprojects"
ln -s "$root" "$work/subprojects/redlock"
cp "$root/tests/build/consumer.c" "$work"
cat >"$work/meson.build" <<'END'
project('stranger', 'c')
redlock_dep = dependency('redlock', default_options: ['tools=false', 'man=false'])
executable('consumer', 'consumer.c', dependencies: [redlock_dep, dependency('libevent_core')])
END

# An installed library would do, too, but that is what consumer.sh is about. Nothing may be downloaded.
"$meson" setup "$work/build" "$work" --wrap-mode nodownload --force-fallback-for redlock --buildtype plain \
    >"$work/log" 2>&1 || fail "the project cannot be configured"
grep -q 'tests *: NO$' "$work/log" || fail "the tests are built with it"
"$meson" compile -C "$work/build" >"$work/log" 2>&1 || fail "the project cannot be built"
if find "$work/build" -name 'test_*' -o -name 'redlock' -type f | grep . >"$work/log"; then
    fail "this is of no use to the project"
fi
version=$(sed -nE 's/^#define REDLOCK_VERSION "(.*)"/\1/p' "$work/build/subprojects/redlock/include/redlock/version.h")
"$with_masters" 3 "$work/build/consumer" "$version"
