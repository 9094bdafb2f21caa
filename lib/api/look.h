/* Looks at keys, from the call to the callback. */
#ifndef RL_API_LOOK_H
#define RL_API_LOOK_H

struct redlock_client;

/* Runs the callbacks of looks that are over. They may destroy the client. */
void rl_looks_deliver(struct redlock_client *client);

/* For a client that is being destroyed: the callbacks run at once, with CANCELED; in a forked child they do not. */
void rl_looks_cancel(struct redlock_client *client);

#endif
