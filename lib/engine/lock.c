#include "engine/lock.h"

#include <assert.h>
#include <string.h>

#include "engine/machine.h"

#define TO(state) (1u << RL_LOCK_##state)

/* The diagram of lock.h as a table: the states that may follow each state. */
static const struct {
    const char *name;
    unsigned next;
} states[RL_LOCK_STATE_COUNT] = {
    [RL_LOCK_IDLE] = {"idle", TO(ACQUIRING) | TO(RELEASING) | TO(HELD)},
    [RL_LOCK_ACQUIRING] = {"acquiring", TO(HELD) | TO(WAITING) | TO(BACKING_OFF) | TO(IDLE)},
    [RL_LOCK_WAITING] = {"waiting", TO(HELD) | TO(BACKING_OFF) | TO(IDLE)},
    [RL_LOCK_BACKING_OFF] = {"backing off", TO(ACQUIRING) | TO(WAITING) | TO(IDLE)},
    [RL_LOCK_HELD] = {"held", TO(EXTENDING) | TO(RELEASING) | TO(LOST) | TO(IDLE)},
    [RL_LOCK_EXTENDING] = {"extending", TO(HELD) | TO(RELEASING) | TO(LOST)},
    [RL_LOCK_RELEASING] = {"releasing", TO(IDLE)},
    [RL_LOCK_LOST] = {"lost", TO(ACQUIRING) | TO(RELEASING) | TO(HELD)},
};

static enum rl_op op_of_state(enum rl_lock_state state)
{
    if (state == RL_LOCK_ACQUIRING || state == RL_LOCK_WAITING || state == RL_LOCK_BACKING_OFF)
        return RL_OP_ACQUIRE;
    if (state == RL_LOCK_EXTENDING)
        return RL_OP_EXTEND;
    return state == RL_LOCK_RELEASING ? RL_OP_RELEASE : RL_OP_NONE;
}

/* The only place that changes the state. The pending operation follows from it. Whoever makes a lock HELD says when it
 * is to be renewed. */
void rl_lock_set_state(struct rl_engine *engine, struct rl_lock *lock, enum rl_lock_state state)
{
    assert(states[lock->state].next & (1u << state));
    engine->n_held -= rl_lock_is_held(lock);
    lock->state = (uint8_t)state;
    lock->op = (uint8_t)op_of_state(state);
    engine->n_held += rl_lock_is_held(lock);
    if (lock->op == RL_OP_NONE)
        lock->wake = RL_NEVER;
    assert(state != RL_LOCK_HELD || lock->claim);
}

const char *rl_lock_state_name(enum rl_lock_state state)
{
    return states[state].name;
}

void rl_lock_init(struct rl_lock *lock)
{
    memset(lock, 0, sizeof *lock);
    rl_list_init(&lock->queue);
    lock->wake = RL_NEVER;
}

void rl_lock_notify(struct rl_engine *engine, struct rl_lock *lock, enum rl_notice notice)
{
    lock->notices = (uint16_t)(lock->notices | notice);
    if (rl_list_empty(&lock->queue))
        rl_list_append(&engine->notices, &lock->queue);
}

void rl_lock_complete(struct rl_engine *engine, struct rl_lock *lock, enum rl_end status, enum rl_end cause)
{
    assert(!(lock->notices & RL_NOTICE_COMPLETE));
    lock->ended_op = lock->op & 15u;
    lock->ended = status & 15u;
    lock->ended_cause = cause & 15u;
    rl_lock_notify(engine, lock, RL_NOTICE_COMPLETE);
}

void rl_lock_set_claim(struct rl_engine *engine, struct rl_lock *lock, struct rl_claim *claim)
{
    struct rl_claim *former = lock->claim;

    lock->claim = claim;
    if (claim)
        claim->lock = lock;
    if (former) {
        rl_epoch_check_drop(former);
        former->lock = NULL;
        rl_votes_settle(&engine->votes, former);
    }
}

