#!/bin/sh
# A machine that has nothing but what the library needs, no Check among it: the build goes without the tests and says
# so. The library is a static one here, and pkg-config tells what a program needs to link it, also when all that was
# installed has been moved to another place.
#
#   bare.sh SOURCE_ROOT MESON WITH_MASTERS        $CC
set -eu
root=$1
meson=$2
with_masters=$3

command -v pkg-config >/dev/null 2>&1 || { echo "SKIP: there is no pkg-config"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "$*"
    exit 1
}

mkdir "$work/known"
for package in hiredis libevent_core uuid; do
    place=$(pkg-config --variable=pcfiledir $package)
    cp "$place/$package.pc" "$work/known"
done
PKG_CONFIG_LIBDIR=$work/known
PKG_CONFIG_PATH=
export PKG_CONFIG_LIBDIR PKG_CONFIG_PATH
# Meson 0.63 learned to write a file that may be moved.
relocatable=
case $("$meson" --version) in
0.5* | 0.60* | 0.61* | 0.62*) ;;
*) relocatable=-Dpkgconfig.relocatable=true ;;
esac
# shellcheck disable=SC2086 # one word or none
"$meson" setup "$work/build" "$root" --prefix "$work/prefix" --libdir lib -Dtools=false -Dman=false -Dtests=auto \
    --buildtype debug --default-library static $relocatable >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
grep -q 'tests *: NO (there is no Check)' "$work/log" || { cat "$work/log"; fail "the summary has no word on the tests"; }
if "$meson" setup "$work/strict" "$root" -Dtests=enabled >"$work/log" 2>&1; then
    fail "tests that were asked for are left out"
fi
"$meson" install -C "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }

prefix=$work/prefix
if [ -n "$relocatable" ]; then
    prefix=$work/moved
    mv "$work/prefix" "$prefix"
fi

# Programs that link the shared library need no other package, neither by its flags nor installed.
PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig
flags=$(pkg-config --cflags redlock | sed 's/ *$//')
[ "$(realpath "${flags#-I}")" = "$prefix/include" ] || fail "flags for the compiler: $flags"
flags=$(pkg-config --libs redlock | sed 's/ *$//')
place=${flags% -lredlock}
[ "$(realpath "${place#-L}")" = "$prefix/lib" ] || fail "flags for the linker: $flags"

# shellcheck disable=SC2046 # the flags are words
"${CC:-cc}" -std=c11 -Wall -Wextra -Werror "$root/tests/build/consumer.c" -o "$work/consumer" \
    $(pkg-config --static --cflags --libs redlock)
if command -v readelf >/dev/null 2>&1 && readelf -d "$work/consumer" | grep -q 'NEEDED.*libredlock'; then
    fail "the program was not linked with the static library"
fi
"$with_masters" 3 "$work/consumer" "$(pkg-config --modversion redlock)"

# Without any shared library, where there are static ones of all that is behind. The linker warns of name resolution,
# which loads libraries of glibc all the same.
printf 'int main(void) { return 0; }' >"$work/empty.c"
if "${CC:-cc}" -static "$work/empty.c" -o "$work/empty" -lhiredis -levent_core -luuid >"$work/log" 2>&1; then
    # shellcheck disable=SC2046 # the flags are words
    "${CC:-cc}" -std=c11 -static "$root/tests/build/consumer.c" -o "$work/consumer-static" \
        $(pkg-config --static --cflags --libs redlock) >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    "$with_masters" 3 "$work/consumer-static" "$(pkg-config --modversion redlock)"
else
    echo "there are no static libraries of hiredis, libevent, libuuid and C: only libredlock is linked statically"
fi
if command -v cmake >/dev/null 2>&1; then
    {
        cmake -S "$root/tests/build/cmake" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DWANTED=
        cmake --build "$work/cmake"
    } >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    "$with_masters" 3 "$work/cmake/consumer" "$(pkg-config --modversion redlock)"
fi

# There is no OpenSSL, either.
cat >"$work/refused.c" <<'END'
#include <event2/event.h>
#include <redlock/redlock.h>
#include <stdio.h>
int main(void)
{
    const char *const url = "rediss://127.0.0.1:1";
    struct event_base *base = event_base_new();
    struct redlock_error error = {0};
    struct redlock_client *client;

    printf("%s: %s\n", redlock_status_name(redlock_client_create(base, &url, 1, NULL, &client, &error)), error.text);
    event_base_free(base);
    return 0;
}
END
# shellcheck disable=SC2046 # the flags are words
"${CC:-cc}" -std=c11 "$work/refused.c" -o "$work/refused" $(pkg-config --static --cflags --libs redlock)
said=$("$work/refused")
[ "$said" = "REDLOCK_E_TLS: this libredlock was built without TLS: it has no rediss://" ] || fail "rediss://: $said"
