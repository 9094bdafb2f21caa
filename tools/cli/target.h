/* Where a master URL points, for connections that the tool makes by itself. */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include <stdbool.h>

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

#endif
