/* The operations of a lock, and its time. */
#include "engine/lock.h"

#include <assert.h>
#include <string.h>

#include "engine/acquire.h"
#include "engine/hold.h"
#include "engine/states.h"
#include "engine/wait.h"
#include "votes/ask.h"
#include "votes/claim.h"
#include "votes/fence.h"
#include "votes/rollback.h"

void rl_lock_init(struct rl_lock *lock)
{
    memset(lock, 0, sizeof *lock);
    rl_list_init(&lock->queue);
    lock->wake = RL_NEVER;
}

void rl_lock_forget(struct rl_engine *engine, struct rl_lock *lock)
{
    if (lock->state == RL_LOCK_IDLE)
        rl_lock_set_claim(engine, lock, NULL);
}

void rl_lock_fini(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if ((lock->state == RL_LOCK_ACQUIRING || lock->state == RL_LOCK_WAITING) && lock->claim)
        rl_rollback_start(&engine->votes, lock->claim, RL_STEP_ROLLBACK, now);
    else if (rl_lock_is_held(lock))
        rl_rollback_start(&engine->votes, lock->claim, RL_STEP_RELEASE, now);
    rl_list_remove(&lock->queue);
    rl_lock_set_claim(engine, lock, NULL);
    engine->n_held -= rl_lock_is_held(lock);
    rl_lock_init(lock);
}

static void begin_claim(const struct rl_engine *engine, struct rl_claim *claim, const struct rl_kind *kind)
{
    rl_claim_init(claim, engine->votes.config.n_nodes, engine->votes.config.quorum, kind);
    claim->counts = engine->votes.members;
}

/* --- Operations --------------------------------------------------------------------------------------------------- */

void rl_lock_acquire(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                     const struct rl_acquire *request)
{
    rl_lock_follow(engine, lock, now, (struct rl_next){.state = RL_LOCK_ACQUIRING, .request = request});
}

void rl_lock_extend(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, uint32_t ttl_ms)
{
    assert(lock->state == RL_LOCK_HELD);
    rl_lock_follow(engine, lock, now, (struct rl_next){.state = RL_LOCK_EXTENDING, .ttl_ms = ttl_ms});
}

void rl_lock_release(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    bool was_lost = lock->state == RL_LOCK_LOST || !rl_before(now, rl_lock_deadline(engine, lock));

    if (lock->state == RL_LOCK_EXTENDING)
        rl_lock_notify(engine, lock, RL_NOTICE_EXTEND_CANCELED);
    rl_lock_follow(engine, lock, now, (struct rl_next){.state = RL_LOCK_RELEASING, .was_lost = was_lost});
}

void rl_lock_release_value(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                           struct rl_claim *claim, const struct rl_kind *kind, uint32_t ttl_ms)
{
    const struct rl_config *config = &engine->votes.config;

    begin_claim(engine, claim, kind);
    claim->ttl_ms = ttl_ms;
    claim->longest_ttl_ms = ttl_ms;
    claim->give_up = rl_surely_expired(&config->drift, now, ttl_ms);
    for (size_t i = 0; i < claim->n_nodes; i++)
        claim->votes[i].outcome = RL_UNKNOWN;
    rl_lock_set_claim(engine, lock, claim);
    rl_lock_follow(engine, lock, now, rl_go(RL_LOCK_RELEASING, RL_END_NONE, RL_END_NONE));
}

bool rl_lock_cancel(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (lock->state == RL_LOCK_EXTENDING) {
        rl_lock_follow(engine, lock, now,
                       (struct rl_next){.state = RL_LOCK_HELD, .end = RL_END_CANCELED, .soon = true});
        return true;
    }
    if (!rl_lock_is_acquiring(lock))
        return false;
    if (lock->state != RL_LOCK_BACKING_OFF && lock->claim)
        rl_rollback_start(&engine->votes, lock->claim, RL_STEP_ROLLBACK, now);
    rl_list_remove(&lock->queue);
    rl_lock_follow(engine, lock, now, rl_go(RL_LOCK_IDLE, RL_END_CANCELED, (enum rl_end)lock->attempt));
    return true;
}

