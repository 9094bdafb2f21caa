/* Rounds of the test of `redlock run`'s promise: two commands under one lock, and what they have written. */
#ifndef TESTS_RUN_ROUNDS_H
#define TESTS_RUN_ROUNDS_H

#include <stdint.h>

#include "run_work.h"
#include "tool.h"

struct round {
    unsigned number;
    char file[64];
    char key[32];
    struct work_log *log;
    struct tool first;
    struct tool second;
};

struct request {
    const char *nodes;   /* NULL: as in the environment */
    const char *profile;
    const char *const *options; /* up to NULL */
    const char *how;
    const char *ms;
};

/* The program that is the command of every run; see run_work.c. */
void round_set_worker(const char *path);

void round_open(struct round *round, unsigned number);
void round_start(struct tool *run, const struct round *round, const struct request *request);

/* Fails the test unless the last process of the log, the second run's command, began after all others had ended. */
void round_close(struct round *round);

/* For a first run without renewals: its command knows the end of the validity, and must not even reach that. */
void round_expect_ended_in_time(const struct round *round);

/* What was seen since the last call: the least time between the commands of a round, and between the end of a command
 * and that of its validity; INT64_MAX if there was none. */
void round_take_extremes(int64_t *ret_gap_ns, int64_t *ret_margin_ns);

#endif
