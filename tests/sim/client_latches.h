/* The handles of a latch, as lib/api/latch.c has them. */
#ifndef SIM_CLIENT_LATCHES_H
#define SIM_CLIENT_LATCHES_H

#include "client.h"

/* redlock_latch_create(), _arrive(), _await(), _cancel(), _destroy(): of the latch "b". party: NO_PARTY, it only waits.
 * timeout: 0, once; INT64_MAX, without end. */
struct client_latch *client_add_latch(struct client *client, uint8_t parties, uint8_t generation, uint8_t party);
void client_start_latch(struct client *client, struct client_latch *latch, enum rl_latch_op op, struct rl_span timeout);
void client_cancel_latch(struct client *client, struct client_latch *latch);
void client_destroy_latch(struct client *client, struct client_latch *latch);

/* Is an operation pending, or its callback due? */
bool client_latch_is_busy(const struct client_latch *latch, enum rl_latch_op op);

void client_deliver_latches(struct client *client);
bool client_has_latch_due(const struct client *client);
void client_stop_latches(struct client *client);    /* the client shuts down */
void client_destroy_latches(struct client *client); /* ... and is destroyed */
void client_end_latches(struct client *client);     /* the process is gone */

#endif
