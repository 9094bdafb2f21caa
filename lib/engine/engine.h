/* The engine of one client: locks, claims, links. No I/O, no clock, no memory, no randomness of its own.
 *
 * The host (the library's client, or the simulator) feeds events, each with the time at which it happened, and then
 * takes effects with rl_engine_poll() until there are none. Effects are data; the order in which they are handed out
 * is the order in which they must be carried out. In particular commands for one master must reach its connection in
 * the order of their effects: that is what puts each rollback behind its claim (protocol 2.1).
 *
 *     event  ->  rl_engine_link / rl_engine_reply / rl_lock_... / rl_engine_tick  ->  effects
 *
 * Effects that ask for something must be answered before the next event, so no callback of a user may run while effects
 * are taken:
 *
 *     RL_EFFECT_WANT_CLAIM  ->  rl_lock_begin_attempt() with a fresh claim and the time before the first byte is
 *                               queued, or rl_lock_refuse_attempt()
 *     RL_EFFECT_ACCEPT      ->  rl_lock_accept() with the time read anew (protocol 1.5)
 *     RL_EFFECT_SEND        ->  for each master of the mask, queue the command; rl_engine_reply() with FAILED at once
 *                               if that is impossible. From the first RL_STEP_ENQUEUE on the host listens for
 *                               notifications (rl_engine_notified())
 *
 * Links begin as JOINING, and an acquisition waits until a quorum of masters can vote, or no link is JOINING. The host
 * must see to it that each link leaves that state, and then call rl_lock_joined() for every lock.
 *
 * Trust (protocol section 5): the host judges each connection before it calls the link READY, and tells the judgement
 * by rl_engine_admission(). Where a master is guarded, the host writes an epoch check behind the commands of each loop
 * turn:
 *
 *     rl_engine_take_unchecked()  ->  for each master of the mask: HGET marker inc, TIME  ->  rl_engine_epoch_checked()
 *
 * A classic host tells "votes, not guarded" for every master, once.
 *
 * Timers: rl_lock_wakeup() and rl_engine_wakeup() tell when the next tick is due; ask again after every event. */
#ifndef RL_ENGINE_ENGINE_H
#define RL_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/lock.h"
#include "votes/votes.h"
#include "util/instant.h"
#include "util/list.h"

/* Renewals that would all come at once: renew.c. */
struct rl_renewal_spreading {
    struct rl_instant tick;     /* the latest in which renewals were scheduled ... */
    size_t size;                /* ... and how many of them */
    struct rl_instant filling;  /* the tick to which those that are too many go at present ... */
    size_t filled;              /* ... and how many have gone there */
};

struct rl_engine {
    struct rl_votes votes;
    uint64_t random;            /* state of the jitter's generator */
    struct rl_list notices;     /* locks with something to say */
    struct rl_list waiting_for_links; /* locks whose acquisition waits for the first connections of a quorum */
    size_t n_held;              /* locks */
    struct rl_renewal_spreading spreading;
};

void rl_engine_init(struct rl_engine *engine, const struct rl_config *config);

/* --- Events -------------------------------------------------------------------------------------------------- */

/* A link has changed. READY after DOWN pays the pending rollbacks to that master first. Before DOWN the host reports
 * every command that was in flight on it by rl_engine_reply(): FAILED if it was surely not sent, UNKNOWN otherwise. */
void rl_engine_link(struct rl_engine *engine, struct rl_instant now, unsigned node, enum rl_link link);

/* The host's judgement of a master, before its link becomes READY and whenever it changes. All masters are UNJUDGED at
 * first. */
void rl_engine_admission(struct rl_engine *engine, unsigned node,
                        const struct rl_admission_status *admission);

/* The reply to an epoch check: was everything that this connection has answered so far done in the memory that was
 * judged? If not, the host must give up the connection and have the master judged anew. */
void rl_engine_epoch_checked(struct rl_engine *engine, struct rl_instant now, unsigned node, bool same_memory);

/* The master's clock has been set forward (protocol 5.6): its new votes do not count for max_ttl. The host then calls
 * rl_lock_clock_stepped() for every lock. */
void rl_engine_clock_stepped(struct rl_engine *engine, struct rl_instant now, unsigned node);

/* What the master has granted to an attempt under way does not count: the host has learned that it must be asked
 * anew. */
void rl_lock_disregard(struct rl_lock *lock, unsigned node);

