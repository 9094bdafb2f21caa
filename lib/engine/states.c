#include "engine/states.h"

#include <assert.h>

#include "engine/acquire.h"
#include "engine/extend.h"
#include "engine/hold.h"
#include "engine/release.h"
#include "engine/renew.h"
#include "engine/wait.h"

/* on_enter: the state has just begun. on_change: an answer has come. on_tick: lock->wake has come. Each says what
 * follows. NULL: nothing does. */
struct state {
    const char *name;
    unsigned next; /* the diagram of lock.h: the states that may follow */
    enum rl_op op; /* the operation that is pending in it */
    struct rl_next (*on_enter)(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                               const struct rl_next *how);
    struct rl_next (*on_change)(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);
    struct rl_next (*on_tick)(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);
};

#define TO(state) (1u << RL_LOCK_##state)

static const struct state states[RL_LOCK_STATE_COUNT] = {
    [RL_LOCK_IDLE] = {.name = "idle", .next = TO(ACQUIRING) | TO(RELEASING) | TO(HELD)},
    [RL_LOCK_ACQUIRING] = {.name = "acquiring",
                           .next = TO(HELD) | TO(WAITING) | TO(BACKING_OFF) | TO(IDLE),
                           .op = RL_OP_ACQUIRE,
                           .on_enter = rl_acquire_enter,
                           .on_change = rl_acquire_changed,
                           .on_tick = rl_acquire_tick},
    [RL_LOCK_WAITING] = {.name = "waiting",
                         .next = TO(HELD) | TO(BACKING_OFF) | TO(IDLE),
                         .op = RL_OP_ACQUIRE,
                         .on_enter = rl_wait_enter,
                         .on_change = rl_wait_changed,
                         .on_tick = rl_wait_tick},
    [RL_LOCK_BACKING_OFF] = {.name = "backing off",
                             .next = TO(ACQUIRING) | TO(WAITING) | TO(IDLE),
                             .op = RL_OP_ACQUIRE,
                             .on_tick = rl_backoff_tick},
    [RL_LOCK_HELD] = {.name = "held",
                      .next = TO(EXTENDING) | TO(RELEASING) | TO(LOST) | TO(IDLE),
                      .on_enter = rl_renew_enter,
                      .on_change = rl_renew_changed,
                      .on_tick = rl_renew_tick},
    [RL_LOCK_EXTENDING] = {.name = "extending",
                           .next = TO(HELD) | TO(RELEASING) | TO(LOST),
                           .op = RL_OP_EXTEND,
                           .on_enter = rl_extend_enter,
                           .on_change = rl_extend_changed,
                           .on_tick = rl_extend_tick},
    [RL_LOCK_RELEASING] = {.name = "releasing",
                           .next = TO(IDLE),
                           .op = RL_OP_RELEASE,
                           .on_enter = rl_release_enter,
                           .on_change = rl_release_changed,
                           .on_tick = rl_release_tick},
    [RL_LOCK_LOST] = {.name = "lost",
                      .next = TO(ACQUIRING) | TO(RELEASING) | TO(HELD),
                      .on_enter = rl_hold_tell_loss},
};

const char *rl_lock_state_name(enum rl_lock_state state)
{
    return states[state].name;
}

bool rl_lock_may_move(enum rl_lock_state from, enum rl_lock_state to)
{
    return states[from].next & (1u << to);
}

/* What is true of a lock when it has come to a state. */
static void check_invariant(const struct rl_lock *lock)
{
    bool acquires = lock->op == RL_OP_ACQUIRE;

    assert(!acquires || lock->request);
    assert(lock->state != RL_LOCK_WAITING || lock->request->entry);
    assert(!rl_lock_is_held(lock) || (lock->claim && lock->claim->lock == lock && !lock->claim->rolling_back));
    assert(lock->state != RL_LOCK_RELEASING || lock->claim);
    assert(lock->state == RL_LOCK_HELD || !lock->renewing);
    (void)acquires;
}

/* The operation that was pending ends before the state does, and what belonged to the state is cleared. */
static struct rl_next move(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                           const struct rl_next *how)
{
    const struct state *state = &states[how->state];

    assert(rl_lock_may_move((enum rl_lock_state)lock->state, how->state));
    if (how->end)
        rl_lock_complete(engine, lock, (enum rl_op)lock->op, how->end, how->cause);
    engine->n_held -= rl_lock_is_held(lock);
    lock->renewing = false;
    lock->state = (uint8_t)how->state;
    lock->op = (uint8_t)state->op;
    engine->n_held += rl_lock_is_held(lock);
    if (lock->op == RL_OP_NONE)
        lock->wake = RL_NEVER;
    check_invariant(lock);
    return state->on_enter ? state->on_enter(engine, lock, now, how) : rl_stay(lock);
}

void rl_lock_follow(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, struct rl_next next)
{
    while (next.state != (enum rl_lock_state)lock->state)
        next = move(engine, lock, now, &next);
    assert(!next.end);
}

void rl_lock_changed(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (states[lock->state].on_change)
        rl_lock_follow(engine, lock, now, states[lock->state].on_change(engine, lock, now));
}

void rl_lock_woken(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (states[lock->state].on_tick)
        rl_lock_follow(engine, lock, now, states[lock->state].on_tick(engine, lock, now));
}

void rl_lock_check_deadline(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (rl_lock_is_held(lock) && !rl_lock_is_valid(engine, lock, now))
        rl_lock_follow(engine, lock, now, rl_hold_lose(engine, lock, now));
}
