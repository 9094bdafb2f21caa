#!/bin/sh
# tools/dev runs in every POSIX shell that is here; and on a system without apt it names what is missing.
#
#   dev.sh SOURCE_ROOT
set -eu
root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

# A system with nothing but a shell, and a package manager that must not be called.
mkdir "$work/bin"
for program in cat dirname; do
    ln -s "$(command -v $program)" "$work/bin/$program"
done

# expect PATTERN SHELL...: what `tools/dev build` says there.
expect() {
    pattern=$1
    shift
    if (PATH=$work/bin "$@" "$root/tools/dev" build) >"$work/said" 2>&1; then
        echo "$*: tools/dev builds without a compiler"
        bad=1
    fi
    for text in 'missing: cc meson ninja pkg-config redis-server hiredis jansson libevent_core uuid' "$pattern"; do
        grep -q "$text" "$work/said" || { echo "$*: tools/dev does not say '$text':"; cat "$work/said"; bad=1; }
    done
}

unset CC REDLOCK_SERVER
for shell in sh dash bash busybox; do
    path=$(command -v $shell) || continue
    if [ $shell = busybox ]; then
        set -- "$path" sh
    else
        set -- "$path"
    fi
    PATH=$work/bin "$@" "$root/tools/dev" help | grep -q '^usage: tools/dev' || { echo "$*: no help"; bad=1; }
    expect 'README.md names the packages' "$@"
    for manager in apk dnf; do
        printf '#!%s\necho "%s was called"\n' "$path" $manager >"$work/bin/$manager"
        chmod +x "$work/bin/$manager"
        expect "please install them: $manager .* hiredis-dev.* redis" "$@"
        rm "$work/bin/$manager"
    done
done
exit $bad
