/* What the files of the workload share. */
#ifndef SIM_WORKLOAD_PARTS_H
#define SIM_WORKLOAD_PARTS_H

#include "world.h"

struct agent *agent_of(struct client *client, const struct handle *handle);
void agent_intend(struct client *client, const struct handle *handle, enum intent intent, int64_t delay);

/* A time; mostly of the order of the limit, now and then next to nothing. */
int64_t agent_time(struct world *world, int64_t at_most);

/* At once, or later. */
void agent_go_on(struct client *client, struct handle *handle, enum intent intent);

/* --- workload_acts.c ---------------------------------------------------------------------------------------------- */

void agent_act(struct client *client, struct handle *handle, enum intent intent);

/* The lock is held: what next? */
void agent_hold(struct client *client, struct handle *handle);

/* --- workload_sets.c ---------------------------------------------------------------------------------------------- */

/* As agent_act(), for a handle that is part of a set. */
void set_act(struct client *client, const struct handle *handle, enum intent intent);

/* --- workload_elections.c ----------------------------------------------------------------------------------------- */

/* As agent_act(), for a candidate. */
void election_act(struct client *client, struct handle *handle, enum intent intent);

#endif
