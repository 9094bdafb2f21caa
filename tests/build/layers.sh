#!/bin/sh
# Which folder of lib/ may include the headers of which (the drawing is in lib/README.md), and third-party headers stay in
# the one folder that is there for them. What may be called is looked at by calls.py.
#
#   layers.sh SOURCE_ROOT
set -eu
cd "$1"
bad=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# allow LAYER PATTERN: every include of the layer must match the extended regular expression.
allow() {
    found=$(find "lib/$1" -name '*.[ch]' -exec grep -HnE '^[[:space:]]*#[[:space:]]*include' {} + |
        grep -vE "include ($2)" || true)
    if [ -n "$found" ]; then
        printf 'not allowed in %s:\n%s\n' "$1" "$found"
        bad=1
    fi
}

# outside LAYERS PATTERN: no layer but these may include the header.
outside() {
    found=$(find lib -name '*.[ch]' -exec grep -HnE "^[[:space:]]*#[[:space:]]*include $2" {} + |
        grep -vE "^lib/($1)/" || true)
    if [ -n "$found" ]; then
        printf 'only %s may include %s:\n%s\n' "$1" "$2" "$found"
        bad=1
    fi
}

pure='<(assert|stdbool|stddef|stdint|string)\.h>'
allow util '<[a-z_/.]+>|"util/'
allow votes "$pure|\"(util|votes)/"
allow engine "$pure|\"(util|votes|engine)/"
allow kinds "$pure|\"(util|votes|kinds)/"
allow codec '<[a-z_/.]+>|"(util|votes|kinds|codec)/'
allow stream '<[a-z0-9_/.]+>|"stream/'
allow driver '<[a-z0-9_/.]+>|"(util|codec|stream|driver)/|"host/transport\.h"'
# The host has its clocks, randomness and connections from outside. Of the public interface it knows options and errors.
allow host '<(assert|std(bool|def|int|io|lib)|string|redlock/(options|status))\.h>|"(util|votes|engine|kinds|codec|host)/'
allow api '<[a-z0-9_/.]+>|"(util|votes|engine|kinds|codec|stream|driver|host|api)/'

# Masters for tests run the scripts that ship, over streams of their own. Nothing else needs Lua.
allow simulated '<[a-z0-9_/.]+>|"(util|votes|kinds|codec|stream|driver|simulated)/'
outside simulated '<lua'

# A client of the public interface like any other, with the tools of util.
allow blocking '<[a-z0-9_/.]+>|"(util|blocking)/'

outside codec '<hiredis/'
outside stream '<openssl/'
outside 'driver|blocking' '<event2/'
outside 'stream|driver' '<(sys/socket|netinet/|netdb)'
outside api '<uuid/'
outside codec '"kinds/scripts/'

# Parts of util that votes, engine and kinds use must be header only: these folders need nothing from outside.
cat lib/votes/*.[ch] lib/engine/*.[ch] lib/kinds/*.[ch] | sed -nE 's/^#include "(util\/[a-z]+)\.h".*/\1/p' | sort -u >"$work/used"
while read -r part; do
    if [ -e "lib/$part.c" ]; then
        echo "a folder without I/O includes $part.h, which has code of its own"
        bad=1
    fi
done <"$work/used"

# The tool and the tests of the public interface use that interface alone. The tool's own connections share their byte
# stream with the driver, and what it tells other processes of its clock is what the library tells them.
found=$(grep -rnE --include='*.[ch]' '#[[:space:]]*include "(util|votes|engine|kinds|codec|driver|host|api|blocking)/' \
    tools tests/contract tests/support | grep -v '^tools/cli/clock.h:[0-9]*:#include "util/clock.h"' || true)
if [ -n "$found" ]; then
    printf 'internal headers outside of the library:\n%s\n' "$found"
    bad=1
fi
exit $bad
