/* What a driver is told when it is created. */
#ifndef RL_DRIVER_CONFIG_H
#define RL_DRIVER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/credentials.h"
#include "util/clock.h"
#include "util/instant.h"

struct event_base;
struct rl_tls_context;

struct rl_driver_config {
    struct event_base *base; /* borrowed */
    struct rl_clock *clock;  /* borrowed */
    struct rl_span node_timeout;
    struct rl_span connect_timeout;
    struct rl_span stall_timeout;
    struct rl_span backoff_min;
    struct rl_span backoff_max;
    size_t max_buffer_bytes;
    bool simulated;          /* the masters are */
    const char *client_name; /* copied; "" sends no CLIENT SETNAME */
    struct rl_tls_context *tls; /* the driver's from its creation on; NULL if no master has TLS */
    struct rl_credentials_source credentials; /* for masters whose URL has no password; all zero: there is none */
    uint64_t seed;           /* for the backoff's jitter */
};

#endif
