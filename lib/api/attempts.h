/* Memory of acquisitions and extensions that are pending. */
#ifndef RL_API_ATTEMPTS_H
#define RL_API_ATTEMPTS_H

struct redlock_client;
struct rl_attempt;

/* NULL if memory is short. */
struct rl_attempt *rl_attempt_borrow(struct redlock_client *client);

/* The client keeps the memory for the next operation. */
void rl_attempt_give_back(struct redlock_client *client, struct rl_attempt *attempt);

/* Frees what the client has kept. */
void rl_attempts_fini(struct redlock_client *client);

#endif
