#!/bin/sh
# Each public header compiles alone, as C11 and as C++, and drags in no header of the libraries behind it.
#
#   headers.sh SOURCE_ROOT BUILD_ROOT        $CC, $CXX
set -eu
source=$1/include
build=$2/include
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc=${CC:-cc}
cxx=
for candidate in "${CXX:-}" c++ g++ clang++; do
    if [ -z "$cxx" ] && [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1; then
        cxx=$candidate
    fi
done
[ -n "$cxx" ] || echo "there is no C++ compiler: only C is checked"

# The second inclusion must be harmless.
for header in "$source"/redlock/*.h "$build"/redlock/*.h; do
    name=redlock/${header##*/}
    printf '#include <%s>\n#include <%s>\nint not_empty;\n' "$name" "$name" >"$work/one.c"
    cp "$work/one.c" "$work/one.cc"
    "$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$source" -I"$build" -fsyntax-only "$work/one.c"
    if [ -n "$cxx" ]; then
        "$cxx" -std=c++11 -Wall -Wextra -Wpedantic -Werror -I"$source" -I"$build" -fsyntax-only "$work/one.cc"
    fi
    if "$cc" -std=c11 -I"$source" -I"$build" -M "$work/one.c" | grep -E 'hiredis|event2|/event\.h|uuid'; then
        echo "$name includes a header of a library behind it"
        exit 1
    fi
done

# A compiler tells of a lock that is taken and not looked at.
cat >"$work/ignored.c" <<'C'
#include <redlock/blocking.h>
void work(struct redlock_mutex *mutex);
void work(struct redlock_mutex *mutex)
{
    redlock_mutex_lock(mutex, 1000);
}
C
if "$cc" -std=c11 -Werror -I"$source" -I"$build" -c -o "$work/ignored.o" "$work/ignored.c" 2>/dev/null; then
    echo "nobody tells of a lock call whose result is ignored"
    exit 1
fi

# What is for C++ alone: by every compiler that there is, with the oldest standard and the newest.
for compiler in g++ clang++; do
    command -v "$compiler" >/dev/null 2>&1 || continue
    for header in "$source"/redlock/*.hpp; do
        name=redlock/${header##*/}
        printf '#include <%s>\n#include <%s>\nint not_empty;\n' "$name" "$name" >"$work/one.cc"
        for standard in c++11 c++20; do
            "$compiler" -std=$standard -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I"$source" -I"$build" \
                -fsyntax-only "$work/one.cc"
        done
    done
    for program in tests/build/wrapper.cpp tools/examples/raii.cpp; do
        "$compiler" -std=c++11 -Wall -Wextra -Wpedantic -Werror -I"$source" -I"$build" -fsyntax-only "$1/$program"
    done
    # std::shared_lock came later.
    "$compiler" -std=c++14 -Wall -Wextra -Wpedantic -Werror -I"$source" -I"$build" -fsyntax-only \
        "$1/tests/build/wrapper.cpp"
done
