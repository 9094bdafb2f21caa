#!/bin/sh
# Prometheus's own tool finds nothing wrong with the metrics file of `redlock run`, which the library writes but for a
# few lines; not with an odd key either.
#
#   promtool.sh REDLOCK PROMTOOL WITH_MASTERS
set -eu
redlock=$1
promtool=$2
with_masters=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/steps.sh" <<'END'
redlock=$1 work=$2
shift 2
REDLOCK_NODES=$(IFS=,; echo "$*")
export REDLOCK_NODES
"$redlock" nodes --new-deployment --yes >/dev/null
try()
{
    "$redlock" run "$@" --metrics-file "$work/page" cp "$work/page" "$work/while"
    cat "$work/while" >>"$work/all"
    "$work/check" <"$work/while"
    "$work/check" <"$work/page"
}
try -k job
try -k "$(printf 'a "b" \\ c\nd \377')"
try -k 'a b' -k 'c "d" \'
END
printf '#!/bin/sh\nexec "%s" check metrics\n' "$promtool" >"$work/check"
chmod +x "$work/check"
"$with_masters" 3 sh -e "$work/steps.sh" "$redlock" "$work"
# Each time, and not empty.
[ "$(grep -c '^redlock_held{.*} 1$' "$work/all")" -eq 3 ]
[ "$(grep -c '^redlock_node_up{' "$work/all")" -eq 9 ]
