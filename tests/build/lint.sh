#!/bin/sh
# Lines of C no longer than .editorconfig says, and in one dialect; shell scripts and manual pages, by the tools for
# them; and that the README's picture is drawn from its record. A tool that is not installed checks nothing.
#
#   lint.sh SOURCE_ROOT
set -eu
cd "$1"
bad=0

longest=$(sed -n 's/^max_line_length *= *//p' .editorconfig)
long=$(find include lib tests tools \( -name '*.[ch]' -o -name '*.hpp' -o -name '*.cpp' \) \
    -exec awk -v longest="$longest" 'length > longest { print FILENAME ":" FNR ": " length " characters" }' {} +)
if [ -n "$long" ]; then
    echo "$long"
    bad=1
fi
# One dialect of C: !x, x in a condition, sizeof x. Macros keep the parentheses around what they are given.
old='\bsizeof\((?!(const|volatile|struct|union|enum|unsigned|signed|int|char|short|long|float|double|void|bool)\b|\w+_t\b|[A-Z(])(?!.*\\$)'
old="$old|[^\"] == NULL\\b|[^\"] != NULL( &&| \\|\\|| \\?)|(&&|\\|\\|) [\\w>.*\\[\\]-]+(\\([^()]*\\))? != NULL"
old="$old|^ *(\\} else |else )?(if|while) \\([^()]*(\\([^()]*\\))? != NULL\\)"
if echo x | grep -qP x 2>/dev/null; then
    spelled=$(find include lib tests tools -name '*.[ch]' -exec grep -nHP "$old" {} + | grep -vE '^[^:]*:[0-9]*:#define' || true)
    if [ -n "$spelled" ]; then
        echo "write !x, x and sizeof x for x == NULL, x != NULL in a condition and sizeof(x):"
        echo "$spelled"
        bad=1
    fi
fi
# One address for the Redlock page, and the one that is known to be there.
page=https://redis.io/docs/latest/develop/use/patterns/distributed-locks/
others=$(grep -rnE 'https?://[^ ")]*(distributed-?locks|/distlock|is-redlock-safe)' README.md include lib tools | grep -vF "$page" || true)
if [ -n "$others" ]; then
    echo "another address of the Redlock page than $page:"
    echo "$others"
    bad=1
fi
# The picture in README.md shows the run that is recorded beside it.
example=tools/lab/failover/example
if command -v python3 >/dev/null 2>&1 && ! python3 $example/timeline.py $example/timeline.json | cmp - $example/timeline.svg; then
    echo "$example/timeline.svg is not what timeline.py draws of timeline.json"
    bad=1
fi
if command -v shellcheck >/dev/null 2>&1; then
    for script in tools/dev tools/lab/engines/build .ci/run tools/packaging/build-deb tools/packaging/compose-* \
        tools/packaging/debian/tests/[dp]* tests/*/*.sh findings/*.sh; do
        if [ -e "$script" ] && ! shellcheck "$script"; then
            bad=1
        fi
    done
fi
if command -v mandoc >/dev/null 2>&1; then
    for page in tools/man/*.[1-8]; do
        [ -e "$page" ] || continue
        # "style" messages are opinions.
        mandoc -T lint -W warning "$page" || bad=1
    done
fi
if [ -e docker-compose.yml ] && command -v docker-compose >/dev/null 2>&1; then
    for files in '-f docker-compose.yml' '-f docker-compose.yml -f docker-compose.tls.yml'; do
        # shellcheck disable=SC2086 # a list of words
        docker-compose $files --profile redlock --profile demo --profile failover config -q || bad=1
    done
fi
exit $bad
