/* Command lines of the commands: GNU options from a table, with the same messages everywhere. */
#ifndef OPTIONS_PARSE_H
#define OPTIONS_PARSE_H

#include "options/command.h"

/* Options may stand before and behind the operands; "--" ends them. Returns -1 to go on, else the exit code: --help
 * has been printed, or an error. ret_operands has room for all operands; NULL if there are none. */
int cli_parse(const struct cli_command *command, int argc, char **argv, const char **ret_operands);

/* --- What can stand at the end of a command line, for the completion of shells, told by the tables that parse it. */

/* As argv[1], this very string asks for completions instead of work: the words behind it are the command's, the last
 * of them is to be completed. */
extern char cli_complete_mark[];

/* Prints what the last word can be, one a line. Lines of another kind are
 *   :file          the name of a file
 *   :command N     it belongs to a command line that begins with the argument N */
void cli_complete(const struct cli_command *command, int argc, char **argv);

#endif
