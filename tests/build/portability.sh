#!/bin/sh
# No source calls or includes what glibc 2.31 or musl lack: tools/portable has replacements.
#
#   portability.sh SOURCE_ROOT
set -eu
cd "$1"
bad=0

# forbid PATTERN: an extended regular expression, in all sources but tools/portable.
forbid() {
    found=$(grep -rnE --include='*.[ch]' "$1" include lib tools tests |
        grep -vE '^(tools/portable/|tests/unit/test_portable\.c:)' || true)
    if [ -n "$found" ]; then
        printf 'not in every C library:\n%s\n' "$found"
        bad=1
    fi
}
forbid '#[[:space:]]*include <(sys/(cdefs|pidfd|queue)|error|execinfo|fts|obstack|printf)\.h>'
for function in 'arc4random[_a-z]*' backtrace canonicalize_file_name close_range closefrom mallinfo2 malloc_info 'pidfd_[_a-z]+' \
    pthread_cond_clockwait pthread_mutex_clocklock qsort_r sigabbrev_np sigdescr_np strdupa strerrordesc_np \
    strerrorname_np strlcat strlcpy strndupa TEMP_FAILURE_RETRY; do
    forbid "(^|[^_[:alnum:]])$function\\("
done

exit $bad