void rl_lock_forget(struct rl_engine *engine, struct rl_lock *lock)
{
    if (lock->state == RL_LOCK_IDLE)
        rl_lock_set_claim(engine, lock, NULL);
}

void rl_lock_detach(struct rl_engine *engine, struct rl_lock *lock)
{
    lock->renewing = false;
    rl_lock_set_state(engine, lock, RL_LOCK_IDLE);
    rl_lock_set_claim(engine, lock, NULL);
}

void rl_lock_begin_hold(const struct rl_engine *engine, struct rl_lock *lock, const struct rl_acquire *wish,
                        struct rl_instant now, uint32_t ttl_ms)
{
    uint32_t granted_ms = lock->claim->ttl_ms;

    lock->renew_ms = wish->renew_ms;
    lock->at_risk_ms = wish->at_risk_ms;
    lock->risk_grows = false;
    rl_extend_remember(lock, ttl_ms);
    lock->claim->owed_ttl_ms = 0;
    if (granted_ms < ttl_ms) {
        lock->claim->owed_ttl_ms = ttl_ms;
        rl_extend_change_ttl(engine, lock, granted_ms);
    }
    lock->hold_end = wish->max_hold_ms ? rl_after(now, rl_ms(wish->max_hold_ms)) : RL_NEVER;
    lock->loss = RL_LOSS_NONE;
    lock->renewing = false;
    lock->claim->round_won = false;
    lock->round_failed = false;
    lock->warned = false;
    lock->spread = false;
    lock->stepped = false;
}

/* A bound from before a clock step that this engine has seen is worth nothing, and one from after it is regained by the
 * first renewal where enough others are left. */
static void inherit(const struct rl_engine *engine, struct rl_instant now, struct rl_claim *claim,
                    const struct rl_inheritance *inheritance)
{
    claim->ttl_ms = inheritance->ttl_ms;
    claim->longest_ttl_ms = inheritance->longest_ttl_ms;
    claim->shortest_extension_ms = inheritance->shortest_extension_ms;
    claim->loose = inheritance->loose;
    if (claim->fenced)
        rl_claim_fence(claim)->token = inheritance->fence;
    for (size_t i = 0; i < claim->n_nodes; i++) {
        rl_ledger_set(claim, i, rl_before(now, engine->votes.stepped_until[i]) ? RL_LONG_AGO : inheritance->bounds[i]);
        claim->slots[i].vote = RL_UNKNOWN; /* to be undone wherever it may be */
    }
}

bool rl_lock_adopt(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, struct rl_claim *claim,
                   const struct rl_acquire *wish, const struct rl_inheritance *inheritance)
{
    rl_claim_init(claim, engine->votes.config.n_nodes, engine->votes.config.quorum, inheritance->fence != 0);
    inherit(engine, now, claim, inheritance);
    claim->give_up = rl_surely_expired(&engine->votes.config.drift, now, claim->longest_ttl_ms);
    if (!rl_before(now, rl_ledger_deadline(claim, engine->votes.config.guard))) {
        rl_votes_settle(&engine->votes, claim);
        return false;
    }
    rl_lock_set_claim(engine, lock, claim);
    rl_lock_begin_hold(engine, lock, wish, now, inheritance->owed_ttl_ms ? inheritance->owed_ttl_ms : claim->ttl_ms);
    lock->round_start = now;
    rl_lock_set_state(engine, lock, RL_LOCK_HELD);
    rl_renew_soon(engine, lock, now); /* how old the bounds are is not known */
    return true;
}

bool rl_lock_cancel(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (lock->op == RL_OP_ACQUIRE) {
        if (lock->state != RL_LOCK_BACKING_OFF && lock->claim && !RL_MUTANT(CANCEL_WITHOUT_UNDO))
            rl_rollback_start(&engine->votes, lock->claim, RL_STEP_ROLLBACK, now);
        rl_list_remove(&lock->queue);
        rl_lock_complete(engine, lock, RL_END_CANCELED, (enum rl_end)lock->last_end);
        rl_lock_set_state(engine, lock, RL_LOCK_IDLE);
        return true;
    }
    if (lock->op == RL_OP_EXTEND) {
        rl_lock_complete(engine, lock, RL_END_CANCELED, RL_END_NONE);
        rl_lock_set_state(engine, lock, RL_LOCK_HELD);
        rl_renew_soon(engine, lock, now); /* it may have extended nothing */
        return true;
    }
    return false;
}

