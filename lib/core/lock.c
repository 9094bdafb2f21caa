#include "core/lock.h"

#include <assert.h>
#include <string.h>

#include "core/machine.h"

#define TO(state) (1u << RL_LOCK_##state)

/* The diagram of lock.h as a table: the states that may follow each state. */
static const struct {
    const char *name;
    unsigned next;
} states[RL_LOCK_STATE_COUNT] = {
    [RL_LOCK_IDLE] = {"idle", TO(ACQUIRING) | TO(RELEASING)},
    [RL_LOCK_ACQUIRING] = {"acquiring", TO(HELD) | TO(BACKING_OFF) | TO(IDLE)},
    [RL_LOCK_BACKING_OFF] = {"backing off", TO(ACQUIRING) | TO(IDLE)},
    [RL_LOCK_HELD] = {"held", TO(EXTENDING) | TO(RELEASING) | TO(LOST) | TO(IDLE)},
    [RL_LOCK_EXTENDING] = {"extending", TO(HELD) | TO(RELEASING) | TO(LOST)},
    [RL_LOCK_RELEASING] = {"releasing", TO(IDLE)},
    [RL_LOCK_LOST] = {"lost", TO(ACQUIRING) | TO(RELEASING)},
};

static enum rl_op op_of_state(enum rl_lock_state state)
{
    if (state == RL_LOCK_ACQUIRING || state == RL_LOCK_BACKING_OFF)
        return RL_OP_ACQUIRE;
    if (state == RL_LOCK_EXTENDING)
        return RL_OP_EXTEND;
    return state == RL_LOCK_RELEASING ? RL_OP_RELEASE : RL_OP_NONE;
}

/* The only place that changes the state. The pending operation follows from it. */
void rl_lock_set_state(struct rl_lock *lock, enum rl_lock_state state)
{
    assert(states[lock->state].next & (1u << state));
    lock->state = (uint8_t)state;
    lock->op = (uint8_t)op_of_state(state);
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
    rl_list_init(&lock->notice);
    rl_list_init(&lock->gathering);
    lock->wake = RL_NEVER;
}

void rl_lock_notify(struct rl_engine *engine, struct rl_lock *lock, enum rl_notice notice)
{
    lock->notices = (uint8_t)(lock->notices | notice);
    if (rl_list_empty(&lock->notice))
        rl_list_append(&engine->notices, &lock->notice);
}

void rl_lock_complete(struct rl_engine *engine, struct rl_lock *lock, enum rl_end status, enum rl_end cause)
{
    assert(!(lock->notices & RL_NOTICE_COMPLETE));
    lock->ended_op = lock->op;
    lock->ended = (uint8_t)status;
    lock->ended_cause = (uint8_t)cause;
    rl_lock_notify(engine, lock, RL_NOTICE_COMPLETE);
}

void rl_lock_set_claim(struct rl_engine *engine, struct rl_lock *lock, struct rl_claim *claim)
{
    struct rl_claim *former = lock->claim;

    lock->claim = claim;
    if (claim)
        claim->lock = lock;
    if (former) {
        former->lock = NULL;
        rl_claim_settle(engine, former);
    }
}

void rl_lock_forget(struct rl_engine *engine, struct rl_lock *lock)
{
    if (lock->state == RL_LOCK_IDLE)
        rl_lock_set_claim(engine, lock, NULL);
}

void rl_lock_lose(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    bool extending = lock->state == RL_LOCK_EXTENDING;

    if (!RL_MUTANT(LOSS_WITHOUT_UNDO))
        rl_claim_undo(engine, lock->claim, RL_STEP_RELEASE, now);
    if (extending)
        rl_lock_complete(engine, lock, RL_END_LOST, RL_END_NONE);
    rl_lock_set_state(lock, RL_LOCK_LOST);
    rl_lock_notify(engine, lock, RL_NOTICE_LOST);
    engine->counters.lost++;
}

void rl_lock_detach(struct rl_engine *engine, struct rl_lock *lock)
{
    rl_lock_set_state(lock, RL_LOCK_IDLE);
    rl_lock_set_claim(engine, lock, NULL);
}

bool rl_lock_cancel(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (lock->op == RL_OP_ACQUIRE) {
        if (lock->state == RL_LOCK_ACQUIRING && lock->claim && !RL_MUTANT(CANCEL_WITHOUT_UNDO))
            rl_claim_undo(engine, lock->claim, RL_STEP_ROLLBACK, now);
        rl_list_remove(&lock->gathering);
        rl_lock_complete(engine, lock, RL_END_CANCELED, (enum rl_end)lock->last_end);
        rl_lock_set_state(lock, RL_LOCK_IDLE);
        return true;
    }
    if (lock->op == RL_OP_EXTEND) {
        rl_lock_complete(engine, lock, RL_END_CANCELED, RL_END_NONE);
        rl_lock_set_state(lock, RL_LOCK_HELD);
        return true;
    }
    return false;
}

void rl_lock_fini(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (lock->state == RL_LOCK_ACQUIRING && lock->claim)
        rl_claim_undo(engine, lock->claim, RL_STEP_ROLLBACK, now);
    else if ((lock->state == RL_LOCK_HELD || lock->state == RL_LOCK_EXTENDING) && !RL_MUTANT(DESTROY_WITHOUT_UNDO))
        rl_claim_undo(engine, lock->claim, RL_STEP_RELEASE, now);
    rl_list_remove(&lock->notice);
    rl_list_remove(&lock->gathering);
    rl_lock_set_claim(engine, lock, NULL);
    rl_lock_init(lock);
}

void rl_lock_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if ((lock->state == RL_LOCK_HELD || lock->state == RL_LOCK_EXTENDING) &&
        !rl_before(now, rl_lock_deadline(engine, lock)))
        rl_lock_lose(engine, lock, now);
    else if (rl_before(now, lock->wake))
        return;
    else if (lock->op == RL_OP_ACQUIRE)
        rl_acquire_tick(engine, lock, now);
    else if (lock->op == RL_OP_EXTEND)
        rl_extend_tick(engine, lock, now);
    else if (lock->op == RL_OP_RELEASE)
        rl_release_tick(engine, lock, now);
}

struct rl_instant rl_lock_deadline(const struct rl_engine *engine, const struct rl_lock *lock)
{
    if (RL_MUTANT(RELEASE_KEEPS_VALIDITY) && lock->state == RL_LOCK_RELEASING)
        return rl_ledger_deadline(lock->claim, engine->config.quorum, engine->config.guard);
    if (lock->state != RL_LOCK_HELD && lock->state != RL_LOCK_EXTENDING)
        return RL_LONG_AGO;
    if (RL_MUTANT(VALIDITY_IS_A_FLAG))
        return RL_NEVER;
    return rl_ledger_deadline(lock->claim, engine->config.quorum, engine->config.guard);
}

struct rl_instant rl_lock_wakeup(const struct rl_engine *engine, const struct rl_lock *lock)
{
    if (lock->state != RL_LOCK_HELD && lock->state != RL_LOCK_EXTENDING)
        return lock->wake;
    return rl_earlier(lock->wake, rl_lock_deadline(engine, lock));
}
