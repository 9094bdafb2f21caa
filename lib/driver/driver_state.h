/* A driver's own data: for driver.c, and for tests that look inside. */
#ifndef RL_DRIVER_DRIVER_STATE_H
#define RL_DRIVER_DRIVER_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "driver/conn.h"
#include "driver/shared.h"

struct rl_driver {
    struct rl_shared shared;
    bool closed;               /* nothing is left but names */
    bool dead;                 /* the sink's turn has destroyed the driver: after the turn it is freed */
    struct rl_master *masters;
    struct rl_conn *listeners; /* n_conns of them, or NULL */
    size_t n_conns;
    struct rl_conn conns[];
};

#endif
