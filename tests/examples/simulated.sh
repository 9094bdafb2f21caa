#!/bin/sh
# A worker's test in tools/examples/simulated passes, by the command that its first lines give.
#
#   simulated.sh SOURCE_ROOT REDLOCK python|node|php|go
set -eu
root=$1
PATH=$(cd "$(dirname "$2")" && pwd):$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd "$root/tools/examples/simulated"
case $3 in
    python)
        PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$root/tools/clients/python python3 -W error -m unittest test_worker.py
        ;;
    node)
        mkdir "$work/node_modules"
        ln -s "$root/tools/clients/node" "$work/node_modules/redlock-agent"
        cp worker.test.mjs "$work"
        cd "$work"
        node --test worker.test.mjs
        ;;
    php)
        php -d include_path="$root/tools/clients/php" worker_test.php
        ;;
    go)
        GOPROXY=off GOTOOLCHAIN=local GOFLAGS=-buildvcs=false CGO_ENABLED=0 go test -count=1
        ;;
esac
