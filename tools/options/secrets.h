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

/* --- The environment, and what files and secrets bring along with their text. */

/* The variable that stands for an option: "max-ttl" is REDLOCK_MAX_TTL. */
enum { CLI_VARIABLE_SIZE = 64 };
const char *cli_variable_name(const char *option, char buffer[CLI_VARIABLE_SIZE]);

/* What an environment variable has, NULL if that is nothing: without the blanks, line ends and the byte order mark that
 * files and secrets of a cluster bring along. It stays. */
const char *cli_variable(const char *name);

/* Behind a byte order mark, if the text begins with one. */
const char *cli_behind_mark(const char *text);

#endif
