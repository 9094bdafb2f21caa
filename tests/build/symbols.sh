#!/bin/sh
# What the linker knows: votes, engine and kinds need nothing but memory and string functions, votes nothing of the
# engine, and the shared library exports every function that the headers declare, and nothing else.
#
#   symbols.sh VOTES_ARCHIVE ENGINE_ARCHIVE KINDS_ARCHIVE SHARED_LIBRARY SOURCE_ROOT [LIBRARY_FOR_TESTS]
set -eu
votes=$1
engine=$2
kinds=$3
shared=$4
include=$5/include/redlock
simulation=${6:-}
bad=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What instruments the code is no dependency of the code.
tooling='__stack_chk_fail|_GLOBAL_OFFSET_TABLE_|__(a|ub|t|l)san_.*|__sanitizer_.*|__gcov_.*|__llvm_.*|__fentry__'
# bcmp is what clang makes of a memcmp whose sign nobody looks at.
allowed='memcpy|memset|memmove|memcmp|bcmp|memchr|strlen|__assert_fail'

# alone NAME ARCHIVE...: the first archive needs nothing but what is allowed and what the others define.
alone() {
    name=$1
    nm -u "$2" | sed -nE 's/^ +[Uvw] //p' | sort -u >"$work/needed"
    shift
    nm --defined-only "$@" | sed -nE 's/^[0-9a-f]+ [A-Z] //p' | sort -u >"$work/defined"
    if comm -23 "$work/needed" "$work/defined" | grep -vxE "$tooling|$allowed"; then
        echo "$name needs these symbols, which it must not"
        bad=1
    fi
    if ! [ -s "$work/defined" ]; then
        echo "no symbols were found in $1"
        bad=1
    fi
}
alone votes "$votes"
alone engine "$engine" "$votes"
alone kinds "$kinds" "$votes"

# exports LIBRARY PRIVATE HEADER...: the library exports what these headers declare, and for its other half the private
# function, and nothing else.
exports() {
    nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u >"$work/exported"
    if grep -vE '^redlock_' "$work/exported" | grep -vxE "$tooling"; then
        echo "$1 exports these symbols, which it must not"
        bad=1
    fi
    library=$1
    echo "$2" >"$work/declared"
    shift 2
    sed -nE 's/^REDLOCK_API(_USED)? [^(]*[ *]([a-z_0-9]+)\(.*/\2/p' "$@" >>"$work/declared"
    sort -u -o "$work/declared" "$work/declared"
    if comm -3 "$work/declared" "$work/exported" | grep .; then
        echo "$library: declared and not exported (first column), or the other way round (second)"
        bad=1
    fi
}
headers=$(find "$include" -name '*.h' -not -name simulation.h)
# shellcheck disable=SC2086  # there is no blank in their names
exports "$shared" redlock_private_simulator $headers "$include"/*.h.in
[ -z "$simulation" ] || exports "$simulation" redlock_simulation_create "$include/simulation.h"
exit $bad
