/* Inside the engine: what its files share. Not for hosts. */
#ifndef RL_CORE_MACHINE_H
#define RL_CORE_MACHINE_H

#include "core/engine.h"
#include "core/ledger.h"
#include "core/mutant.h"
#include "core/quorum.h"
#include "core/retry.h"

/* What a lock has to say to the host; handed out in this order. */
enum rl_notice {
    RL_NOTICE_LOST = 1,
    RL_NOTICE_EXTEND_CANCELED = 2, /* apart from COMPLETE: the release that caused it may end in the same event */
    RL_NOTICE_COMPLETE = 4,
    RL_NOTICE_BACKOFF = 8,
    RL_NOTICE_WANT_CLAIM = 16,
    RL_NOTICE_ACCEPT = 32,
};

static inline uint32_t rl_bit(size_t node)
{
    return UINT32_C(1) << node;
}

/* May a command be written to this master? LATE masters get what must follow an earlier command, nothing else. */
static inline bool rl_link_writable(enum rl_link link)
{
    return link == RL_LINK_READY || link == RL_LINK_LATE;
}

/* --- lock.c --------------------------------------------------------------------------------------------------- */

void rl_lock_set_state(struct rl_lock *lock, enum rl_lock_state state);
void rl_lock_notify(struct rl_engine *engine, struct rl_lock *lock, enum rl_notice notice);
void rl_lock_complete(struct rl_engine *engine, struct rl_lock *lock, enum rl_end status, enum rl_end cause);

/* Makes `claim` (or none) the lock's claim; the former one goes on alone, as long as it has debts. */
void rl_lock_set_claim(struct rl_engine *engine, struct rl_lock *lock, struct rl_claim *claim);

/* The validity has ended while the lock was held: undo what is left, tell, end a pending extension with LOST. */
void rl_lock_lose(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* --- acquire.c, extend.c, release.c ----------------------------------------------------------------------------- */

void rl_acquire_start(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);
void rl_acquire_answered(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);
void rl_acquire_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

void rl_extend_answered(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);
void rl_extend_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

void rl_release_answered(struct rl_engine *engine, struct rl_lock *lock);
void rl_release_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* A link has changed: some releases may have nobody left to wait for. */
void rl_releases_recheck(struct rl_engine *engine);

/* --- debt.c ----------------------------------------------------------------------------------------------------- */

/* Hands commands for these masters to the host. */
void rl_claim_send(struct rl_engine *engine, struct rl_claim *claim, enum rl_step step, uint32_t nodes);

/* protocol 2.1: writes the undo behind everything that was sent, at once, wherever the value may be; masters that
 * cannot be written to are owed it. Once only; later calls do nothing. */
void rl_claim_undo(struct rl_engine *engine, struct rl_claim *claim, enum rl_step step, struct rl_instant now);

/* An answer to an undo. */
void rl_debt_answered(struct rl_claim *claim, unsigned node, struct rl_answer answer);

/* A claim that turned out not to be set on this master needs no undo there. */
void rl_debt_waive(struct rl_slot *slot);

/* Pays all debts to a master that can be written to again. */
void rl_debts_pay(struct rl_engine *engine, unsigned node);

/* After any change: leaves the list of debts when nothing is owed, is disposed of when nothing refers to it. */
void rl_claim_settle(struct rl_engine *engine, struct rl_claim *claim);

#endif
