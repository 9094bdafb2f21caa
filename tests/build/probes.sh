#!/bin/sh
# The library has its probes for tracers exactly if it was built with them: those that the manual page lists, with as
# many arguments, and no others.
#
#   probes.sh SOURCE_ROOT LIBRARY true|false
set -eu
root=$1
library=$2
wanted=$3

command -v readelf >/dev/null 2>&1 || { echo "SKIP: there is no readelf"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# NAME COUNT, of what the notes say.
readelf -n "$library" | awk '/Provider: / { ours = $2 == "redlock" } ours && /Name: / { name = $2 }
    ours && /Arguments:/ { print name, NF - 1 }' | sort -u >"$work/found"
if [ "$wanted" = false ]; then
    if [ -s "$work/found" ]; then
        cat "$work/found"
        echo "the library was built without probes, and has them"
        exit 1
    fi
    exit 0
fi
sed -nE 's/^\.It Li redlock:([a-z]+) Ns Pq (.*)$/\1 \2/p' "$root/tools/man/redlock_client_stats.3" |
    awk '{ print $1, NF - 1 }' | sort >"$work/wanted"
[ -s "$work/wanted" ] || { echo "the manual page lists no probes"; exit 1; }
diff "$work/wanted" "$work/found" || { echo "listed (<) and in the library (>), with the number of arguments"; exit 1; }