/* --- Answers to effects ------------------------------------------------------------------------------------------- */

void rl_lock_begin_attempt(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                           struct rl_claim *claim, uint64_t proposal)
{
    const struct rl_acquire *request = lock->acquisition.request;
    bool waiting = lock->state == RL_LOCK_WAITING;

    assert(lock->state == RL_LOCK_ACQUIRING || waiting);
    begin_claim(engine, claim, request->kind);
    claim->mode = request->mode & 3u;
    rl_fence_propose(&engine->votes, claim, proposal);
    lock->acquisition.attempts++;
    engine->votes.counters.attempts++;
    if (waiting)
        request->entry->proposal = proposal;
    rl_lock_follow(engine, lock, now,
                   waiting ? rl_wait_begin(engine, lock, now, claim) : rl_acquire_begin(engine, lock, now, claim));
}

void rl_lock_refuse_attempt(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    assert(lock->state == RL_LOCK_ACQUIRING || lock->state == RL_LOCK_WAITING);
    rl_lock_follow(engine, lock, now, rl_go(RL_LOCK_IDLE, RL_END_REFUSED_BY_HOST, RL_END_NONE));
}

void rl_lock_accept(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    struct rl_next next;

    assert((lock->state == RL_LOCK_ACQUIRING || lock->state == RL_LOCK_WAITING) && lock->claim);
    if (lock->state != RL_LOCK_WAITING || rl_wait_is_over(engine, lock, now, &next))
        next = rl_attempt_accept(engine, lock, now);
    rl_lock_follow(engine, lock, now, next);
}

bool rl_lock_move(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (!rl_wait_may_move(engine, lock))
        return false;
    rl_lock_follow(engine, lock, now, rl_wait_move(engine, lock, now));
    return true;
}

/* --- Time --------------------------------------------------------------------------------------------------------- */

/* The master is asked as long as the round of the attempt has time left, even if the lock is held by then
 * (votes/ask.c). */
void rl_lock_joined(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, unsigned node)
{
    bool in_time = rl_before(now, rl_after(lock->round_start, engine->votes.config.node_timeout));
    bool wanted = lock->state == RL_LOCK_ACQUIRING || rl_lock_is_valid(engine, lock, now);

    if (lock->claim && rl_ask_joined(&engine->votes, lock->claim, now, node, in_time && wanted) &&
        lock->state == RL_LOCK_ACQUIRING)
        rl_lock_changed(engine, lock, now);
}

bool rl_lock_tick_alarm(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    struct rl_instant deadline = rl_lock_deadline(engine, lock);

    if (!rl_lock_is_held(lock))
        return true;
    if (!rl_before(now, deadline)) {
        rl_lock_check_deadline(engine, lock, now);
        return false;
    }
    rl_alarm_check_risk(engine, lock, now, deadline);
    return true;
}

void rl_lock_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (!rl_lock_tick_alarm(engine, lock, now))
        return;
    if (rl_before(now, lock->wake))
        return;
    rl_lock_woken(engine, lock, now);
    rl_lock_check_deadline(engine, lock, now); /* a new round lets "missing" count that was not checked */
}

struct rl_instant rl_lock_wakeup(const struct rl_engine *engine, const struct rl_lock *lock)
{
    if (!rl_lock_is_held(lock))
        return lock->wake;
    return rl_earlier(lock->wake, rl_alarm_wakeup(engine, lock));
}

void rl_lock_tell_earlier(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant former)
{
    if (rl_before(rl_lock_wakeup(engine, lock), former))
        rl_lock_notify(engine, lock, RL_NOTICE_EARLIER);
}

/* A held lock keeps its votes: it has a quorum by what was known when it was acquired. */
void rl_lock_disregard(struct rl_lock *lock, unsigned node)
{
    if (lock->claim && !rl_lock_is_held(lock) && lock->state != RL_LOCK_RELEASING)
        rl_ledger_set(lock->claim, node, RL_LONG_AGO);
}

/* Conversion: a held lock gets a weaker mode (rule 9.7), or a second claim, which is stronger, in the place of its
 * first one (rules 9.8 and 9.9). */

