/* What the library counts, as a file for the textfile collector of Prometheus's node_exporter. */
#ifndef CLI_RUN_METRICS_H
#define CLI_RUN_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file_out;
struct redlock_client;

struct metrics {
    const char *key;      /* a label of what belongs to one lock; NULL: there is none */
    bool held;
    int64_t remaining_ms;
    const int64_t *acquire_us; /* how long acquisitions have taken */
    size_t acquires;
};

/* False after a message. Nobody is waited for: a reader that is slow must not keep a lock from being renewed. */
bool metrics_write(const struct metrics *metrics, const struct redlock_client *client, struct file_out *file);

#endif
