#!/bin/sh
# A guard for a file of one machine; tools/fencing/README.md says what it is for.
#
#     make-report | file.sh report.txt "$REDLOCK_FENCE"
#
# The largest token is in a name, report.txt.fence.TOKEN. It is recorded by one rename, and then the content is stored by
# another; flock(1) makes the check and both one step for all who write by this program. A crash leaves the former
# content or the new one, and never a token that is forgotten. Exit code 75: the write was refused.
set -eu
file=$1
token=$2
case $token in
'' | 0* | *[!0-9]*)
    echo "file.sh: $file: a write has no fencing token" >&2
    exit 75
    ;;
esac
new=$file.new.$$
trap 'rm -f "$new"' EXIT
cat >"$new"
sync "$new"
exec 9>>"$file.lock"
flock 9
mark=$(ls "$file".fence.* 2>/dev/null || echo "$file.fence.0")
if [ "$token" -lt "${mark##*.}" ]; then
    echo "file.sh: $file: late write: $token is older than ${mark##*.}" >&2
    exit 75
fi
[ -e "$mark" ] || : >"$mark"
[ "$token" -eq "${mark##*.}" ] || mv "$mark" "$file.fence.$token"
sync "$(dirname "$file")"
mv "$new" "$file"
sync "$(dirname "$file")"
