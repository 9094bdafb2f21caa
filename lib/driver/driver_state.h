/* A driver's own data: for driver.c, and for tests that look inside. */
#ifndef RL_DRIVER_DRIVER_STATE_H
#define RL_DRIVER_DRIVER_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "codec/url.h"
#include "driver/conn.h"
#include "driver/shared.h"

#define RL_DRIVER_NODES_MAX 31

struct rl_driver_node {
    struct rl_master master;
    struct rl_conn conn;
    struct rl_conn *listener; /* NULL: nobody has asked to listen */
    bool leaving;             /* it has been dismissed: at the next turn it is closed */
    bool closed;              /* ... and that has been done */
    struct rl_driver_node *former; /* whose number it has got: its name and master may still be read */
};

struct rl_driver {
    struct rl_shared shared;
    bool closed;               /* nothing is left but names */
    bool dead;                 /* the sink's turn has destroyed the driver: after the turn it is freed */
    bool listening;
    size_t n_nodes;
    struct rl_driver_node *nodes[RL_DRIVER_NODES_MAX];
};

#endif
