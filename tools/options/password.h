/* The user and the password for masters whose URLs have none: from a file, a command or the environment. */
#ifndef OPTIONS_PASSWORD_H
#define OPTIONS_PASSWORD_H

#include <stdbool.h>
#include <stddef.h>

#include <redlock/credentials.h>

struct cli_password_store;

/* NULL where nothing is given. */
struct cli_password {
    const char *user;
    const char *file;    /* its first line; read again when it has changed */
    const char *command; /* for /bin/sh; the first line that it prints */
    struct cli_password_store *store; /* the password itself; copies of this structure share it */
};

#define CLI_PASSWORD_OPTIONS(password)                                                                             \
    {.name = "user", .text = &(password)->user}, {.name = "password-file", .file = &(password)->file},             \
        {.name = "password-command", .text = &(password)->command}

enum { CLI_PASSWORD_WHY_SIZE = 160 };

/* Takes from the environment what no option gives, and reads the file. False, with a message: it makes no sense, or
 * there is no such file. */
bool cli_password_complete(const char *command, struct cli_password *password);
void cli_password_fini(struct cli_password *password);

/* Is it the URL of a master that needs this password? */
bool cli_password_is_for(const char *url);

/* What is known at this moment; NULL: nothing, or it comes with the URLs. */
const char *cli_password_text(const struct cli_password *password);

/* Can it change while the program runs? */
bool cli_password_changes(const struct cli_password *password);

/* Reads the file again if it has changed. False, with the reason: it cannot be used, and what was known stays. */
bool cli_password_read(struct cli_password *password, char why[CLI_PASSWORD_WHY_SIZE]);

/* Keeps `length` characters as the password, which must not be more than REDLOCK_MAX_PASSWORD_BYTES. */
void cli_password_keep(struct cli_password *password, const char *text, size_t length);

#endif
