/* What the library counts, as a file for the textfile collector of Prometheus's node_exporter. */
#ifndef CLI_RUN_METRICS_H
#define CLI_RUN_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct cli_texts;
struct redlock_client;

struct metrics {
    const struct cli_texts *keys; /* label all samples: the files of several commands lie side by side */
    bool held;
    int64_t remaining_ms;
    int64_t acquire_us; /* how long the acquisition has taken */
};

void metrics_print(FILE *out, const struct metrics *metrics, const struct redlock_client *client);

#endif
