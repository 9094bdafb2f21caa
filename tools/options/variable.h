/* The environment, and what files and secrets bring along with their text. */
#ifndef OPTIONS_VARIABLE_H
#define OPTIONS_VARIABLE_H

/* The variable that stands for an option: "max-ttl" is REDLOCK_MAX_TTL. */
enum { CLI_VARIABLE_SIZE = 64 };
const char *cli_variable_name(const char *option, char buffer[CLI_VARIABLE_SIZE]);

/* What an environment variable has, NULL if that is nothing: without the blanks, line ends and the byte order mark that
 * files and secrets of a cluster bring along. It stays. */
const char *cli_variable(const char *name);

/* Behind a byte order mark, if the text begins with one. */
const char *cli_behind_mark(const char *text);

#endif
