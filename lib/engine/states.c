/* The state machine of one lock handle.
 *
 *            acquire            quorum, in time
 *     IDLE -----------> ACQUIRING ------------> HELD <-----------> EXTENDING
 *      ^ ^               |  ^  | refused       ^ |  |   extend        |
 *      | | gave up       |  |  v          turn | |  | deadline        | deadline passed,
 *      | '---------------|  |  WAITING --------' |  | passed,         | quorum gone
 *      |                 |  |  |  ^              |  | quorum gone     |
 *      |                 v  |  v  |              |  v                 |
 *      |                BACKING_OFF              | LOST <-------------'
 *      |                                 release |  | release
 *      '----------------------------------- RELEASING
 *
 * Moves that the diagram leaves out:
 *
 *     WAITING, BACKING_OFF -> IDLE          the acquisition is given up, or canceled
 *     WAITING -> HELD                       also with the claim of a handle of the same cohort (cohort.c)
 *     EXTENDING -> RELEASING                the extension is canceled
 *     LOST -> ACQUIRING                     a new acquisition
 *     IDLE, LOST -> RELEASING               a value that somebody else has set (rl_lock_release_value)
 *     IDLE, LOST -> HELD; HELD -> IDLE      transfer between handles (lock.c)
 *
 * A renewal is no state: the lock stays HELD (renew.c). Nor is validity: the ledger of the claim decides it at any
 * instant (rl_lock_deadline), and a lock in HELD whose deadline has passed is worth nothing, tick or no tick. */
#include "engine/states.h"

#include <assert.h>
#include <string.h>

#include "engine/acquire.h"
#include "engine/renew.h"
#include "engine/hold.h"
#include "engine/wait.h"

/* Which part of the lock's union is a state's own. */
enum data {
    DATA_NONE,
    DATA_ACQUISITION,
    DATA_HOLD,
    DATA_RELEASING,
};

/* on_enter: the state has just begun. on_change: an answer has come. on_tick: lock->wake has come. Each says what
 * follows. NULL: nothing does. */
struct state {
    const char *name;
    unsigned next; /* the states that may follow: the diagram */
    enum rl_op op; /* the operation that is pending in it */
    enum data data;
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
                           .data = DATA_ACQUISITION,
                           .on_enter = rl_acquire_enter,
                           .on_change = rl_acquire_changed,
                           .on_tick = rl_acquire_tick},
    [RL_LOCK_WAITING] = {.name = "waiting",
                         .next = TO(HELD) | TO(BACKING_OFF) | TO(IDLE),
                         .op = RL_OP_ACQUIRE,
                         .data = DATA_ACQUISITION,
                         .on_enter = rl_wait_enter,
                         .on_change = rl_wait_changed,
                         .on_tick = rl_wait_tick},
    [RL_LOCK_BACKING_OFF] = {.name = "backing off",
                             .next = TO(ACQUIRING) | TO(WAITING) | TO(IDLE),
                             .op = RL_OP_ACQUIRE,
                             .data = DATA_ACQUISITION,
                             .on_tick = rl_backoff_tick},
    [RL_LOCK_HELD] = {.name = "held",
                      .next = TO(EXTENDING) | TO(RELEASING) | TO(LOST) | TO(IDLE),
                      .data = DATA_HOLD,
                      .on_enter = rl_renew_enter,
                      .on_change = rl_renew_changed,
                      .on_tick = rl_renew_tick},
    [RL_LOCK_EXTENDING] = {.name = "extending",
                           .next = TO(HELD) | TO(RELEASING) | TO(LOST),
                           .op = RL_OP_EXTEND,
                           .data = DATA_HOLD,
                           .on_enter = rl_extend_enter,
                           .on_change = rl_extend_changed,
                           .on_tick = rl_extend_tick},
    [RL_LOCK_RELEASING] = {.name = "releasing",
                           .next = TO(IDLE),
                           .op = RL_OP_RELEASE,
                           .data = DATA_RELEASING,
                           .on_enter = rl_release_enter,
                           .on_change = rl_release_changed,
                           .on_tick = rl_release_tick},
    [RL_LOCK_LOST] = {.name = "lost",
                      .next = TO(ACQUIRING) | TO(RELEASING) | TO(HELD),
                      .data = DATA_HOLD,
                      .on_enter = rl_alarm_enter_lost},
};

const char *rl_lock_state_name(enum rl_lock_state state)
{
    return states[state].name;
}

bool rl_lock_may_move(enum rl_lock_state from, enum rl_lock_state to)
{
    return states[from].next & (1u << to);
}

/* Asserts what is true of a lock that has come to a state and stays there, once on_enter has been carried out. */
static void check_invariant(const struct rl_lock *lock)
{
    const struct rl_claim *claim = lock->claim;
    bool own = claim && claim->lock == lock;

    assert(!claim || own);
    switch ((enum rl_lock_state)lock->state) {
    case RL_LOCK_IDLE:
        assert(lock->wake.ns == RL_NEVER.ns);
        break;
    case RL_LOCK_ACQUIRING:
    case RL_LOCK_BACKING_OFF:
        assert(lock->acquisition.request);
        break;
    case RL_LOCK_WAITING:
        assert(lock->acquisition.request && lock->acquisition.request->entry);
        break;
    case RL_LOCK_HELD:
        assert(own && !claim->rolling_back);
        break;
    case RL_LOCK_EXTENDING:
        assert(own && !claim->rolling_back && !lock->hold.renewing);
        break;
    case RL_LOCK_RELEASING:
        assert(own && claim->rolling_back);
        break;
    case RL_LOCK_LOST:
        assert(own && lock->loss && lock->wake.ns == RL_NEVER.ns);
        break;
    case RL_LOCK_STATE_COUNT:
        assert(false);
    }
    (void)own;
}

_Static_assert(sizeof(struct rl_lock_hold) >= sizeof(struct rl_acquisition), "the largest of the union");

/* The operation that was pending ends before the state does. What belongs to the state that is left does not exist in
 * the next one; that a renewal is under way means something in HELD alone. */
static struct rl_next move(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                           const struct rl_next *how)
{
    const struct state *left = &states[lock->state];
    const struct state *state = &states[how->state];
    struct rl_next next;

    assert(rl_lock_may_move((enum rl_lock_state)lock->state, how->state));
    if (how->end)
        rl_lock_complete(engine, lock, left->op, how->end, how->cause);
    engine->n_held -= rl_lock_is_held(lock);
    if (left->data != state->data)
        memset(&lock->hold, 0, sizeof lock->hold);
    else if (left->data == DATA_HOLD)
        lock->hold.renewing = false;
    lock->state = how->state & 7u;
    engine->n_held += rl_lock_is_held(lock);
    if (!rl_lock_is_pending(lock))
        lock->wake = RL_NEVER;
    next = state->on_enter ? state->on_enter(engine, lock, now, how) : rl_stay(lock);
    if (next.state == how->state)
        check_invariant(lock);
    return next;
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
        rl_lock_follow(engine, lock, now, rl_alarm_lose(engine, lock, now));
}
