/* One option of a command, as the tables of the commands list them. Parser, completion and tests read these tables. */
#ifndef OPTIONS_OPTION_H
#define OPTIONS_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/masters.h"

enum { CLI_MOST_TEXTS = 64 };

/* Texts of an option that may be given several times, in the order of the command line; NULL behind the last one. */
struct cli_texts {
    const char *items[CLI_MOST_TEXTS + 1];
    size_t n;
};

/* Exactly one of the pointers from `flag` to `password_file` is set: it says what argument the option takes, and where
 * that goes. */
struct cli_option {
    const char *name;
    char letter;                   /* its short form, 0 if it has none */
    bool alias;                    /* another spelling of the option before it, which --help need not show */
    bool *flag;                    /* no argument */
    uint32_t *duration_ms;
    int64_t *duration_us;
    int64_t *wait_ms;              /* a duration, or "forever": REDLOCK_FOREVER */
    const char **text;             /* any text, borrowed */
    struct cli_texts *texts;       /* any text, borrowed; a further one is added */
    const char **file;             /* the path of a file, borrowed */
    uint32_t *number;
    uint64_t *count;
    bool *given;                   /* of a count: that there is one, since every number may be meant; or NULL */
    uint32_t *choice;              /* one of `words`: its position */
    struct cli_masters *node;      /* one URL */
    struct cli_masters *node_list; /* several, separated by commas */
    struct cli_masters *node_file; /* a file of them */

    const char *const *words;      /* what can be chosen, up to NULL; for a text: what is often meant */
    uint64_t least, most;          /* of durations (in their unit) and numbers; most 0: what the type can hold */
};

#endif
