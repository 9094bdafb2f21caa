/* A claim: one value (one token) under one key, and what each master may hold of it.
 *
 * protocol 1.1: "u is fresh for every attempt"; so each attempt has a claim of its own, and the claim lives until no
 * master can hold its value any more, whatever has become of the lock that made it. It carries
 *
 *   - the vote of each master and the bound for which that vote counts: the ledger (votes/ledger.h),
 *   - the rollback of each master: a pending rollback (protocol 2.2) until it is confirmed or the ttl has surely
 *     passed.
 *
 *       vote    NOT_ASKED -> PENDING -> GRANTED | REFUSED | FAILED | UNKNOWN
 *       rollback    NONE -> (PENDING <-> SENT) -> CONFIRMED          only where the value may be
 *
 * Once the rollback has been asked for (rolling_back), no master is claimed, extended or repaired again with this
 * value.
 *
 * On masters with a marker an answer that matters stays PENDING, with its bit in `unverified`, until the epoch check
 * behind it shows that it came from the memory that was judged (protocol 1.3, rl_engine_epoch_checked()).
 *
 * The memory belongs to the host (the library, the simulator): rl_claim_size() bytes, given to the engine by
 * rl_lock_begin_attempt(), given back by RL_EFFECT_DISPOSE. The host finds what it keeps with a claim by its
 * address. */
#ifndef RL_VOTES_CLAIM_H
#define RL_VOTES_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "votes/outcome.h"
#include "votes/kind.h"
#include "util/instant.h"
#include "util/list.h"

struct rl_lock;

enum rl_rollback_state {
    RL_ROLLBACK_NONE,    /* nothing to roll back, or not asked for yet */
    RL_ROLLBACK_PENDING,    /* must be sent when the link allows */
    RL_ROLLBACK_SENT,    /* on its way */
    RL_ROLLBACK_CONFIRMED, /* confirmed: this master does not hold the value; or its ttl has surely passed */
};

struct rl_slot {
    struct rl_instant bound;   /* lb_j: the vote counts until then; RL_LONG_AGO if it does not; ledger.c changes it */
    uint32_t latency_us;       /* of the latest reply to the current operation */
    uint8_t vote;              /* enum rl_outcome of the claim */
    uint8_t answer;            /* enum rl_outcome of the latest operation, for the evidence */
    uint8_t detail;            /* enum rl_detail to it */
    uint8_t rollback;              /* enum rl_rollback_state */
};

/* Latency of a slot that has no reply. */
#define RL_NO_LATENCY UINT32_MAX

struct rl_claim {
    /* What every answer touches comes first, in one cache line. */
    struct rl_list link;    /* in the list of pending rollbacks while it is rolled back, of the unverified before */
    struct rl_lock *lock;   /* who reads its ledger; NULL once given up */
    const struct rl_kind *kind;
    uint32_t unverified;      /* masters that have answered the latest round without epoch check so far ... */
    uint32_t missing;       /* ... and those that have answered "missing", and may get the key back */
    uint32_t repairing;     /* masters whose repair the verdict on the round waits for */
    uint32_t unresolved_extension; /* masters where an extension got lost that may still be carried out, at any time */
    uint32_t joining;       /* masters that are to be claimed when their first connection has come */
    uint32_t unanswered;    /* masters that owe the answer to their latest extension or repair */
    uint32_t round;         /* number of the latest claim or extend round; replies name theirs */
    uint32_t in_flight;     /* commands without a reply, over all masters */
    struct rl_instant round_bound; /* what a grant in the latest round counts until */
    uint8_t n_nodes;
    uint8_t quorum;
    bool rolling_back : 1;
    bool done : 1;          /* in the engine's list of claims to be disposed of */
    bool waiting : 1;       /* in the outbox */
    bool round_won : 1;     /* the latest round of extension has found its quorum */
    uint32_t ttl_ms;        /* of the latest round */
    uint32_t longest_ttl_ms;       /* of all rounds */
    uint32_t shortest_extension_ms; /* of those that may still be carried out, or more; UINT32_MAX: there are none */
    uint32_t to_send[RL_STEP_COUNT]; /* effects: masks of masters */
    uint32_t full_ttl_ms;      /* held for a lease only: the ttl that the first extension must bring; 0: it has it */
    struct rl_instant quorum_bound; /* the quorum-th largest of the slots' bounds: ledger.c */
    struct rl_instant give_up; /* every key set by this claim has expired by then */
    struct rl_claim *next_out; /* in that queue */
    struct rl_slot slots[];
};

/* The fencing token of a claim (protocol section 4). */
struct rl_fence {
    uint64_t proposal;
    uint64_t token;        /* t: the largest answer of the first quorum of grants; 0 before that */
    uint32_t raised;       /* masters that have been told to record t */
    uint32_t refused;      /* ... and did not */
    uint64_t counters[];   /* what each master that has granted has recorded */
};

static inline size_t rl_claim_size(size_t n_nodes, const struct rl_kind *kind)
{
    size_t tail_size = kind->tail_size ? kind->tail_size(n_nodes) : 0;

    return sizeof(struct rl_claim) + n_nodes * sizeof(struct rl_slot) + tail_size;
}

/* Everything empty. */
void rl_claim_init(struct rl_claim *claim, size_t n_nodes, size_t quorum, const struct rl_kind *kind);

/* Behind the slots; NULL for kinds of lock without tokens. */
static inline struct rl_fence *rl_claim_fence(const struct rl_claim *claim)
{
    return claim->kind->has_token ? (struct rl_fence *)(uintptr_t)&claim->slots[claim->n_nodes] : NULL;
}

/* The fencing token, 0 if there is none. Nothing before the claim's lock is held: a quorum may have granted, but not
 * recorded it yet. */
static inline uint64_t rl_claim_token(const struct rl_claim *claim)
{
    return claim->kind->has_token ? rl_claim_fence(claim)->token : 0;
}

/* How many slots have this outcome as the answer to the latest operation. */
size_t rl_claim_count_answers(const struct rl_claim *claim, enum rl_outcome answer);

/* Masters where an extension may still be carried out: it got lost, or has not been answered yet. */
uint32_t rl_claim_unresolved(const struct rl_claim *claim);

/* Nobody waits any more: masters without an answer stay PENDING, and the evidence says why. */
void rl_claim_note_timeouts(struct rl_claim *claim);

/* Masters that are known not to hold the value. */
size_t rl_claim_count_clean(const struct rl_claim *claim);

#endif
