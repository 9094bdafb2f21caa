/* What can stand at the end of a command line, for the completion of shells, told by the tables that parse it. */
#ifndef OPTIONS_COMPLETE_H
#define OPTIONS_COMPLETE_H

#include "options/command.h"

/* As argv[1], this very string asks for completions instead of work: the words behind it are the command's, the last
 * of them is to be completed. */
extern char cli_complete_mark[];

/* Prints what the last word can be, one a line. Lines of another kind are
 *   :file          the name of a file
 *   :command N     it belongs to a command line that begins with the argument N */
void cli_complete(const struct cli_command *command, int argc, char **argv);

#endif
