/* Passwords, and where they must not appear. Any user of a machine can read command lines. */
#ifndef OPTIONS_SECRETS_H
#define OPTIONS_SECRETS_H

#include <stddef.h>

/* Overwrites the password of a URL, or those of a list with commas between, in place: "redis://me:secret@host" keeps
 * its length. Meant for arguments in argv, once they have been copied. */
void cli_scrub(char *url);
void cli_scrub_list(char *list);

/* A copy of a text, perhaps of such a list, for messages: with every password as "***", cut if the buffer is too small.
 * Returns buffer. */
const char *cli_masked(const char *text, char *buffer, size_t size);

#endif