/* What else the reply to RL_STEP_ENQUEUE says. Before rl_engine_reply() for the same reply. */
void rl_engine_queued(struct rl_instant now, struct rl_claim *claim, uint32_t round, unsigned node,
                      const struct rl_entry_report *report);

/* When the refresh was sent that a notification of a grant names: the master has written it after that, so its time is
 * a reading of the clock. Known of the latest refresh only, and until the rollback; false: it is not. */
bool rl_engine_notification_sent(const struct rl_claim *claim, const struct rl_notification *notification,
                                 struct rl_instant *ret_sent);

/* A notification from this master about this claim's value. Guarded hosts have compared its incarnation with the one
 * that was judged, and its time with the master's clock. */
void rl_engine_notified(struct rl_engine *engine, struct rl_instant now, struct rl_claim *claim, unsigned node,
                        const struct rl_notification *notification);

/* The end of one command: its answer, or that there will be none. Each command handed out by RL_EFFECT_SEND must be
 * ended exactly once. `round` is the one from the effect; latency may be RL_NO_LATENCY. */
void rl_engine_reply(struct rl_engine *engine, struct rl_instant now, struct rl_claim *claim, enum rl_step step,
                     uint32_t round, unsigned node, struct rl_answer answer, uint32_t latency_us);

/* Whether a command that was certainly not applied (NOSCRIPT) may be written once more, behind all that was written
 * since. An extension may not once a later round has begun: the repetition would carry the ttl of that round, which
 * this master's bound does not know of if that round was not sent to it. Nor may a claim, extension or repair behind
 * a rollback, nor a repair whose condition does not hold any more. When the answer is yes the host must write it. */
bool rl_engine_may_repeat(struct rl_engine *engine, struct rl_instant now, const struct rl_claim *claim,
                          enum rl_step step, uint32_t round, unsigned node);

/* What is repeated may have been carried out, or may yet be, for all that is known: an extension whose outcome is
 * UNKNOWN, and that is not reported since the repetition's will be. */
void rl_engine_note_unknown(struct rl_engine *engine, struct rl_instant now, struct rl_claim *claim, unsigned node);

/* Pending rollbacks: resends and expiry. */
void rl_engine_tick(struct rl_engine *engine, struct rl_instant now);
struct rl_instant rl_engine_wakeup(const struct rl_engine *engine);

/* --- Effects ------------------------------------------------------------------------------------------------- */

enum rl_effect_kind {
    RL_EFFECT_SEND,       /* claim, step, round, nodes */
    RL_EFFECT_WANT_CLAIM, /* lock */
    RL_EFFECT_ACCEPT,     /* lock */
    RL_EFFECT_SHORTENED,  /* lock: held, and a master's vote has gone; it may have to be told of its loss earlier */
    RL_EFFECT_RENEWED,    /* lock: a renewal has found its quorum */
    RL_EFFECT_WAITING,    /* lock: in the wait queue; its place is known, or has changed (rl_lock_queue_position()) */
    RL_EFFECT_BACKOFF,    /* lock, status: an attempt failed, the next one waits for rl_lock_wakeup() */
    RL_EFFECT_AT_RISK,    /* lock: little validity is left, and no renewal has come through */
    RL_EFFECT_LOST,       /* lock: its validity ended while it was held; lock->loss says why */
    RL_EFFECT_COMPLETE,   /* lock, op, status, cause: exactly one for each operation started */
    RL_EFFECT_DISPOSE,    /* claim: nothing refers to it any more */
};

struct rl_effect {
    enum rl_effect_kind kind;
    struct rl_lock *lock;
    struct rl_claim *claim;
    enum rl_step step;
    uint32_t round;
    uint32_t nodes; /* mask */
    enum rl_op op;
    enum rl_end status;
    enum rl_end cause;
};

/* Masters to which commands have gone since the last call that need an epoch check behind them. To be asked at the end
 * of every loop turn, when all effects have been taken. */
uint32_t rl_engine_take_unchecked(struct rl_engine *engine);

/* Most answers change nothing that anybody would have to be told. */
static inline bool rl_engine_has_effects(const struct rl_engine *engine)
{
    return engine->votes.outbox || !rl_list_empty(&engine->votes.finished) || !rl_list_empty(&engine->notices);
}

/* Takes the next effect; false if there is none. Order: all sends, then disposals, whose claims the host may hand out
 * again, then the notices of locks. */
bool rl_engine_poll(struct rl_engine *engine, struct rl_effect *ret_effect);

#endif
