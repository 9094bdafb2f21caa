/* A program of several commands: it finds the one that is meant, and hands over. */
#ifndef OPTIONS_PROGRAM_H
#define OPTIONS_PROGRAM_H

#include <stdio.h>

struct cli_subcommand {
    const char *name;
    const char *summary; /* NULL: neither help nor completion show it */
    int (*run)(int argc, char **argv); /* argv[0] is the command's name. Returns the exit code */
};

/* What `PROGRAM help NAME` explains beside the commands. */
struct cli_topic {
    const char *name;
    const char *summary;
    const char *text;
};

struct cli_program {
    const char *name;
    const char *purpose; /* one line */
    const struct cli_subcommand *commands; /* up to one without a name */
    const struct cli_topic *topics; /* up to one without a name; NULL: none */
    const char *more;    /* what help tells behind the commands */
};

/* All of main(). */
int cli_program_main(const struct cli_program *program, int argc, char **argv);

#endif
