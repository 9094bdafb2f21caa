#include "options/message.h"

#include <stdarg.h>
#include <stdio.h>

#include "options/exit.h"

void cli_error(const char *command, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fprintf(stderr, "redlock: %s: ", command);
    vfprintf(stderr, format, arguments);
    putc('\n', stderr);
    va_end(arguments);
}

int cli_usage(const char *command)
{
    fprintf(stderr, "Try 'redlock %s --help'.\n", command);
    return CLI_USAGE;
}
