/* A question to all masters, which a quorum of answers decides (family 10). What masters are asked in this way has no
 * ledger, no deadline and no rollback: an answer counts or it does not. */
#ifndef RL_ENGINE_GATHER_H
#define RL_ENGINE_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "votes/quorum.h"

struct rl_gather {
    uint8_t n_nodes;
    uint8_t quorum;
    uint32_t answered; /* masters whose answers count */
    uint32_t failed;   /* masters of which no answer will count any more */
};

void rl_gather_init(struct rl_gather *gather, unsigned n_nodes, unsigned quorum);

/* Is the master's answer awaited still? */
bool rl_gather_awaits(const struct rl_gather *gather, unsigned node);

/* A master that is awaited has answered, or will not. */
void rl_gather_note(struct rl_gather *gather, unsigned node, bool counts);

bool rl_gather_is_complete(const struct rl_gather *gather);
enum rl_verdict rl_gather_verdict(const struct rl_gather *gather);

#endif
