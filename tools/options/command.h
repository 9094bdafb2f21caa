/* A command as its command line sees it. */
#ifndef OPTIONS_COMMAND_H
#define OPTIONS_COMMAND_H

#include <stdio.h>

#include "options/option.h"

struct cli_command {
    const char *name;
    const char *help;                 /* NULL: write_help() knows it */
    const struct cli_option *options; /* up to one without a name */
    const char *const *operands;      /* their names, up to NULL; "[NAME]" may be missing, and is NULL then; in "A|B"
                                       * A and B are what can stand there */
    const char *const *operand_words; /* up to NULL: what can stand there; NULL: files, if it is called FILE */

    /* For commands that run another: where its command line goes, which begins behind "--". When *instead is not NULL,
     * an option stands for the operands, and the first word that is no option begins the command line. */
    char ***command_line;
    const char *const *instead;

    void (*write_help)(FILE *out);
};

#endif
