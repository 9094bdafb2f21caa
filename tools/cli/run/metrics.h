/* What the library counts, as a file for the textfile collector of Prometheus's node_exporter. */
#ifndef CLI_RUN_METRICS_H
#define CLI_RUN_METRICS_H

#include <stdbool.h>
#include <stdint.h>

struct cli_texts;
struct file_out;
struct redlock_client;

struct metrics {
    const struct cli_texts *keys; /* label all samples: the files of several commands lie side by side */
    bool held;
    int64_t remaining_ms;
    int64_t acquire_us; /* how long the acquisition has taken */
};

/* False after a message. Nobody is waited for: a reader that is slow must not keep a lock from being renewed. */
bool metrics_write(const struct metrics *metrics, const struct redlock_client *client, struct file_out *file);

#endif
