#!/bin/sh
# Conan packages this tree by its recipe, as a shared and as a static library, and the recipe's own program links and
# runs. Nothing comes from a server: small recipes stand in for the libraries, and name those of this machine.
#
#   conan.sh SOURCE_ROOT MESON        $CC
set -eu
root=$1
meson=$2

command -v conan >/dev/null 2>&1 || { echo "SKIP: there is no conan (pip install conan)"; exit 77; }
case $(conan --version) in
'Conan version 1.'*) echo "SKIP: the recipe is for Conan 2"; exit 77 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CONAN_HOME="$work/home"

# quietly COMMAND...: what it says is of interest if it fails.
quietly() {
    "$@" >"$work/log" 2>&1 || { cat "$work/log"; echo "failed: $*"; exit 1; }
}
quietly conan profile detect
quietly conan remote disable '*'

# stand_in NAME VERSION LINE...: the lines say what its package_info() tells.
stand_in() {
    recipe=$work/$1
    mkdir "$recipe"
    {
        printf 'from conan import ConanFile\n\n\nclass StandIn(ConanFile):\n'
        printf '    name = "%s"\n    version = "%s"\n\n    def package_info(self):\n' "$1" "$2"
        shift 2
        printf '        self.cpp_info.%s\n' 'includedirs = []' 'libdirs = []' 'bindirs = []' "$@"
    } >"$recipe/conanfile.py"
    quietly conan create "$recipe"
}
stand_in openssl 3.0.0 'set_property("pkg_config_name", "openssl")' 'system_libs = ["ssl", "crypto"]'
# With components, includedirs and the like are those of each.
stand_in hiredis 1.2.0 'set_property("pkg_config_name", "hiredis")' 'system_libs = ["hiredis"]'
stand_in util-linux-libuuid 2.39.2 'set_property("pkg_config_name", "uuid")' 'system_libs = ["uuid"]'
stand_in libevent 2.1.12 'components["core"].set_property("pkg_config_name", "libevent_core")' \
    'components["core"].includedirs = []' 'components["core"].libdirs = []' \
    'components["core"].bindirs = []' 'components["core"].system_libs = ["event_core"]'
cat "$(conan profile path default)" - >"$work/profile" <<END
[platform_tool_requires]
meson/$("$meson" --version)
[conf]
tools.gnu:pkg_config=$(command -v pkg-config)
tools.cmake.cmake_layout:test_folder=$work/test
END
for shared in True False; do
    quietly conan create "$root/tools/packaging/conan" --profile:all "$work/profile" --options "&:shared=$shared"
    grep -q '^redlock [0-9]' "$work/log" || { cat "$work/log"; echo "the program did not run"; exit 1; }
done
count=$(find "$work/home/p" -path '*/p/lib/libredlock.*' | sed 's/.*libredlock//' | sort | tr '\n' ' ')
case $count in
'.a .so .so.'*) ;;
*) echo "not what was asked for: $count"; exit 1 ;;
esac
