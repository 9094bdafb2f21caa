/* The engine of one client: what its locks do. It has no I/O, clock, memory or random numbers of its own.
 *
 * The host feeds events, each with the time at which it happened, and then takes effects with rl_engine_poll() until
 * there are none. Effects are data, and must be carried out in the order in which they are handed out. In particular,
 * the commands of one claim must reach each master's connection in the order of their effects: that is what puts each
 * rollback behind its claim (rule 3.1).
 *
 *     event  ->  rl_engine_link / rl_engine_reply / rl_lock_... / rl_engine_tick  ->  effects
 *
 * An effect that asks for something must be answered before the next event, so no callback of a user may run while
 * effects are taken:
 *
 *     RL_EFFECT_WANT_CLAIM  ->  rl_lock_begin_attempt() with a fresh claim and the time before the first byte is
 *                               queued, or rl_lock_refuse_attempt()
 *     RL_EFFECT_ACCEPT      ->  rl_lock_accept() with the time read anew (rule 2.6)
 *     RL_EFFECT_SEND        ->  for each master of the mask, queue the command; rl_engine_reply() with FAILED at once
 *                               if that is impossible. From the first RL_STEP_ENQUEUE on the host listens for
 *                               notifications (rl_engine_notified())
 *
 * Links begin as JOINING. An acquisition waits until a quorum of masters can vote, or until no link is JOINING. The
 * host must see to it that each link leaves that state, and then call rl_lock_joined() for every lock.
 *
 * Trust (rules 5): the host decides on each connection's master before it calls the link READY, and tells
 * the engine by rl_engine_admission(). Where the status says epoch_checked, the host writes an epoch check behind the
 * commands of each turn of the loop:
 *
 *     rl_engine_take_unchecked()  ->  for each master of the mask: HGET marker inc, TIME  ->  rl_engine_epoch_checked()
 *
 * A host of the classic profile says once, for every master, that it votes and needs no epoch check.
 *
 * Timers: rl_lock_wakeup() and rl_engine_wakeup() say when the next tick is due; the host asks again after every
 * event. */
#ifndef RL_ENGINE_ENGINE_H
#define RL_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/lock.h"
#include "votes/event.h"
#include "votes/votes.h"
#include "util/instant.h"
#include "util/list.h"

/* Spreads renewals of which too many would come at once: renew.c. */
struct rl_renewal_spreading {
    struct rl_instant tick;    /* the latest tick in which renewals were scheduled ... */
    size_t size;               /* ... and how many */
    struct rl_instant filling; /* the tick to which excess renewals go at present ... */
    size_t filled;             /* ... and how many have gone there */
};

struct rl_engine {
    struct rl_votes votes;
    uint64_t random;                  /* state of the jitter's generator */
    struct rl_list notices;           /* locks with something to say */
    struct rl_list waiting_for_links; /* locks whose acquisition waits for the first connections of a quorum */
    size_t n_held;                    /* locks that are held */
    struct rl_renewal_spreading spreading;
};

void rl_engine_init(struct rl_engine *engine, const struct rl_config *config);

/* --- Events -------------------------------------------------------------------------------------------------- */

/* A link has changed. When it is READY after DOWN, the rollbacks that are pending there are sent first. Before DOWN the
 * host reports every command that was in flight on the link by rl_engine_reply(): FAILED if it was surely not sent,
 * UNKNOWN otherwise. */
void rl_engine_link(struct rl_engine *engine, struct rl_instant now, unsigned node, enum rl_link link);

/* A master's admission status, before its link becomes READY and whenever it changes. All masters begin as
 * UNEVALUATED. */
void rl_engine_admission(struct rl_engine *engine, unsigned node, const struct rl_admission_status *admission);

/* A new list of masters: how many have a place, the quorum, its members, and those that have just got their places. */
struct rl_engine_list {
    size_t n_nodes;
    size_t quorum;
    uint32_t members;
    uint32_t newcomers;
};

/* The list has changed. rl_lock_adopt() for each lock, and rl_engine_greeted() for each member follow. */
void rl_engine_adopt(struct rl_engine *engine, const struct rl_engine_list *list);

/* A master has got a place, and is no member: it has no vote before a list names it. */
void rl_engine_invite(struct rl_engine *engine, unsigned node);

/* A member has said by which list it votes, or cannot be asked: it is greeted no more. */
void rl_engine_greeted(struct rl_engine *engine, struct rl_instant now, unsigned node);

/* After rl_engine_admission(), except before the first event: what has waited for a quorum that can vote may begin. */
void rl_engine_admissions_changed(struct rl_engine *engine, struct rl_instant now);

/* Resends pending rollbacks, and ends those of expired claims, when rl_engine_wakeup() has come. */
void rl_engine_tick(struct rl_engine *engine, struct rl_instant now);
struct rl_instant rl_engine_wakeup(const struct rl_engine *engine);

/* --- Effects ------------------------------------------------------------------------------------------------- */

enum rl_effect_kind {
    RL_EFFECT_SEND,       /* claim, step, round, nodes */
    RL_EFFECT_WANT_CLAIM, /* lock */
    RL_EFFECT_ACCEPT,     /* lock */
    RL_EFFECT_EARLIER,    /* lock: rl_lock_wakeup() is earlier than it was */
    RL_EFFECT_RENEWED,    /* lock: a renewal has found its quorum */
    RL_EFFECT_WAITING,    /* lock: its position in the queues is known, or has changed (rl_lock_queue_position()) */
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

/* Masters to which commands have gone since the last call that need an epoch check behind them. The host asks at the
 * end of every turn of the loop, when all effects have been taken. */
uint32_t rl_engine_take_unchecked(struct rl_engine *engine);

/* A quick look: most answers have no effects. */
static inline bool rl_engine_has_effects(const struct rl_engine *engine)
{
    return engine->votes.outbox || !rl_list_empty(&engine->votes.finished) || !rl_list_empty(&engine->notices);
}

/* Takes the next effect; false if there is none. Sends come first, then disposals, whose claims the host may hand out
 * again, then what locks have to say. */
bool rl_engine_poll(struct rl_engine *engine, struct rl_effect *ret_effect);

#endif
