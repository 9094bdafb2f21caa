/* What the library counts, as a file for the textfile collector of Prometheus's node_exporter. */
#ifndef CLI_METRICS_H
#define CLI_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct redlock_client;

struct metrics {
    const char *command;  /* for messages */
    const char *path;
    const char *key;      /* a label of what belongs to one lock; NULL: there is none */
    bool held;
    int64_t remaining_ms;
    const int64_t *acquire_us; /* how long acquisitions have taken */
    size_t acquires;
};

/* Replaces the file; readable for all, since it has no secrets. False after a message. */
bool metrics_write(const struct metrics *metrics, const struct redlock_client *client);

#endif
