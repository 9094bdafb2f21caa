#!/bin/sh
# A world depends on its seed alone, so that one that was found among many can be replayed. With two processes each
# world comes after another one than with a single process; the totals must be the same.
# usage: alone.sh SIM FIRST LAST
set -eu
sim=$1 range=$2..$3
totals() {
    "$sim" --seeds "$range" --coverage --jobs "$1" | sed '/^worlds .* a minute/d'
}

one=$(totals 1)
two=$(totals 2)
[ -n "$one" ] || exit 1
[ "$one" = "$two" ] && exit
printf '%s\n--- and with two processes:\n%s\n' "$one" "$two"
exit 1
