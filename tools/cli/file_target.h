/* What a file name that the user gave stands for. */
#ifndef CLI_FILE_TARGET_H
#define CLI_FILE_TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

enum file_kind {
    FILE_REGULAR,    /* a regular file, or nothing yet: it can be replaced as a whole */
    FILE_STREAM,     /* a device, a pipe or somebody else's descriptor: to be opened and written into */
    FILE_SOCKET,     /* to be connected to */
    FILE_DESCRIPTOR, /* one of this process: "-", /dev/stdout, /dev/fd/N, /proc/self/fd/N */
};

struct file_target {
    enum file_kind kind;
    char path[PATH_MAX]; /* with symbolic links followed */
    int fd;              /* of FILE_DESCRIPTOR */
    bool exists;
    struct stat seen;    /* if it exists */
};

/* "-" is the descriptor `standard`. False with errno; EISDIR for a directory, ELOOP for links in a circle. */
bool file_target_find(const char *name, int standard, struct file_target *ret_target);

#endif