/* The masters' votes stay at least as strong as what the handle says from here on, so no other claim that conflicts
 * with it can have a quorum. Telling the masters first would let one in while this one still counts as stronger. */
void rl_lock_lower(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, const struct rl_kind *kind,
                   enum rl_mode mode)
{
    struct rl_claim *claim = lock->claim;

    assert(lock->state == RL_LOCK_HELD && (unsigned)mode >= claim->mode);
    claim->kind = kind;
    claim->mode = (unsigned)mode & 3u;
    claim->stronger = rl_bit(claim->n_nodes) - 1;
    rl_lock_extend(engine, lock, now, 0);
}

/* The former claim takes with it what was known of its renewals and dangers. */
static void change_claims(struct rl_lock *lock, struct rl_lock *by)
{
    struct rl_claim *former = lock->claim;
    struct rl_instant end = lock->hold.end;

    lock->hold = by->hold;
    lock->hold.end = end;
    lock->wake = by->wake;
    lock->round_start = by->round_start;
    lock->claim = by->claim;
    lock->claim->lock = lock;
    by->claim = former;
    former->lock = by;
}

bool rl_lock_replace(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, struct rl_lock *by)
{
    rl_lock_check_deadline(engine, lock, now);
    if (lock->state != RL_LOCK_HELD)
        return false;
    change_claims(lock, by);
    rl_rollback_start(&engine->votes, by->claim, RL_STEP_RELEASE, now);
    rl_lock_follow(engine, by, now, rl_go(RL_LOCK_IDLE, RL_END_NONE, RL_END_NONE));
    rl_lock_set_claim(engine, by, NULL);
    return true;
}

/* Transfer: a held lock goes from one handle to another, perhaps of another process. The masters are not asked. */

void rl_lock_detach(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    rl_lock_follow(engine, lock, now, rl_go(RL_LOCK_IDLE, RL_END_NONE, RL_END_NONE));
    rl_lock_set_claim(engine, lock, NULL);
}

/* Masters may not have been told yet of a mode that was lowered.
 *
 * A bound may be from before a clock step that this engine has seen, and then it is worth nothing. One from after the
 * step is regained by the first renewal, if enough others are left. */
static void import(const struct rl_engine *engine, struct rl_instant now, struct rl_claim *claim,
                   const struct rl_exported_state *state)
{
    struct rl_fence *fence = rl_claim_fence(claim);

    claim->ttl_ms = state->ttl_ms;
    claim->longest_ttl_ms = state->longest_ttl_ms;
    claim->shortest_extension_ms = state->shortest_extension_ms;
    claim->unresolved_extension = state->unresolved_extension;
    claim->mode = state->mode & 3u;
    claim->stronger = state->mode == RL_EXCLUSIVE ? 0 : rl_bit(claim->n_nodes) - 1;
    if (fence)
        fence->token = state->fence;
    claim->newcomers = state->newcomers & engine->votes.members;
    rl_ledger_begin(claim, engine->votes.members & ~state->ungreeted,
                    state->standing.ns ? state->standing : RL_LONG_AGO);
    for (size_t i = 0; i < claim->n_nodes; i++) {
        rl_ledger_set(claim, i, state->bounds[i]);
        if (rl_before(now, engine->votes.stepped_until[i]))
            rl_ledger_revoke(claim, i);
        claim->votes[i].outcome = RL_UNKNOWN; /* to be rolled back wherever it may be */
    }
}

/* The age of the bounds is not known, so the first renewal comes soon. */
bool rl_lock_import(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, struct rl_claim *claim,
                    const struct rl_acquire *request, const struct rl_exported_state *state)
{
    begin_claim(engine, claim, state->kind);
    import(engine, now, claim, state);
    claim->give_up = rl_surely_expired(&engine->votes.config.drift, now, claim->longest_ttl_ms);
    if (!rl_before(now, rl_ledger_deadline(claim, engine->votes.config.guard))) {
        rl_votes_settle(&engine->votes, claim);
        return false;
    }
    rl_lock_set_claim(engine, lock, claim);
    lock->round_start = now;
    rl_lock_follow(engine, lock, now,
                   (struct rl_next){.state = RL_LOCK_HELD, .request = request, .soon = true,
                                    .ttl_ms = state->full_ttl_ms ? state->full_ttl_ms : claim->ttl_ms});
    return true;
}

