# Each page of section 3 is about a group of functions. For the functions that a page names besides its own name:
# "NAME.3" on standard output, or, with -v into=DIRECTORY, a file of that name, which leads to the page.
FNR == 1 {
    page = FILENAME
    sub(/.*\//, "", page)
    names = 1
}
/^\.Sh LIBRARY/ { names = 0 }
names && $1 == ".Nm" && $2 ".3" != page {
    if (into == "") {
        print $2 ".3"
    } else {
        print ".so man3/" page > (into "/" $2 ".3")
        close(into "/" $2 ".3")
    }
}
