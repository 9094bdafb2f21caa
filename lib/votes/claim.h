/* A claim: one value under one key, and what each master may hold of it.
 *
 * Each attempt has a claim of its own, since rule 2.1 says: "u is fresh for every attempt". The claim lives until
 * no master can hold its value any more, whatever becomes of the lock that made it. For each master it has
 *
 *   - the vote, with the bound until which that vote counts: together they are the ledger,
 *   - the rollback: it is pending (rule 3.3) until it is confirmed, or until the ttl has surely passed.
 *
 *       vote       NOT_ASKED -> PENDING -> GRANTED | REFUSED | FAILED | UNKNOWN | QUEUED
 *       rollback   NONE -> (PENDING <-> SENT) -> CONFIRMED       only where the value may be
 *
 * Once the rollback has begun (rolling_back), no master is claimed, extended or repaired again with this value.
 *
 * Where a master has a marker, an answer that matters stays PENDING, with the master's bit in `unverified`, until the
 * epoch check behind it shows that it came from the memory that was admitted (votes/epoch_check.h).
 *
 * The memory belongs to the host: rl_claim_size() bytes, which the host gives by rl_lock_begin_attempt() and gets back
 * by RL_EFFECT_DISPOSE. */
#ifndef RL_VOTES_CLAIM_H
#define RL_VOTES_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/instant.h"
#include "util/list.h"
#include "votes/kind.h"
#include "votes/outcome.h"

struct rl_lock;

enum rl_rollback_state {
    RL_ROLLBACK_NONE,      /* nothing to roll back, or not asked for yet */
    RL_ROLLBACK_PENDING,   /* to be sent as soon as the link allows */
    RL_ROLLBACK_SENT,      /* on its way */
    RL_ROLLBACK_CONFIRMED, /* this master does not hold the value: it has said so, or the ttl has surely passed */
};

struct rl_vote {
    struct rl_instant bound; /* lb_j: the vote counts until then; RL_LONG_AGO: it does not. claim.c alone changes it */
    uint32_t latency_us;     /* of the latest reply to the current operation */
    uint8_t outcome;         /* enum rl_outcome of the claim */
    uint8_t answer;          /* enum rl_outcome of the latest round or operation: for the verdict and the evidence */
    uint8_t detail;          /* enum rl_detail of that answer */
    uint8_t rollback;        /* enum rl_rollback_state */
};

struct rl_claim {
    /* What every answer touches comes first, in one cache line. */
    struct rl_list link;  /* in one list of struct rl_votes: unverified, pending_rollbacks or finished; or in none */
    struct rl_lock *lock; /* the lock that reads its ledger; NULL once that has given the claim up */
    const struct rl_kind *kind;
    uint32_t unverified;           /* masters whose answers to the latest round wait for the epoch check */
    uint32_t missing;              /* masters that have answered "missing", and may get the key back */
    uint32_t repairing;            /* masters for whose repair the verdict on the round waits */
    uint32_t counts;               /* masters whose bounds count: members of the list, as it is known */
    uint32_t newcomers;            /* members that have had no key yet: they have come since the lock was acquired */
    uint32_t unresolved_extension; /* masters where a lost extension may still be carried out, at any time */
    uint32_t joining;              /* masters to be asked when their first connection has come */
    uint32_t unanswered;           /* masters that have not answered their latest extension or repair */
    uint32_t stronger;             /* masters whose vote may be stronger than the mode: it has been lowered since */
    uint32_t round;                /* number of the latest round of commands; each answer names its own */
    unsigned in_flight : 16;       /* commands without a reply, over all masters */
    unsigned n_nodes : 5;
    unsigned quorum : 5;
    unsigned mode : 2;             /* enum rl_mode: no vote is weaker */
    bool rolling_back : 1;
    bool done : 1;                 /* in the list of the finished */
    bool in_outbox : 1;
    bool round_won : 1;            /* the latest round of extension has found its quorum */
    uint32_t ttl_ms;               /* of the latest round */
    struct rl_instant round_bound; /* a grant in the latest round counts until then */
    uint32_t longest_ttl_ms;         /* of all rounds */
    uint32_t shortest_extension_ms;  /* at most that of any that may still be carried out; UINT32_MAX: there is none */
    uint32_t to_send[RL_STEP_COUNT]; /* what the outbox is to send: masks of masters */
    uint32_t full_ttl_ms; /* granted for a lease only: the ttl that the first extension must bring; 0: nothing lacks */
    struct rl_instant quorum_bound;  /* the quorum-th largest of the votes' bounds that count, or `standing`: claim.c */
    struct rl_instant standing;      /* by the list before: what had been won when the list changed (rule 15.9) */
    struct rl_instant give_up;       /* every key that this claim has set has expired by then */
    struct rl_claim *next_out;       /* in the outbox */
    struct rl_vote votes[];
};