/* --- A new list of masters (rules 15) ----------------------------------------------------------------------------- */

bool rl_lock_needs_claim(const struct rl_lock *lock)
{
    return rl_lock_is_held(lock);
}

/* The attempt has the lock's time already, so there is no pause. */
static void begin_anew(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    rl_rollback_start(&engine->votes, lock->claim, RL_STEP_ROLLBACK, now);
    engine->votes.counters.rollbacks++;
    rl_lock_set_claim(engine, lock, NULL);
    rl_lock_drop_notices(lock, RL_NOTICE_ACCEPT);
    rl_lock_follow(engine, lock, now, rl_go(RL_LOCK_BACKING_OFF, RL_END_NONE, RL_END_NONE));
    lock->wake = rl_earlier(lock->acquisition.request->deadline, rl_after(now, engine->votes.config.node_timeout));
    if (rl_list_empty(&lock->queue))
        rl_list_append(&engine->waiting_for_links, &lock->queue);
}

/* Commands of the former claim that are under way come before what follows, since they were written on the same
 * connections; an extension whose answer is not there may still be carried out. */
static void inherit(const struct rl_engine *engine, struct rl_claim *claim, const struct rl_claim *former)
{
    struct rl_fence *fence = rl_claim_fence(claim);

    claim->mode = former->mode;
    claim->ttl_ms = former->ttl_ms;
    claim->longest_ttl_ms = former->longest_ttl_ms;
    claim->full_ttl_ms = former->full_ttl_ms;
    claim->shortest_extension_ms = former->shortest_extension_ms;
    claim->unresolved_extension = rl_claim_unresolved(former);
    claim->stronger = former->stronger;
    claim->give_up = former->give_up;
    claim->newcomers = (former->newcomers | engine->votes.newcomers) & engine->votes.members;
    if (fence) {
        fence->token = rl_claim_token(former);
        fence->proposal = rl_claim_proposal(former);
    }
    for (size_t i = 0; i < claim->n_nodes; i++) {
        bool known = i < former->n_nodes && !(engine->votes.newcomers & rl_bit(i));
        uint8_t outcome = known ? former->votes[i].outcome : RL_NOT_ASKED;

        claim->votes[i].outcome = outcome == RL_NOT_ASKED || outcome == RL_FAILED || outcome == RL_REFUSED
                                      ? RL_NOT_ASKED : RL_UNKNOWN;
        claim->votes[i].answer = RL_PENDING;
    }
    rl_ledger_inherit(claim, former);
}

void rl_lock_adopt(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, struct rl_claim *claim)
{
    assert(rl_lock_needs_claim(lock) == (claim != NULL));
    if (rl_lock_is_acquiring(lock) && lock->claim)
        begin_anew(engine, lock, now);
    if (!claim)
        return;
    begin_claim(engine, claim, lock->claim->kind);
    inherit(engine, claim, lock->claim);
    rl_outbox_withdraw(lock->claim);
    rl_lock_set_claim(engine, lock, claim);
    lock->hold.renewing = false;
    lock->wake = rl_after(now, engine->votes.config.node_timeout);
}

/* The quorum of the new list has been found: the round that was under way, or is due, goes to it. */
void rl_lock_greeted(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, unsigned node)
{
    struct rl_instant wakeup = rl_lock_wakeup(engine, lock);

    /* A bound that counts from now on does not bring it back. */
    rl_lock_check_deadline(engine, lock, now);
    if (!rl_lock_is_held(lock) || !(engine->votes.members & ~lock->claim->counts & rl_bit(node)))
        return;
    rl_ledger_count(lock->claim, node);
    if (rl_count_bits(lock->claim->counts) == lock->claim->quorum) {
        if (lock->state == RL_LOCK_EXTENDING) {
            rl_hold_start_round(engine, lock, now);
            rl_lock_changed(engine, lock, now);
        } else {
            lock->wake = now;
        }
    }
    rl_lock_tell_earlier(engine, lock, wakeup);
}
