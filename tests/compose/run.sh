#!/bin/sh
# docker-compose.yml, brought up for real: five masters and the redlock command in containers. Everything happens in
# namespaces of its own (network, mounts, processes): ports 7001 to 7005 are those of that network, and whatever a
# container engine leaves behind, firewall chains and helpers, ends with them. Needs no registry: the images are made
# of this machine's programs.
#
#   run.sh SOURCE_ROOT REDLOCK LIBRARY_DIR
#
# Exit status: 77 where containers cannot run, with the reason.
set -eu
root=$1
redlock=$2
library=$3
here=$root/tests/compose

skip() {
    echo "SKIP: $*"
    exit 77
}

[ "$(id -u)" -eq 0 ] || skip "containers are only run as root here"
for tool in podman conmon netavark aardvark-dns runc iptables unshare ip curl redis-server redis-cli docker-compose; do
    # Debian keeps podman's helpers out of the PATH.
    PATH=$PATH:/usr/lib/podman:/usr/sbin command -v $tool >/dev/null 2>&1 || skip "there is no $tool"
done
unshare --net --mount --pid --fork --mount-proc true 2>/dev/null || skip "no namespaces of our own here"

firewall() {
    iptables -S 2>/dev/null || true
}

# The control groups of containers, which are in no namespace.
groups() {
    find /sys/fs/cgroup -depth -type d -path '*/libpod*' 2>/dev/null || true
}

work=$(mktemp -d)
groups >"$work/groups"
firewall >"$work/firewall"
inner=

new_groups() {
    groups | grep -vxFf "$work/groups" || true
}

remove_groups() {
    new_groups | while read -r group; do
        rmdir "$group" 2>/dev/null || true
    done
}

# shellcheck disable=SC2317 # end() calls it
thaw() {
    new_groups | while read -r group; do
        [ ! -e "$group/freezer.state" ] || echo THAWED >"$group/freezer.state"
    done
}

# shellcheck disable=SC2317 # a trap calls it
end() {
    if [ -n "$inner" ]; then
        kill -KILL "$inner" 2>/dev/null || true
        for _ in $(seq 50); do
            thaw # what is frozen cannot die
            pgrep -f "$work" >/dev/null || break
            sleep 0.1
        done
    fi
    remove_groups
    rm -rf "$work"
}
trap end EXIT
trap 'exit 130' INT TERM

# All processes of the namespace end with its first.
status=0
unshare --net --mount --pid --fork --kill-child --mount-proc timeout --kill-after=5 280 \
    sh "$here/inside.sh" "$root" "$redlock" "$library" "$work" &
inner=$!
wait "$inner" || status=$?
[ "$status" -eq 0 ] || exit "$status"
inner=
remove_groups

# Nothing is left.
bad=0
if pgrep -af "$work" | grep -v pgrep; then
    echo "these processes are left"
    bad=1
fi
if grep " $work" /proc/mounts; then
    echo "these mounts are left"
    bad=1
fi
if ! firewall | diff "$work/firewall" -; then
    echo "the firewall is not as it was"
    bad=1
fi
if new_groups | grep .; then
    echo "these control groups are left"
    bad=1
fi
exit $bad
