#!/bin/sh
# The program in README.md compiles without a warning and locks, once its masters have been declared new; before that,
# it says so and ends with 1.
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
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$root/README.md" >"$work/program.c"
grep -q redlock_mutex_lock "$work/program.c" || { echo "README.md has no program with redlock_mutex_lock"; exit 1; }
"${CC:-cc}" -std=c11 -Wall -Wextra -Wno-unused-parameter -Werror -I"$root/include" -I"$build/include" \
    "$work/program.c" -o "$work/program" -L"$library" -lredlock
redlock=$build/tools/redlock
[ -x "$redlock" ] || { echo "the redlock command is not built"; exit 77; }
cat >"$work/steps.sh" <<'END'
program=$1 redlock=$2
shift 2
list=$(IFS=,; echo "$*")
"$program" "$@"
echo "ended with $?"
REDLOCK_NODES=$list "$redlock" nodes --new-deployment --yes
exec "$program" "$@"
END
LD_LIBRARY_PATH=$library "$with_masters" 3 sh "$work/steps.sh" "$work/program" "$redlock" >"$work/output" 2>&1
cat "$work/output"
grep -q '^not locked: 0 of 3 masters can vote: .*'"'redlock nodes --new-deployment'" "$work/output"
grep -q '^ended with 1$' "$work/output"
grep -q '^locked, [0-9]* ms left' "$work/output"
