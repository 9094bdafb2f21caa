/* Passwords, and where they must not appear. Any user of a machine can read command lines. */
#ifndef OPTIONS_SECRETS_H
#define OPTIONS_SECRETS_H

#include <stddef.h>

/* Overwrites the passwords of all URLs in a text, in place: "redis://me:secret@host" keeps its length. Meant for
 * arguments in argv, once they have been copied. */
void cli_scrub(char *text);

/* A copy for messages with every password as "***", cut if the buffer is too small. Returns buffer. */
const char *cli_masked(const char *text, char *buffer, size_t size);

#endif
