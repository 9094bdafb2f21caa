/* Command lines of the commands: GNU options from a table, with the same messages everywhere. */
#ifndef OPTIONS_PARSE_H
#define OPTIONS_PARSE_H

#include "options/command.h"

/* Options may stand before and behind the operands; "--" ends them. Returns -1 to go on, else the exit code: --help
 * has been printed, or an error. ret_operands has room for all operands; NULL if there are none. */
int cli_parse(const struct cli_command *command, int argc, char **argv, const char **ret_operands);

#endif
