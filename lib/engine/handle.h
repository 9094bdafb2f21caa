/* What the files of the engine do with a lock: what it has to say, what follows in its life, its claim. */
#ifndef RL_ENGINE_HANDLE_H
#define RL_ENGINE_HANDLE_H

#include "engine/engine.h"

/* What a lock has to say to the host, in the order in which effects are handed out. */
enum rl_notice {
    RL_NOTICE_LOST = 1,
    RL_NOTICE_EXTEND_CANCELED = 2, /* not COMPLETE, since the release that caused it may end in the same event */
    RL_NOTICE_COMPLETE = 4,
    RL_NOTICE_WAITING = 8,
    RL_NOTICE_BACKOFF = 16,
    RL_NOTICE_RENEWED = 32,
    RL_NOTICE_AT_RISK = 64,
    RL_NOTICE_WANT_CLAIM = 128,
    RL_NOTICE_ACCEPT = 256,
    RL_NOTICE_EARLIER = 512,
};

#define RL_NOTICES 0x3ffu /* all of them */

/* What a handler of a state says of its lock: the state that follows, how the pending operation ends, and what the
 * state that follows begins with. states.c alone moves a lock. No handler calls one of another state; that of a
 * tick or a beginning may end with the one that looks at the answers, since those that count may be there already. */
struct rl_next {
    enum rl_lock_state state;
    enum rl_end end;   /* RL_END_NONE: the operation goes on, or there is none */
    enum rl_end cause;
    const struct rl_acquire *request; /* ACQUIRING: a new acquisition's; HELD: a new hold's; NULL: it goes on */
    uint32_t ttl_ms;   /* HELD with a request: what the hold is for; EXTENDING: the caller's, 0: as before */
    bool handed_off;   /* HELD with a request: by a waiter of the same client, with the claim */
    bool soon;         /* HELD: what the masters have done is not known, so the renewal comes soon */
    bool was_lost;     /* RELEASING: after the validity had ended */
};

static inline struct rl_next rl_stay(const struct rl_lock *lock)
{
    return (struct rl_next){.state = (enum rl_lock_state)lock->state};
}

static inline struct rl_next rl_go(enum rl_lock_state state, enum rl_end end, enum rl_end cause)
{
    return (struct rl_next){.state = state, .end = end, .cause = cause};
}

/* Held as far as the state machine knows; the ledger decides what that is worth. */
static inline bool rl_lock_is_held(const struct rl_lock *lock)
{
    return lock->state == RL_LOCK_HELD || lock->state == RL_LOCK_EXTENDING;
}

/* The length of ticks, at which many locks do together what each does time and again: the engine's, but no longer than
 * that, and never 0. */
static inline int64_t rl_tick_ns(const struct rl_engine *engine, int64_t longest_ns)
{
    int64_t tick = engine->votes.config.tick.ns < longest_ns ? engine->votes.config.tick.ns : longest_ns;

    return tick > 0 ? tick : 1;
}

static inline struct rl_instant rl_on_tick(struct rl_instant at, int64_t tick_ns)
{
    return (struct rl_instant){at.ns - at.ns % tick_ns};
}

/* The host will be told. */
void rl_lock_notify(struct rl_engine *engine, struct rl_lock *lock, enum rl_notice notice);

/* It is told no more, or has been told. */
static inline void rl_lock_drop_notices(struct rl_lock *lock, unsigned notices)
{
    lock->notices &= ~notices & RL_NOTICES;
}

/* The operation has ended. */
void rl_lock_complete(struct rl_engine *engine, struct rl_lock *lock, enum rl_op op, enum rl_end status,
                      enum rl_end cause);

/* Makes `claim` (NULL: none) the lock's claim; the former one goes on without the lock, until it is rolled back. */
void rl_lock_set_claim(struct rl_engine *engine, struct rl_lock *lock, struct rl_claim *claim);

#endif
