/* The vote ledger: from the bounds of the single votes to the deadline of the lock.
 *
 * protocol 1.4: "The lock is valid at t iff at least q of the lb_j - guard exceed t; its deadline is the q-th
 * largest." Nothing else decides validity. */
#ifndef RL_VOTES_LEDGER_H
#define RL_VOTES_LEDGER_H

#include <stddef.h>

#include "votes/claim.h"
#include "util/instant.h"

/* The quorum-th largest bound less the guard time; RL_LONG_AGO if fewer votes count. The claim keeps this bound, which
 * is read much more often than bounds change; therefore only the functions below change bounds. */
static inline struct rl_instant rl_ledger_deadline(const struct rl_claim *claim, struct rl_span guard)
{
    return rl_after(claim->quorum_bound, (struct rl_span){-guard.ns});
}

/* A vote that was imported, or whose master's clock was set, counts until another bound. */
void rl_ledger_set(struct rl_claim *claim, size_t node, struct rl_instant bound);

/* A command that sets the ttl is about to be sent. Its bound lowers a later one at once (protocol 3.1: "a shorter ttl
 * lowers lb_j when sent, not when acknowledged"), since the command may be carried out and its answer be lost. */
void rl_ledger_sent(struct rl_claim *claim, size_t node, struct rl_instant bound);

/* A grant in the latest round: the vote counts until `bound`. Grants in earlier rounds do not come here, since a later
 * command with a shorter ttl may be on its way behind them; that costs validity at most, until the later answer. */
static inline void rl_ledger_grant(struct rl_claim *claim, size_t node, struct rl_instant bound)
{
    rl_ledger_set(claim, node, bound);
}

/* The master no longer has the value. */
static inline void rl_ledger_revoke(struct rl_claim *claim, size_t node)
{
    rl_ledger_set(claim, node, RL_LONG_AGO);
}

#endif
