/* Closing descriptors: by one call where the C library and the kernel have it, otherwise one by one. */
#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "portable.h"

/* In /proc are the descriptors that are open; without it every number that the process may use is tried. */
static void close_numbers(int first, int last)
{
    long limit = sysconf(_SC_OPEN_MAX);

    if (limit >= 0 && limit <= last)
        last = (int)limit - 1;
    for (int fd = first; fd <= last && fd >= first; fd++)
        close(fd);
}

/* Closing changes the listing that is being read, so it is read again until nothing is found. */
static bool close_listed(DIR *listing, int first, int last)
{
    const struct dirent *entry;
    bool found = false;

    rewinddir(listing);
    while ((entry = readdir(listing))) {
        long fd = isdigit((unsigned char)entry->d_name[0]) ? strtol(entry->d_name, NULL, 10) : -1;

        if (fd < first || fd > last || fd == dirfd(listing))
            continue;
        found = close((int)fd) == 0 || found;
    }
    return found;
}

static void close_one_by_one(int first, int last)
{
    DIR *listing = opendir("/proc/self/fd");

    if (!listing) {
        close_numbers(first, last);
        return;
    }
    while (close_listed(listing, first, last))
        continue;
    closedir(listing);
}

void portable_close_range(int first, int last)
{
#ifdef PORTABLE_HAVE_CLOSE_RANGE
    if (close_range((unsigned)first, (unsigned)last, 0) == 0)
        return;
#endif
    close_one_by_one(first, last);
}
