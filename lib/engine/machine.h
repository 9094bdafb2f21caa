/* Inside the engine: what its files share. Not for hosts. */
#ifndef RL_ENGINE_MACHINE_H
#define RL_ENGINE_MACHINE_H

#include "engine/engine.h"
#include "engine/retry.h"
#include "util/mutant.h"
#include "votes/admission.h"
#include "votes/epoch_check.h"
#include "votes/fence.h"
#include "votes/ledger.h"
#include "votes/outbox.h"
#include "votes/quorum.h"
#include "votes/rollback.h"
#include "votes/round.h"

/* What a lock has to say to the host; handed out in this order. */
enum rl_notice {
    RL_NOTICE_LOST = 1,
    RL_NOTICE_EXTEND_CANCELED = 2, /* apart from COMPLETE: the release that caused it may end in the same event */
    RL_NOTICE_COMPLETE = 4,
    RL_NOTICE_WAITING = 8,
    RL_NOTICE_BACKOFF = 16,
    RL_NOTICE_RENEWED = 32,
    RL_NOTICE_AT_RISK = 64,
    RL_NOTICE_WANT_CLAIM = 128,
    RL_NOTICE_ACCEPT = 256,
    RL_NOTICE_SHORTENED = 512,
};

/* Held as far as the state machine knows; the ledger decides what that is worth. */
static inline bool rl_lock_is_held(const struct rl_lock *lock)
{
    return lock->state == RL_LOCK_HELD || lock->state == RL_LOCK_EXTENDING;
}

/* --- lock.c --------------------------------------------------------------------------------------------------- */

void rl_lock_set_state(struct rl_engine *engine, struct rl_lock *lock, enum rl_lock_state state);
void rl_lock_notify(struct rl_engine *engine, struct rl_lock *lock, enum rl_notice notice);
void rl_lock_complete(struct rl_engine *engine, struct rl_lock *lock, enum rl_end status, enum rl_end cause);

/* Nothing of an earlier hold is left; this one, whose claim is set, is kept as the wish says. ttl_ms is what that was
 * made for: where the claim was granted for a shorter lease it is owed. */
void rl_lock_begin_hold(const struct rl_engine *engine, struct rl_lock *lock, const struct rl_acquire *wish,
                        struct rl_instant now, uint32_t ttl_ms);

/* Makes `claim` (or none) the lock's claim; the former one goes on alone, as long as it has debts. */
void rl_lock_set_claim(struct rl_engine *engine, struct rl_lock *lock, struct rl_claim *claim);

/* --- answer.c ----------------------------------------------------------------------------------------------------- */

/* The epoch check of this master has been answered (RL_DETAIL_NONE: by the same memory), or will not be. */
void rl_answer_checked(struct rl_engine *engine, struct rl_instant now, unsigned node, enum rl_detail why_not);

/* --- acquire.c, fence.c, round.c, extend.c, renew.c, alarm.c, release.c ------------------------------------------- */

void rl_acquire_start(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);
void rl_acquire_answered(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* The attempt has failed: undoes it everywhere, then pauses, gets in line, or ends the acquisition. */
void rl_acquire_fail(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, enum rl_end end);

/* Ends the acquisition without a lock. */
void rl_acquire_give_up(struct rl_engine *engine, struct rl_lock *lock, enum rl_end status, enum rl_end cause);
void rl_acquire_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* In line: nothing yet; a claim is wanted; it is there; something was answered; has the turn come, by the clock read
 * anew?; time. */
void rl_wait_init(struct rl_line *line);
bool rl_wait_has_begun(const struct rl_lock *lock);
void rl_wait_start(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);
void rl_wait_begin(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, struct rl_claim *claim);
void rl_wait_answered(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);
bool rl_wait_is_over(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);
void rl_wait_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* How renewal and warning stand to the ttl for which they were wished; and to keep it so under another ttl. */
void rl_extend_remember(struct rl_lock *lock, uint32_t ttl_ms);
void rl_extend_change_ttl(const struct rl_engine *engine, struct rl_lock *lock, uint32_t ttl_ms);

/* The round has found its quorum: nothing is owed, and the warning goes by the new ttl. */
void rl_extend_won(const struct rl_engine *engine, struct rl_lock *lock);
void rl_extend_answered(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);
void rl_extend_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* Is a renewal wished for, and within the hold limit, at that instant? */
bool rl_may_renew(const struct rl_lock *lock, struct rl_instant at);

/* After anything that makes the lock HELD: when to renew it. */
void rl_renew_schedule(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);
void rl_renew_soon(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);
void rl_renew_answered(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);
void rl_renew_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* The validity has ended while the lock was held: undo what is left, tell, end a pending extension with LOST. */
void rl_lock_lose(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* For a lock that is valid, until `deadline`: warns when it is time to, forgets the warning when the danger is over. */
void rl_alarm_check(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, struct rl_instant deadline);
struct rl_instant rl_alarm_wakeup(const struct rl_engine *engine, const struct rl_lock *lock);

void rl_release_answered(struct rl_engine *engine, struct rl_lock *lock);
void rl_release_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* A link has changed: some releases may have nobody left to wait for. */
void rl_releases_recheck(struct rl_engine *engine);

#endif
