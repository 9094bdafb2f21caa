# shellcheck shell=sh disable=SC2154
# Images for docker-compose.yml out of this machine's programs: each has the named files, and the libraries that they
# are linked to, in their places. Takes a second, and no registry. Sourced; uses $root, $redlock, $library, $work and pod().

# needs PROGRAM...: the libraries, and the loader itself.
needs() {
    LD_LIBRARY_PATH=$library ldd "$@" |
        sed -nE 's/^.* => (\/[^ ]+) .*/\1/p; s/^[[:space:]]+(\/[^ ]+) \(.*/\1/p' | sort -u
}

# fill TREE PROGRAM...: a file system in which the programs run.
fill() {
    tree=$1
    shift
    mkdir -p "$tree/usr/bin" "$tree/usr/lib" "$tree/usr/lib64" "$tree/etc" "$tree/tmp" "$tree/data" "$tree/var/run"
    for directory in bin lib lib64; do
        ln -s "usr/$directory" "$tree/$directory"
    done
    chmod 1777 "$tree/tmp"
    printf 'root:x:0:0::/tmp:/bin/sh\nnobody:x:65534:65534::/tmp:/bin/sh\n' >"$tree/etc/passwd"
    cp -L "$@" "$tree/usr/bin/"
    needs "$@" | while read -r file; do
        case $file in
        "$library"/*) place=$tree/usr/lib/${file##*/} ;;
        *) place=$tree$file ;;
        esac
        mkdir -p "${place%/*}"
        cp -L "$file" "$place"
    done
}

# import TREE NAME INSTRUCTION...
import() {
    tree=$1
    name=$2
    shift 2
    for instruction in "$@"; do
        set -- "$@" --change "$instruction"
        shift
    done
    tar -C "$tree" -c . | pod import --quiet "$@" - "$name" >/dev/null
}

# The stand-ins for what the file would pull and build, under the same names.
make_images() {
    fill "$work/server" "$(command -v redis-server)" "$(command -v redis-cli)" /bin/sh
    import "$work/server" docker.io/library/redis:8.0 'WORKDIR /data' 'CMD ["redis-server"]'

    fill "$work/tool" "$redlock" "$redlock-lab" "$(command -v redis-server)" "$(command -v curl)" /bin/sh \
        "$(command -v cat)" "$(command -v head)" "$(command -v sed)" "$(command -v tr)" "$(command -v openssl)" \
        "$(command -v chmod)" "$(command -v mktemp)" "$(command -v mv)" "$(command -v rm)"
    cp "$root/tools/packaging/compose-fault" "$root/tools/packaging/compose-certificates" "$work/tool/usr/bin/"
    import "$work/tool" docker.io/library/redlock:latest \
        'USER nobody' 'WORKDIR /tmp' 'ENTRYPOINT ["redlock"]' 'CMD ["--help"]'
}
