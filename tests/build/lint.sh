#!/bin/sh
# Shell scripts and manual pages, by the tools for them. What is not installed is not checked; if nothing is, the
# test is skipped.
#
#   lint.sh SOURCE_ROOT
set -eu
cd "$1"
checked=
bad=0

if command -v shellcheck >/dev/null 2>&1; then
    checked=yes
    for script in tools/dev .ci/run tools/packaging/build-deb tools/packaging/compose-fault \
        tools/packaging/debian/tests/[dp]* tests/*/*.sh; do
        if [ -e "$script" ] && ! shellcheck "$script"; then
            bad=1
        fi
    done
fi
if command -v mandoc >/dev/null 2>&1; then
    checked=yes
    for page in tools/man/*.[1-8]; do
        [ -e "$page" ] || continue
        # "style" messages are opinions.
        mandoc -T lint -W warning "$page" || bad=1
    done
fi
if [ -e docker-compose.yml ] && command -v docker-compose >/dev/null 2>&1; then
    checked=yes
    docker-compose -f docker-compose.yml --profile redlock --profile demo --profile failover config -q || bad=1
fi
[ -n "$checked" ] || exit 77
exit $bad
