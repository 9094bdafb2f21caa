/* Passwords: where they come from, and where they must not appear. Any user of a machine can read command lines. */
#ifndef CLI_SECRETS_H
#define CLI_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/args.h"

/* Overwrites the passwords of all URLs in a text, in place: "redis://me:secret@host" keeps its length. Meant for
 * arguments in argv, once they have been copied. */
void cli_scrub(char *text);

/* A copy for messages with every password as "***", cut if the buffer is too small. Returns buffer. */
const char *cli_masked(const char *text, char *buffer, size_t size);

/* Gives the password of --password-file, else of REDLOCK_PASSWORD, if there is one, to the masters whose URLs have
 * none ("user@host" keeps its user). False after a message. */
bool cli_apply_password(const char *command, struct cli_masters *masters);

/* Adds the masters of a file: URLs separated by commas or line ends; "#" begins a comment. False after a message. */
bool cli_add_file(const char *command, struct cli_masters *masters, const char *path);

#endif
