#!/bin/sh
# The inner part of run.sh, in namespaces of its own: engine, images, masters, faults, and what the command says.
#
#   inside.sh SOURCE_ROOT REDLOCK LIBRARY_DIR WORK
# shellcheck disable=SC2016,SC2034,SC2317 # for inner shells; for images.sh; called by claim()
set -eu
root=$1
redlock=$2
library=$3
work=$4
here=$root/tests/compose
watchdog=30 # seconds for anything that is waited for
secured=
nodes=redis-1:6379,redis-2:6379,redis-3:6379,redis-4:6379,redis-5:6379

# What containers-common and the engine keep under /run is of no concern outside.
mount -t tmpfs none /run
ip link set lo up

# --- The engine

# Not every root may raise its limits, and the engine would try.
printf '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n' >"$work/containers.conf"
export CONTAINERS_CONF="$work/containers.conf"
export DOCKER_SOCKET="$work/engine.sock" DOCKER_HOST="unix://$work/engine.sock"
export COMPOSE_PROJECT_NAME=redlocktest REDLOCK_REPORTS="$work"

# Without layers: a file system under which containers cannot be layered is nothing unusual.
pod() {
    podman --root "$work/pod" --runroot "$work/podrun" --network-config-dir "$work/network" --storage-driver vfs \
        --cgroup-manager cgroupfs --events-backend file --network-backend netavark --runtime runc "$@"
}

# shellcheck disable=SC1091 # checked by itself
. "$here/images.sh"

# until_true COMMAND...
until_true() {
    end=$(($(date +%s) + watchdog))
    until "$@" >"$work/last" 2>&1; do
        [ "$(date +%s)" -lt "$end" ] || return 1
        sleep 0.1
    done
}

# --- The file

files="-f $root/docker-compose.yml"

compose() {
    # shellcheck disable=SC2086 # a list of words
    docker-compose $files --profile redlock --profile demo --profile failover "$@"
}

# From here on the masters are those with TLS.
with_tls() {
    files="$files -f $root/docker-compose.tls.yml"
    nodes=rediss://redis-1,rediss://redis-2,rediss://redis-3,rediss://redis-4,rediss://redis-5
    secured="--volume ${COMPOSE_PROJECT_NAME}_certificates:/certificates --env REDLOCK_TLS_CA=/certificates/ca.crt"
}

# quietly COMMAND...: what it says is of interest if it fails.
quietly() {
    "$@" >"$work/said" 2>&1 || { cat "$work/said"; return 1; }
}

# The command, in a container in the network of the masters, as a service of the file.
tool() {
    compose run --rm --no-deps -T redlock "$@" >"$work/out" 2>"$work/errors" </dev/null
}

# The same without the file, which is quicker.
shell() {
    # shellcheck disable=SC2086 # a list of words
    pod run --rm --network "${COMPOSE_PROJECT_NAME}_default" --env "REDLOCK_NODES=$nodes" $secured --entrypoint sh \
        redlock "$@" >"$work/out" 2>"$work/errors" </dev/null
}

# The same hook from outside of the network and from inside, where it has to find out whose masters are meant.
fault() {
    "$root/tools/packaging/compose-fault" "$@"
}

inner_fault() {
    compose run --rm --no-deps -T --entrypoint compose-fault failover "$@" >"$work/out" 2>"$work/errors" </dev/null
}

bad=0

# claim TEXT COMMAND...
claim() {
    text=$1
    shift
    if "$@"; then
        echo "ok: $text"
    else
        echo "FAILED: $text"
        sed 's/^/    /' "$work/out" "$work/errors"
        bad=1
    fi
}

answers() {
    redis-cli -h 127.0.0.1 -p "$1" ping 2>/dev/null | grep -q PONG
}

# locks N KEY: N masters vote, and the lock is taken and given back.
locks() {
    steps='redlock nodes --json; token=$(redlock lock "$0" --ttl 10s --wait 5s) && redlock unlock "$0" "$token"'
    shell -c "$steps" "$2" && grep -q "\"voting\":$1," "$work/out"
}

# refused KEY: no quorum, which is the command's exit status 3.
refused() {
    code=0
    shell -c 'exec redlock lock "$0" --ttl 5s --wait 1s' "$1" || code=$?
    [ "$code" -eq 3 ]
}

# With TLS: whoever does not know the CA.
distrusted() {
    ! shell -c 'unset REDLOCK_TLS_CA; exec redlock nodes' && grep -q 'unknown CA' "$work/out"
}

demo() {
    compose run --rm --no-deps -T demo demo --fast --nodes "$nodes" >"$work/out" 2>"$work/errors" </dev/null &&
        grep -q '^All [0-9]* checks held' "$work/out"
}

# failover SCENARIO...: a short run of each, with faults through the engine's socket.
failover() {
    compose run --rm --no-deps -T failover failover "$@" --phase 700ms --quiet --nodes "$nodes" \
        --fault-hook compose-fault --html /reports/failover.html >"$work/out" 2>"$work/errors" </dev/null &&
        grep -q '</html>' "$work/failover.html"
}

# --- The test

start=$(date +%s)
: >"$work/out"
: >"$work/errors"
claim 'the file is valid' quietly compose config -q
make_images
if ! pod run --rm --network none --entrypoint '["redis-server", "--version"]' redis:8.0 >"$work/said" 2>&1; then
    echo "SKIP: containers cannot run here: $(tail -n 1 "$work/said")"
    exit 77
fi
pod system service --time=0 "$DOCKER_HOST" >"$work/engine.log" 2>&1 &
engine=$!
until_true test -S "$DOCKER_SOCKET" || { cat "$work/engine.log"; exit 1; }

quietly compose up -d redis-1 redis-2 redis-3 redis-4 redis-5
for port in 7001 7002 7003 7004 7005; do
    claim "a master answers on port $port" until_true answers $port
done
claim 'the masters are declared new, by their names in the network' tool nodes --new-deployment --yes --json
claim 'all five vote' locks 5 five
claim 'the demo runs in the network' demo

fault pause 1
claim 'one master hangs: locks go on' locks 4 hung
fault kill 2
claim 'another is killed: locks go on' locks 3 killed
fault disconnect 3
claim 'a third is cut off: no lock is granted' refused cut
fault connect 3
claim 'it is back: locks go on' until_true locks 3 back
fault unpause 1
fault start 2
claim 'all are back, with their memory, and vote' until_true locks 5 again

claim 'a container of the project can do it, too' inner_fault hang 4
fault disconnect 5
claim 'another two are gone: locks go on' locks 3 others
fault unpause 4
fault connect 5
claim 'and are back' until_true locks 5 return
claim 'the failover run kills and hangs masters, and nobody notices' failover kill-1 hang-2

quietly compose down -v --timeout 2
claim 'no container is left' test -z "$(pod ps --all --quiet)"
claim 'no volume is left' test -z "$(pod volume ls --quiet)"
claim 'no network is left but the engine'\''s own' test "$(pod network ls --quiet)" = podman

with_tls
claim 'the file for TLS is valid' quietly compose config -q
quietly compose up -d redis-1 redis-2 redis-3 redis-4 redis-5
claim 'with TLS, the masters are declared new' until_true tool nodes --new-deployment --yes --json
claim 'with TLS, all five vote' locks 5 five
claim 'without the CA nobody is believed' distrusted
claim 'with TLS, the demo runs in the network' demo
quietly compose down -v --timeout 2
claim 'no volume is left of the certificates' test -z "$(pod volume ls --quiet)"
kill "$engine"
wait "$engine" 2>/dev/null || true
echo "$(($(date +%s) - start)) s"
exit $bad
