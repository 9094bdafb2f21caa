#include "options/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "options/exit.h"
#include "options/program.h"
#include "options/shown.h"

void cli_error(const char *command, const char *format, ...)
{
    va_list arguments;
    char *text = NULL;

    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    fprintf(stderr, "%s: %s: ", cli_program_name, command);
    shown_put(stderr, text != NULL ? text : "out of memory");
    putc('\n', stderr);
    free(text);
}

int cli_usage(const char *command)
{
    fprintf(stderr, "Try '%s %s --help'.\n", cli_program_name, command);
    return CLI_USAGE;
}
