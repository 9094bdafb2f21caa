/* Releasing: the undo of a held value, and when its caller may go on (protocol 2.4). */
#include <assert.h>

#include "engine/machine.h"

/* Clears the evidence; what is undone is pending, the rest was never asked to hold the value. */
static void reset_answers(struct rl_claim *claim)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        struct rl_slot *slot = &claim->slots[i];
        bool sent = slot->undo == RL_UNDO_SENT;
        bool owed = slot->undo == RL_UNDO_OWED;

        slot->latency_us = RL_NO_LATENCY;
        slot->answer = sent ? RL_PENDING : owed ? RL_FAILED : RL_NOT_ASKED;
        slot->detail = owed ? RL_DETAIL_DOWN : RL_DETAIL_NONE;
    }
}

/* Worth waiting for: a master that is connected and not late will answer; one that is just joining may. */
static bool waiting(const struct rl_engine *engine, const struct rl_claim *claim)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        if (claim->slots[i].undo == RL_UNDO_SENT && engine->votes.links[i] == RL_LINK_READY)
            return true;
        if (claim->slots[i].undo == RL_UNDO_OWED && engine->votes.links[i] == RL_LINK_JOINING)
            return true;
    }
    return false;
}

/* Masters without an answer stay PENDING; the evidence says why nobody waits for them any more. */
static void end(struct rl_engine *engine, struct rl_lock *lock)
{
    bool free_again = rl_claim_count_clean(lock->claim) >= engine->votes.config.quorum;
    enum rl_end status = free_again ? RL_END_OK : RL_END_NO_QUORUM;

    rl_claim_note_timeouts(lock->claim);
    rl_lock_complete(engine, lock, lock->was_lost ? RL_END_LOST : status, RL_END_NONE);
    rl_lock_set_state(engine, lock, RL_LOCK_IDLE);
}

void rl_release_answered(struct rl_engine *engine, struct rl_lock *lock)
{
    if (!waiting(engine, lock->claim))
        end(engine, lock);
}

void rl_releases_recheck(struct rl_engine *engine)
{
    struct rl_list *at = engine->votes.debts.next;

    while (at != &engine->votes.debts) {
        const struct rl_claim *claim = RL_CONTAINER_OF(at, struct rl_claim, link);

        at = at->next;
        if (claim->lock && claim->lock->state == RL_LOCK_RELEASING)
            rl_release_answered(engine, claim->lock);
    }
}

static void start(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    rl_rollback_start(&engine->votes, lock->claim, RL_STEP_RELEASE, now);
    reset_answers(lock->claim);
    lock->round_start = now;
    lock->wake = rl_after(now, engine->votes.config.node_timeout);
    rl_release_answered(engine, lock);
}

void rl_lock_release(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    lock->was_lost = lock->state == RL_LOCK_LOST || !rl_before(now, rl_lock_deadline(engine, lock));
    if (lock->state == RL_LOCK_EXTENDING)
        rl_lock_notify(engine, lock, RL_NOTICE_EXTEND_CANCELED);
    lock->renewing = false;
    rl_lock_set_state(engine, lock, RL_LOCK_RELEASING);
    start(engine, lock, now);
}

void rl_lock_release_value(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                           struct rl_claim *claim, uint32_t ttl_ms)
{
    rl_claim_init(claim, engine->votes.config.n_nodes, engine->votes.config.quorum, false);
    claim->ttl_ms = ttl_ms;
    claim->longest_ttl_ms = ttl_ms;
    claim->give_up = rl_surely_expired(&engine->votes.config.drift, now, ttl_ms);
    for (size_t i = 0; i < claim->n_nodes; i++)
        claim->slots[i].vote = RL_UNKNOWN;
    rl_lock_set_claim(engine, lock, claim);
    lock->was_lost = false;
    rl_lock_set_state(engine, lock, RL_LOCK_RELEASING);
    start(engine, lock, now);
}

void rl_release_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    end(engine, lock);
    (void)now;
}