void rl_lock_fini(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if ((lock->state == RL_LOCK_ACQUIRING || lock->state == RL_LOCK_WAITING) && lock->claim)
        rl_rollback_start(&engine->votes, lock->claim, RL_STEP_ROLLBACK, now);
    else if (rl_lock_is_held(lock) && !RL_MUTANT(DESTROY_WITHOUT_UNDO))
        rl_rollback_start(&engine->votes, lock->claim, RL_STEP_RELEASE, now);
    rl_list_remove(&lock->queue);
    rl_lock_set_claim(engine, lock, NULL);
    engine->n_held -= rl_lock_is_held(lock);
    rl_lock_init(lock);
}

void rl_lock_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    struct rl_instant deadline = rl_lock_deadline(engine, lock);

    if (rl_lock_is_held(lock) && !rl_before(now, deadline) && !(RL_MUTANT(ALARM_WAITS) && lock->renewing)) {
        rl_lock_lose(engine, lock, now);
        return;
    }
    if (RL_MUTANT(RENEWAL_RACES_RELEASE) && lock->op == RL_OP_RELEASE)
        rl_round_start(&engine->votes, lock->claim, now);
    if (rl_lock_is_held(lock))
        rl_alarm_check(engine, lock, now, deadline);
    if (rl_before(now, lock->wake))
        return;
    if (lock->op == RL_OP_ACQUIRE)
        rl_acquire_tick(engine, lock, now);
    else if (lock->op == RL_OP_EXTEND)
        rl_extend_tick(engine, lock, now);
    else if (lock->op == RL_OP_RELEASE)
        rl_release_tick(engine, lock, now);
    else if (lock->state == RL_LOCK_HELD)
        rl_renew_tick(engine, lock, now);
    /* A new round believes what the last one could not prove: the lock may have been lost by that. */
    if (rl_lock_is_held(lock) && !rl_lock_is_valid(engine, lock, now) && !RL_MUTANT(ALARM_WAITS))
        rl_lock_lose(engine, lock, now);
}

struct rl_instant rl_lock_deadline(const struct rl_engine *engine, const struct rl_lock *lock)
{
    if (RL_MUTANT(RELEASE_KEEPS_VALIDITY) && lock->state == RL_LOCK_RELEASING)
        return rl_ledger_deadline(lock->claim, engine->votes.config.guard);
    if (!rl_lock_is_held(lock))
        return RL_LONG_AGO;
    if (RL_MUTANT(VALIDITY_IS_A_FLAG))
        return RL_NEVER;
    return rl_ledger_deadline(lock->claim, engine->votes.config.guard);
}

bool rl_lock_is_valid(const struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now)
{
    return rl_before(now, rl_lock_deadline(engine, lock));
}

struct rl_instant rl_lock_wakeup(const struct rl_engine *engine, const struct rl_lock *lock)
{
    if (!rl_lock_is_held(lock))
        return lock->wake;
    return rl_earlier(lock->wake, rl_alarm_wakeup(engine, lock));
}

void rl_lock_clock_stepped(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, unsigned node,
                           struct rl_span step)
{
    struct rl_instant bound;

    if (!lock->claim || RL_MUTANT(CLOCK_STEP_IGNORED))
        return;
    bound = lock->claim->slots[node].bound;
    if (bound.ns == RL_LONG_AGO.ns)
        return;
    bound = rl_until(now, bound).ns > step.ns ? rl_after(bound, (struct rl_span){-step.ns}) : RL_LONG_AGO;
    rl_ledger_set(lock->claim, node, bound);
    lock->stepped = true;
    if (rl_lock_is_held(lock) && !rl_lock_is_valid(engine, lock, now))
        rl_lock_lose(engine, lock, now);
}
