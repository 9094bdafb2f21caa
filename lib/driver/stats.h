/* What a driver counts. */
#ifndef RL_DRIVER_STATS_H
#define RL_DRIVER_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "util/histogram.h"

/* Counters of the connection to one master; see struct redlock_node_stats. */
struct rl_conn_stats {
    uint64_t commands;
    uint64_t replies;
    uint64_t connects;
    uint64_t disconnects;
    uint64_t bytes_out;
    uint64_t bytes_in;
    uint64_t messages; /* to the listening connection; all the others count the first one only */
    size_t pending;
    size_t unsent_bytes;
    int64_t last_latency_ns; /* -1 before the first reply */
    const char *last_error;
    struct rl_histogram latencies; /* of the replies, without those of handshakes */
};

#endif
