#!/bin/sh
# What programs that were built against the recorded library rely on is still there: no function gone or changed, no
# member of a public structure moved. What is added is fine. Each soname has records of its own, one for each kind of
# machine: what the latest release with that soname exports, as `tools/dev abi` writes it. A change that breaks the
# record needs a new soname, and with it a new record: a library without one fails here.
#
#   abi.sh SOURCE_ROOT BUILD_ROOT LIBRARY [--record]
set -eu
root=$1
build=$2
library=$3
action=${4:-}
records=$root/tools/packaging/abi

command -v abidw >/dev/null 2>&1 || { echo "SKIP: there is no abidw (Debian: abigail-tools)"; exit 77; }

soname=$(readelf -d "$library" | sed -nE 's/.*\(SONAME\).*\[libredlock\.so\.(.*)\]/\1/p')
[ -n "$soname" ] || { echo "$library has no soname"; exit 1; }
record=$records/$soname/$(uname -m).abi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Neither places in the file system nor the libraries behind are part of the promise.
dump() {
    abidw --headers-dir "$root/include/redlock" --headers-dir "$build/include/redlock" --drop-private-types \
        --no-show-locs --no-corpus-path --no-comp-dir-path --no-elf-needed --out-file "$work/whole" "$library"
    sed "s,$root/,,g; s,$build/,,g" "$work/whole" >"$1"
}

if [ "$action" = --record ]; then
    mkdir -p "$(dirname "$record")"
    dump "$work/new"
    mv "$work/new" "$record"
    echo "$record: $(grep -c '<elf-symbol ' "$record") symbols"
    exit 0
fi
[ -d "$records/$soname" ] || { echo "nothing is recorded for libredlock.so.$soname: tools/dev abi"; exit 1; }
[ -e "$record" ] || { echo "SKIP: nothing is recorded for $(uname -m): tools/dev abi"; exit 77; }
dump "$work/now.abi"

# Any change is one too many; only what is added has been left out. The exit status is 0 if there is none.
abidiff --no-added-syms --suppressions "$records/suppressions" "$record" "$work/now.abi"
