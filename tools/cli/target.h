/* Where a master URL points, for connections that the tool makes by itself. */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "options/password.h"

struct target {
    bool tls;
    char *host; /* NULL for a unix socket */
    int port;
    char *path;
    char *user; /* NULL if there is none, and so is password */
    char *password;
    char *db;   /* NULL or digits */
    size_t turn; /* which of the addresses of the host is tried first, counted around; 0 after target_parse() */
};

/* Takes apart a URL that the library has accepted; no errors of form are looked for. False: out of memory. In both
 * cases target_fini() is due. */
bool target_parse(const char *url, struct target *ret_target);
void target_fini(struct target *target);

/* Gives it the user and password that its URL has not. NULL is fine. False: out of memory. */
bool target_authenticate(struct target *target, const struct cli_password *password);

/* A name alone is reached as the master `like` is: with its scheme, user, password and database. To be freed; NULL: out
 * of memory. */
char *target_url_like(const char *like, const char *name);

/* --- What a file name that the user gave stands for. */

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
