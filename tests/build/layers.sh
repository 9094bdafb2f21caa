#!/bin/sh
# Each layer of lib/ may use only those before it: util <- core <- codec <- driver <- api <- blocking. The driver carries
# bytes: it includes nothing of the core. And third-party headers stay in the one layer that is there for them.
#
#   layers.sh SOURCE_ROOT
set -eu
cd "$1"
bad=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# allow LAYER PATTERN: every include of the layer must match the extended regular expression.
allow() {
    found=$(grep -nE '^[[:space:]]*#[[:space:]]*include' "lib/$1"/*.[ch] | grep -vE "include ($2)" || true)
    if [ -n "$found" ]; then
        printf 'not allowed in %s:\n%s\n' "$1" "$found"
        bad=1
    fi
}

# outside LAYERS PATTERN: no layer but these may include the header.
outside() {
    found=$(grep -nE "^[[:space:]]*#[[:space:]]*include $2" lib/*/*.[ch] | grep -vE "^lib/($1)/" || true)
    if [ -n "$found" ]; then
        printf 'only %s may include %s:\n%s\n' "$1" "$2" "$found"
        bad=1
    fi
}

# mutants.h is the simulator's, and only present in its builds.
allow util '<[a-z_/.]+>|"util/'
allow core '<(assert|stdbool|stddef|stdint|string)\.h>|"(util|core)/|"mutants\.h"'
allow codec '<[a-z_/.]+>|"(util|core|codec|scripts)/'
allow driver '<[a-z0-9_/.]+>|"(util|codec|driver)/'
allow api '<[a-z0-9_/.]+>|"(util|core|codec|driver|api)/'

# A client of the public interface like any other, with the tools of util.
allow blocking '<[a-z0-9_/.]+>|"(util|blocking)/'

outside codec '<hiredis/'
outside 'driver|blocking' '<event2/'
outside driver '<(sys/socket|netinet/|netdb)'
outside api '<uuid/'
outside codec '"scripts/'

# Parts of util that the core uses must be header only, like the core itself.
cat lib/core/*.[ch] | sed -nE 's/^#include "(util\/[a-z]+)\.h".*/\1/p' | sort -u >"$work/used"
while read -r part; do
    if [ -e "lib/$part.c" ]; then
        echo "the core includes $part.h, which has code of its own"
        bad=1
    fi
done <"$work/used"

# The tool and the tests of the public interface use that interface alone.
found=$(grep -nE '#[[:space:]]*include "(util|core|codec|driver|api|blocking)/' tools/*/*.[ch] tests/contract/*.[ch] \
    tests/support/*.[ch] || true)
if [ -n "$found" ]; then
    printf 'internal headers outside of the library:\n%s\n' "$found"
    bad=1
fi
exit $bad
