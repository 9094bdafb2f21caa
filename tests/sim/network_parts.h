/* What the files of the network share. */
#ifndef SIM_NETWORK_PARTS_H
#define SIM_NETWORK_PARTS_H

#include "world.h"

struct conn *conn_at(struct world *world, uint16_t index);
struct path *conn_path(struct world *world, const struct conn *conn);
void conn_free(struct world *world, uint16_t index);

/* An event of this connection, which is void when the connection has ended. */
void conn_event(struct world *world, uint16_t index, int64_t at, enum event_kind kind);

/* How long the next message travels. */
int64_t network_travel(struct world *world, const struct path *path, enum direction direction);

/* --- network_pipes.c ---------------------------------------------------------------------------------------------- */

/* Sees to it that there is an event for the head of the pipe. */
void pipe_arm(struct world *world, uint16_t index, enum direction direction);

#endif
