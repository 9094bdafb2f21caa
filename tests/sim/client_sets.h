/* The set of a client, as lib/api/set*.c has it. */
#ifndef SIM_CLIENT_SETS_H
#define SIM_CLIENT_SETS_H

#include "client.h"

/* Is this handle part of the client's set? */
bool client_is_part(const struct client *client, const struct handle *handle);

/* A process begins. */
void client_start_set(struct client *client);

/* The library's calls, for a set in a state that allows them. `request` is that of the whole: with `once` nothing is
 * awaited. `modes`: of each part. */
void client_acquire_set(struct client *client, const struct rl_acquire *request, const uint8_t modes[MAX_HANDLES]);
void client_cancel_set(struct client *client);
void client_release_set(struct client *client);
void client_destroy_set(struct client *client); /* and creates it anew */

/* What becomes of its parts; the loss of one is looked at when the turn ends. */
void client_on_part(struct client *client, const struct completion *completion);
void client_on_part_lost(struct client *client, const struct handle *handle);
void client_end_turn_of_set(struct client *client);

#endif