/* The fencing token of a claim (rules 8). */
struct rl_fence {
    uint64_t proposal;
    uint64_t token;      /* t: the largest answer of the first quorum that granted; 0 before that */
    uint32_t raised;     /* masters that have been asked to record t since they granted ... */
    uint32_t refused;    /* ... and did not, or could not be asked */
    bool second_trip;    /* some master has been asked */
    uint64_t counters[]; /* what each master that granted has recorded */
};

/* Of a claim without its tail. */
static inline size_t rl_claim_body_size(size_t n_nodes)
{
    return sizeof(struct rl_claim) + n_nodes * sizeof(struct rl_vote);
}

static inline size_t rl_claim_size(size_t n_nodes, const struct rl_kind *kind)
{
    return rl_claim_body_size(n_nodes) + (kind->tail_size ? kind->tail_size(n_nodes) : 0);
}

/* An empty claim. */
void rl_claim_init(struct rl_claim *claim, size_t n_nodes, size_t quorum, const struct rl_kind *kind);

/* The claim's fence, which lies behind its votes; NULL for kinds of lock without tokens. */
static inline struct rl_fence *rl_claim_fence(const struct rl_claim *claim)
{
    return claim->kind->has_token ? (struct rl_fence *)(uintptr_t)&claim->votes[claim->n_nodes] : NULL;
}

/* The fencing token; 0: there is none. It may be used only once the lock is held: before that, a quorum may not have
 * recorded it. */
static inline uint64_t rl_claim_token(const struct rl_claim *claim)
{
    const struct rl_fence *fence = rl_claim_fence(claim);

    return fence ? fence->token : 0;
}

/* The number that its commands propose for the token; 0: there is none. */
static inline uint64_t rl_claim_proposal(const struct rl_claim *claim)
{
    const struct rl_fence *fence = rl_claim_fence(claim);

    return fence ? fence->proposal : 0;
}

/* The masters that have granted. */
uint32_t rl_claim_granted(const struct rl_claim *claim);

/* How many masters have this vote. */
size_t rl_claim_count_votes(const struct rl_claim *claim, enum rl_outcome vote);

/* How many votes have this outcome as the answer to the latest operation. */
size_t rl_claim_count_answers(const struct rl_claim *claim, enum rl_outcome answer);

/* Masters where an extension may still be carried out: it got lost, or has not been answered yet. */
uint32_t rl_claim_unresolved(const struct rl_claim *claim);

/* The round is over for the caller: masters without an answer stay PENDING, and the evidence says why. */
void rl_claim_note_timeouts(struct rl_claim *claim);

/* How many of these masters are known not to hold the value: those that came after it, too. */
size_t rl_claim_count_clean(const struct rl_claim *claim, uint32_t nodes);

/* The vote ledger: from the bounds of the single votes to the deadline of the lock.
 *
 * rule 2.5: "The lock is valid at t iff at least q of the lb_j - guard exceed t; its deadline is the q-th
 * largest." Nothing else decides validity. */

/* The quorum-th largest bound less the guard time; RL_LONG_AGO if fewer votes count. The claim keeps this bound, which
 * is read much more often than bounds change; therefore only the functions below change bounds. */
static inline struct rl_instant rl_ledger_deadline(const struct rl_claim *claim, struct rl_span guard)
{
    return rl_after(claim->quorum_bound, (struct rl_span){-guard.ns});
}

/* A vote that was imported, or whose master's clock was set, counts until another bound. */
void rl_ledger_set(struct rl_claim *claim, size_t node, struct rl_instant bound);

/* A command that sets the ttl is about to be sent. Its bound lowers a later one at once (rule 4.2: "a shorter ttl
 * lowers lb_j when sent, not when acknowledged"), since the command may be carried out and its answer be lost. */
void rl_ledger_sent(struct rl_claim *claim, size_t node, struct rl_instant bound);

/* A grant in the latest round: the vote counts until `bound`. Grants in earlier rounds do not come here, since a later
 * command with a shorter ttl may be on its way behind them; that costs validity at most, until the later answer. */
static inline void rl_ledger_grant(struct rl_claim *claim, size_t node, struct rl_instant bound)
{
    rl_ledger_set(claim, node, bound);
}

/* The master counts from now on: it has said which list it votes by, and that is the client's. */
void rl_ledger_count(struct rl_claim *claim, size_t node);

/* Before any bound is set: the masters that count, and what had been won when the list changed. */
void rl_ledger_begin(struct rl_claim *claim, uint32_t counts, struct rl_instant standing);

/* Takes over what a claim of the list before is worth: no bound counts until its master does, and what has been won
 * stands. */
void rl_ledger_inherit(struct rl_claim *claim, const struct rl_claim *former);

/* The master no longer has the value. */
static inline void rl_ledger_revoke(struct rl_claim *claim, size_t node)
{
    rl_ledger_set(claim, node, RL_LONG_AGO);
}

#endif
