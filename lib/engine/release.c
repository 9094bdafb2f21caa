#include "engine/release.h"

#include "votes/rollback.h"

/* The evidence of the release begins anew; a master that gets no rollback was never asked to hold the value. */
static void reset_answers(struct rl_claim *claim)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        struct rl_slot *slot = &claim->slots[i];
        bool sent = slot->rollback == RL_ROLLBACK_SENT;
        bool pending = slot->rollback == RL_ROLLBACK_PENDING;

        slot->latency_us = RL_NO_LATENCY;
        slot->answer = sent ? RL_PENDING : pending ? RL_FAILED : RL_NOT_ASKED;
        slot->detail = pending ? RL_DETAIL_DOWN : RL_DETAIL_NONE;
    }
}

static bool is_joining(const struct rl_engine *engine, const struct rl_claim *claim)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        if (claim->slots[i].rollback == RL_ROLLBACK_PENDING && engine->votes.links[i] == RL_LINK_JOINING)
            return true;
    }
    return false;
}

/* Is there a master to wait for? One that is connected and not late will answer; one that is joining may. */
static bool waiting(const struct rl_engine *engine, const struct rl_claim *claim)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        if (claim->slots[i].rollback == RL_ROLLBACK_SENT && engine->votes.links[i] == RL_LINK_READY)
            return true;
    }
    return is_joining(engine, claim);
}

/* Masters without an answer stay PENDING; the evidence says why nobody waits for them any more. */
static struct rl_next end(const struct rl_engine *engine, struct rl_lock *lock)
{
    bool free_again = rl_claim_count_clean(lock->claim) >= engine->votes.config.quorum;
    enum rl_end status = free_again ? RL_END_OK : RL_END_NO_QUORUM;

    rl_claim_note_timeouts(lock->claim);
    return rl_go(RL_LOCK_IDLE, lock->releasing.was_lost ? RL_END_LOST : status, RL_END_NONE);
}

struct rl_next rl_release_changed(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    return waiting(engine, lock->claim) ? rl_stay(lock) : end(engine, lock);
}

struct rl_next rl_release_enter(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                                const struct rl_next *how)
{
    lock->releasing.was_lost = how->was_lost;
    lock->releasing.joining = is_joining(engine, lock->claim);
    rl_rollback_start(&engine->votes, lock->claim, RL_STEP_RELEASE, now);
    reset_answers(lock->claim);
    lock->round_start = now;
    lock->wake = rl_after(now, engine->votes.config.node_timeout);
    return rl_release_changed(engine, lock, now);
}

/* The time of a master begins when it can be told of the release; a first connection has an end of its own. */
struct rl_next rl_release_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (lock->releasing.joining && rl_claim_count_clean(lock->claim) < engine->votes.config.quorum) {
        lock->releasing.joining = is_joining(engine, lock->claim);
        lock->wake = rl_after(now, engine->votes.config.node_timeout);
        return rl_stay(lock);
    }
    return end(engine, lock);
}
