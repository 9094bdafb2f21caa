/* Latches, from the call to the callback. */
#ifndef RL_API_LATCH_H
#define RL_API_LATCH_H

struct redlock_client;

/* Runs the callbacks that are due. They may destroy the client. */
void rl_latches_deliver(struct redlock_client *client);

/* The client ends: what is pending is canceled, and nothing is repeated any more. */
void rl_latches_end(struct redlock_client *client);

/* The client is destroyed, and so are they. */
void rl_latches_destroy(struct redlock_client *client);

#endif
