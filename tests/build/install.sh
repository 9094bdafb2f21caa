#!/bin/sh
# What `meson install` installs: every public header, the library under its three names, its files for pkg-config and
# CMake, the programs with their completion, every manual page; and nothing else. All that names a version names the
# same one.
#
#   install.sh SOURCE_ROOT BUILD_ROOT MESON simulation|none [lab]
set -eu
root=$1
build=$2
meson=$3
simulation=$4
lab=${5:-}
work=$(mktemp -d)
stage=$work/stage
trap 'rm -rf "$work"' EXIT
bad=0

DESTDIR=$stage "$meson" install -C "$build" --no-rebuild >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
prefix=$(dirname "$(dirname "$(find "$stage" -path '*/bin/redlock')")")
[ -x "$prefix/bin/redlock" ] || { echo "no command was installed"; exit 1; }
library=$(dirname "$(find "$prefix" -name 'libredlock.so')")
version=$(sed -nE 's/^#define REDLOCK_VERSION "(.*)"/\1/p' "$prefix/include/redlock/version.h")
case $version in
0.*) soname=libredlock.so.${version%.*} ;;
*) soname=libredlock.so.${version%%.*} ;;
esac

# What is to be there, one path a line, below the prefix; what is there.
{
    for header in "$root"/include/redlock/*.h "$root"/include/redlock/*.hpp "$root"/include/redlock/*.h.in; do
        header=${header##*/}
        [ "$header" != simulation.h ] || [ "$simulation" = simulation ] || continue
        echo "include/redlock/${header%.in}"
    done
    for page in "$root"/tools/man/*.[1-8]; do
        case $lab${page##*/} in
        redlock-lab*) continue ;;
        esac
        echo "share/man/man${page##*.}/${page##*/}"
        # Each function has a link to its page.
        case $page in
        *.3) sed -nE '/^\.Sh LIBRARY/q; s,^\.Nm ([^ ]+).*,share/man/man3/\1.3,p' "$page" ;;
        esac
    done
    for program in redlock ${lab:+redlock-lab}; do
        echo "bin/$program"
        printf 'share/%s\n' "bash-completion/completions/$program" "zsh/site-functions/_$program" \
            "fish/vendor_completions.d/$program.fish"
    done
    [ -z "$lab" ] || echo LIBEXEC/redlock-clockshim.so
    test=libredlock-test${soname#libredlock}
    [ "$simulation" = none ] ||
        printf 'LIB/%s\n' libredlock-test.so "$test" "libredlock-test.so.$version" pkgconfig/redlock-test.pc
    printf 'LIB/%s\n' libredlock.so "$soname" "libredlock.so.$version" pkgconfig/redlock.pc \
        cmake/redlock/redlockConfig.cmake cmake/redlock/redlockConfigVersion.cmake
} | sort -u >"$work/wanted"
(cd "$prefix" && find . ! -type d) |
    sed -E "s,^\./,,; s,^${library#"$prefix/"}/,LIB/,; s,^.*/redlock(/redlock-clockshim),LIBEXEC\1,; s,\.gz$,," | sort >"$work/found"
if ! diff "$work/wanted" "$work/found"; then
    echo "wanted (<) and installed (>)"
    bad=1
fi
if find "$stage" -xtype l | grep .; then
    echo "these links lead nowhere"
    bad=1
fi
if [ "$(find "$stage" ! -type d | wc -l)" -ne "$(wc -l <"$work/found")" ]; then
    echo "something is installed outside of the prefix"
    bad=1
fi

# same WHAT VERSION
same() {
    if [ "$2" != "$version" ]; then
        echo "$1 says version $2, the header $version"
        bad=1
    fi
}
same redlock.pc "$(sed -n 's/^Version: //p' "$library/pkgconfig/redlock.pc")"
same 'the command' "$(LD_LIBRARY_PATH=$library "$prefix/bin/redlock" --version | sed -nE 's/^redlock ([^ ]+) .*/\1/p')"
[ -z "$lab" ] || same 'the laboratory' \
    "$(LD_LIBRARY_PATH=$library "$prefix/bin/redlock-lab" --version | sed -nE 's/^redlock-lab ([^ ]+) .*/\1/p')"
same 'the library' "$(LD_LIBRARY_PATH=$library "$prefix/bin/redlock" --version | sed -nE 's/.*\(library (.*)\)/\1/p')"
same 'the Debian package' "$(sed -nE '1s/^libredlock \((.*)-[^-]*\).*/\1/p' "$root/tools/packaging/debian/changelog")"
same 'the port of vcpkg' "$(sed -nE 's/^ *"version": "(.*)",/\1/p' "$root/tools/packaging/vcpkg/redlock/vcpkg.json")"
grep -q "^REDLOCK_${soname#libredlock.so.} {" "$root/lib/redlock.map" || { echo "redlock.map is not of $soname"; bad=1; }
package=libredlock${soname#libredlock.so.}
grep -q "^Package: $package\$" "$root/tools/packaging/debian/control" || { echo "debian/control has no $package"; bad=1; }
for file in install symbols; do
    [ -e "$root/tools/packaging/debian/$package.$file" ] || { echo "there is no debian/$package.$file"; bad=1; }
done
same "Meson's wrap file" "$(sed -n 's/^revision = v//p' "$root/tools/packaging/meson/redlock.wrap")"
exit $bad
