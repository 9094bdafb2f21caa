/* The orderly end of a client. */
#ifndef RL_API_SHUTDOWN_H
#define RL_API_SHUTDOWN_H

struct redlock_client;

/* In each turn of the loop: ends a shutdown that has nothing left to wait for. */
void rl_shutdown_check(struct redlock_client *client);

/* The client is destroyed before its shutdown has ended. */
void rl_shutdown_cancel(struct redlock_client *client);

#endif
