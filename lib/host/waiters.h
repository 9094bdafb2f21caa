/* Values that notifications may name. */
#ifndef RL_HOST_WAITERS_H
#define RL_HOST_WAITERS_H

#include <stdbool.h>

#include <redlock/options.h>

#include "host/environment.h"
#include "host/names.h"
#include "util/slice.h"
#include "util/table.h"

struct rl_claim;
struct rl_host;

struct rl_waiters {
    struct rl_table claims;
    bool listens;
    char channel[REDLOCK_MAX_PREFIX_BYTES + sizeof RL_CHANNEL_NAME + RL_UUID_SIZE];
};

void rl_waiters_init(struct rl_host *host); /* after rl_trust_init() */
void rl_waiters_fini(struct rl_host *host);

/* Begins to listen for notifications. */
void rl_waiters_listen(struct rl_host *host);

/* Before an ENQUEUE of a claim, which notifications may name from then on. true: this is its first one. */
bool rl_waiters_enter(struct rl_host *host, struct rl_claim *claim);

/* A claim is disposed of. */
void rl_waiters_leave(struct rl_host *host, struct rl_claim *claim);

/* The claim of a value; NULL if no claim in the wait queue has it. */
struct rl_claim *rl_waiters_find(const struct rl_waiters *waiters, struct rl_slice value);

#endif
