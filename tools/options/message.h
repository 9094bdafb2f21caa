/* What a command says when something is wrong. */
#ifndef OPTIONS_MESSAGE_H
#define OPTIONS_MESSAGE_H

/* "PROGRAM: COMMAND: message" on standard error. */
void cli_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "Try 'PROGRAM COMMAND --help'." behind it. Returns CLI_USAGE. */
int cli_usage(const char *command);

#endif
