/* A file that is replaced as a whole: written beside it, and renamed. Readers see the old one or the new one. */
#ifndef CLI_REPLACE_H
#define CLI_REPLACE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

enum { REPLACE_PATH_SIZE = 4096 };

struct replacement {
    FILE *out; /* to write to between the two calls */
    const char *path;
    char beside[REPLACE_PATH_SIZE];
};

/* Both are false with errno; nothing is left beside the file then. The path is borrowed in between. */
bool replace_begin(struct replacement *replacement, const char *path, mode_t mode);
bool replace_end(struct replacement *replacement);

#endif
