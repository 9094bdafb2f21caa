/* What the library counts, as a file for the textfile collector of Prometheus's node_exporter. */
#ifndef CLI_RUN_METRICS_H
#define CLI_RUN_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/run/run.h"

struct cli_texts;
struct redlock_client;

struct metrics {
    const struct cli_texts *keys; /* label all samples: the files of several commands lie side by side */
    bool held;
    int64_t remaining_ms;
    int64_t acquire_us; /* how long the acquisition has taken */
    int64_t start_s, end_s, success_s; /* of struct run */
    int exit_code;
};

void metrics_print(FILE *out, const struct metrics *metrics, const struct redlock_client *client);

/* --- How the lock stands, for the command, a service manager and a monitoring system. Nobody is waited for: each file
 * has a thread that writes it, and a state that waits is replaced by a later one. */

/* Finds out whether the files can be written, before anything else is done. False after a message. */
bool run_publish_open(struct run *run);

/* "held" or "lost". A file that cannot be written is reported once, and left alone from then on. */
void run_publish(struct run *run, const char *state);

/* Says for the first time that the lock is held, and runs the loop until the files are there, which the command may
 * read at once. False after a message: they cannot be written, or not within a ttl; or a signal came. */
bool run_publish_first(struct run *run);

/* Nothing is held any more, and nothing runs: the command, if there was one, has ended so. */
void run_unpublish(struct run *run, int exit_code);

/* Waits at most so long until all has been written. False if it has not: the threads are left where they are, and what
 * they use must stay. */
bool run_publish_close(struct run *run, int patience_ms);

#endif
