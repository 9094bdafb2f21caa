#!/bin/sh
# Each example program does what its first lines say, on masters that have been declared new; on others it says why not,
# and ends with 1.
#
#   run.sh BUILD_ROOT WITH_MASTERS
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1
with_masters=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

redlock=$build/tools/redlock
[ -x "$redlock" ] || { echo "the redlock command is not built"; exit 77; }
cat >"$work/steps.sh" <<'END'
set -eu
examples=$1 redlock=$2 work=$3 here=$4
shift 4

# run NAME [ARGUMENT...]: the output is in $work/NAME
run() {
    name=$1
    shift
    "$examples/example-$name" "$@" >"$work/$name" 2>"$work/$name.err" || {
        echo "$name failed:"
        cat "$work/$name" "$work/$name.err"
        return 1
    }
    cat "$work/$name"
}

# says NAME TEXT
says() {
    grep -qF -- "$2" "$work/$1" || { echo "$1 did not say: $2"; exit 1; }
}

# fails NAME [ARGUMENT...]
fails() {
    code=0
    name=$1
    shift
    "$examples/example-$name" "$@" >"$work/$name" 2>"$work/$name.err" || code=$?
    if [ "$code" -ne 1 ] || ! grep -q "0 of 3 masters can vote: .*redlock nodes --new-deployment" "$work/$name.err"; then
        echo "$name ended with $code on masters that do not vote, and said:"
        cat "$work/$name" "$work/$name.err"
        exit 1
    fi
}

# All at once: some of them try for ten seconds.
others='async blocking threads recursive rwlock epoll transfer'
[ ! -x "$examples/example-raii" ] || others="$others raii scoped"
running=
for name in $others; do
    fails "$name" "$@" &
    running="$running $!"
done
fails fenced_write "$work/account" 100 "$@" &
for process in $running $!; do
    wait "$process" || exit 1
done

REDLOCK_NODES=$(IFS=,; echo "$*") "$redlock" nodes --new-deployment --yes >/dev/null
run async "$@"
says async 'locked after'
says async 'released'
run blocking "$@"
says blocking 'locked, '
says blocking 'unlock: success'
run threads "$@"
says threads '40 of 40 turns'
# Two instances at once: each of them leads, one after the other.
"$examples/example-leader" one "$@" >"$work/leader-one" &
"$examples/example-leader" two "$@" >"$work/leader-two" || { cat "$work/leader-two"; exit 1; }
wait $! || { cat "$work/leader-one"; exit 1; }
for name in one two; do
    says "leader-$name" "$name has ended: success"
    term=$(sed -n "s/^$name leads, term //p" "$work/leader-$name")
    [ "$(grep -c "turn . of term $term\$" "$work/leader-$name")" -eq 5 ] || { cat "$work/leader-$name"; exit 1; }
done
if [ "$(sed -n 's/.*leads, term //p' "$work/leader-one" "$work/leader-two" | sort -u | wc -l)" -ne 2 ]; then
    echo "two leaders have the same term"
    exit 1
fi
run recursive "$@"
[ "$(grep -c ': 2 lines, depth 1' "$work/recursive")" -eq 4 ] || { echo "recursive: not all orders are fulfilled"; exit 1; }
says recursive '80 on stock'
run transfer "$@"
[ "$(grep -c ' with token .* with token .* ms left$' "$work/transfer")" -eq 4 ] || {
    echo "transfer: not all transfers were carried out"
    exit 1
}
run permits "$@"
[ "$(grep -c 'is converted in /tmp/converter.[012]$' "$work/permits")" -eq 7 ] || {
    echo "permits: not all images are converted"
    exit 1
}
run rwlock "$@"
[ "$(grep -c ' reads 100$' "$work/rwlock")" -eq 5 ] || { echo "rwlock: not all have read together"; exit 1; }
says rwlock 'the updater raises it to 101'
says rwlock 'the updater reads 101'
# All write to one file: whoever begins a round does so behind the last who has done the one before.
running=
for party in left middle right; do
    "$examples/example-barrier" run-1 $party "$@" >>"$work/barrier" 2>&1 &
    running="$running $!"
done
for process in $running; do
    wait "$process" || { cat "$work/barrier"; exit 1; }
done
cat "$work/barrier"
awk '$2 == "begins" && done[$4 - 1] != ($4 == 1 ? 0 : 3) { early = 1 }
    $2 == "has" { done[$5]++ } END { exit early || done[1] != 3 || done[2] != 3 || done[3] != 3 }' "$work/barrier" || {
    echo "barrier: a round began early"
    exit 1
}
echo no-password-is-wrong-for-this-user >"$work/token.txt"
run token default "$work/token.txt" "$@"
says token 'locked'
says token 'released'
run epoll "$@"
[ "$(grep -c ': success' "$work/epoll")" -eq 6 ] || { echo "epoll: not all locks were taken and given back"; exit 1; }
if [ -x "$examples/example-raii" ]; then
    run raii "$@"
    says raii 'the lock is free: true'
    says raii 'unlock: success'
    says raii 'again: true'
    run scoped "$@"
    says scoped 'alice -> bob: tokens '
    says scoped 'bob -> alice: tokens '
    run together run-2 "$@"
    says together 'all are ready: false'
    says together 'all are ready: true'
    says together 'all have ended: true'
    says together 'a fourth one: the latch has another number of parties'
else
    echo "there is no C++ compiler: raii was not built"
fi

# The second token is larger than the first; with the first one no more can be written.
run fenced_write "$work/account" 100 "$@"
first=$(sed -n 's/^token \([0-9]*\):.*/\1/p' "$work/fenced_write")
run fenced_write "$work/account" 200 "$@"
if OLD_TOKEN=$first run fenced_write "$work/account" 300 "$@"; then
    echo "an old token was accepted"
    exit 1
fi
grep -q 'refused: token' "$work/fenced_write.err" || { echo "fenced_write failed for another reason"; exit 1; }
grep -q ' 200$' "$work/account" || { echo "the account is wrong:"; cat "$work/account"; exit 1; }
python3 "$here/fenced.py" "$examples" "$@"
END
"$with_masters" 3 sh "$work/steps.sh" "$build/tools/examples" "$redlock" "$work" "$here"
