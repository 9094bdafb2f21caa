/* Inside the engine: what its files share. Not for hosts. */
#ifndef RL_ENGINE_MACHINE_H
#define RL_ENGINE_MACHINE_H

#include "engine/engine.h"
#include "votes/ledger.h"
#include "util/mutant.h"
#include "votes/quorum.h"
#include "engine/retry.h"

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

static inline uint32_t rl_bit(size_t node)
{
    return UINT32_C(1) << node;
}

static inline uint32_t rl_count_bits(uint32_t mask)
{
    uint32_t count = 0;

    for (; mask; mask &= mask - 1)
        count++;
    return count;
}

/* May a command be written to this master? LATE masters get what must follow an earlier command, nothing else. */
static inline bool rl_link_writable(enum rl_link link)
{
    return link == RL_LINK_READY || link == RL_LINK_LATE;
}

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

/* --- trust.c: whom to ask, and what for (protocol section 5) ----------------------------------------------------- */

/* For a new vote. *ret_why is set when the answer is no. */
bool rl_may_claim(const struct rl_engine *engine, size_t node, struct rl_instant now, enum rl_detail *ret_why);

/* For an extension: masters that vote, and those whose lost memory held a vote of this claim that has not expired. */
bool rl_may_extend(const struct rl_engine *engine, size_t node, const struct rl_slot *slot, struct rl_instant now,
                   enum rl_detail *ret_why);

/* For setting a lost key again (protocol 3.2). */
bool rl_may_repair(const struct rl_engine *engine, size_t node, const struct rl_slot *slot, struct rl_instant now);

/* The master's clock has been set forward, and not long ago: its new votes do not count (protocol 5.6). */
bool rl_clock_stepped(const struct rl_engine *engine, size_t node, struct rl_instant now);

/* Nobody else gets a vote of this master at present, so a vote that it has lost still counts. */
bool rl_in_quarantine(const struct rl_engine *engine, size_t node, struct rl_instant now);

/* --- answer.c, proof.c -------------------------------------------------------------------------------------------- */

/* What an answer that counts means for the claim and its lock. */
void rl_answer_apply(struct rl_engine *engine, struct rl_instant now, struct rl_claim *claim, enum rl_step step,
                     uint32_t round, unsigned node, struct rl_answer answer, uint32_t latency_us);

/* The master does not have our key any more: its vote has gone. */
void rl_answer_revoke(struct rl_engine *engine, struct rl_claim *claim, unsigned node);

/* Does this answer mean nothing until it is proved to come from the memory that was judged? */
bool rl_proof_needed(const struct rl_engine *engine, const struct rl_claim *claim, enum rl_step step, uint32_t round,
                     unsigned node, struct rl_answer answer);
void rl_proof_await(struct rl_engine *engine, struct rl_claim *claim, unsigned node, struct rl_answer answer,
                    uint32_t latency_us);

/* The answers that wait will not be asked for any more: a new round begins, or the undo. */
void rl_proof_drop(struct rl_claim *claim);

/* No proof will come from this master for what it has answered so far. */
void rl_proof_fail(struct rl_engine *engine, struct rl_instant now, unsigned node, enum rl_detail why);

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

/* The verdict on the token of a claim that a quorum has granted: WON when a quorum has recorded it. Sends what is
 * still needed for that. */
enum rl_verdict rl_fence_verdict(struct rl_engine *engine, struct rl_claim *claim);
void rl_fence_answered(struct rl_claim *claim, enum rl_step step, unsigned node, struct rl_answer answer);

/* A round asks every master to extend, and gives keys back. Its verdict comes from its answers; validity never does. */
void rl_round_start(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);
enum rl_verdict rl_round_verdict(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);
void rl_round_missing(struct rl_engine *engine, struct rl_claim *claim, unsigned node, struct rl_instant now);

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
