#!/bin/sh
# The programs in README.md, the blocking one and the one with an event loop, compile without a warning and lock, once
# their masters have been declared new; before that, they say so and end with 1.
#
#   readme.sh SOURCE_ROOT BUILD_ROOT LIBRARY_DIR WITH_MASTERS        $CC
set -eu
root=$1
build=$2
library=$3
with_masters=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

[ -e "$root/README.md" ] || { echo "there is no README.md"; exit 77; }
program() {
    awk -v wanted="$1" '/^```c$/ { on = 1; n++; next } /^```$/ { on = 0 } on && n == wanted' "$root/README.md" \
        >"$work/program$1.c"
    grep -q "$2" "$work/program$1.c" || { echo "README.md has no program with $2"; exit 1; }
    "${CC:-cc}" -std=c11 -Wall -Wextra -Wno-unused-parameter -Werror -I"$root/include" -I"$build/include" \
        "$work/program$1.c" -o "$work/program$1" -L"$library" -lredlock "$3"
}
program 1 redlock_mutex_acquire -lredlock
program 2 redlock_acquire -levent_core
redlock=$build/tools/redlock
[ -x "$redlock" ] || { echo "the redlock command is not built"; exit 77; }
cat >"$work/steps.sh" <<'END'
blocking=$1 evented=$2 redlock=$3
shift 3
list=$(IFS=,; echo "$*")
"$blocking" "$@"
echo "blocking: $?"
"$evented" "$@"
echo "evented: $?"
REDLOCK_NODES=$list "$redlock" nodes --new-deployment --yes
"$blocking" "$@"
exec "$evented" "$@"
END
LD_LIBRARY_PATH=$library "$with_masters" 3 sh "$work/steps.sh" "$work/program1" "$work/program2" "$redlock" \
    >"$work/output" 2>&1
cat "$work/output"
grep -q '^locked, [0-9]* ms left' "$work/output"
grep -q '^locked by [23] of 3 masters' "$work/output"
[ "$(grep -c "^not locked: 0 of 3 masters can vote: .*'redlock nodes --new-deployment'" "$work/output")" -eq 2 ]
grep -q '^blocking: 1$' "$work/output"
grep -q '^evented: 1$' "$work/output"
grep -q '^released: success' "$work/output"
