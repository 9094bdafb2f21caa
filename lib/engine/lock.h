/* One lock handle: its operations, its states, and what belongs to each state. states.c has the diagram.
 *
 * The host finds further operations in cohort.h, and questions in hold.h and wait.h. */
#ifndef RL_ENGINE_LOCK_H
#define RL_ENGINE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/entry.h"
#include "util/instant.h"
#include "util/list.h"
#include "votes/votes.h"

struct rl_claim;
struct rl_engine;

enum rl_lock_state {
    RL_LOCK_IDLE,
    RL_LOCK_ACQUIRING,
    RL_LOCK_WAITING,
    RL_LOCK_BACKING_OFF,
    RL_LOCK_HELD,
    RL_LOCK_EXTENDING,
    RL_LOCK_RELEASING,
    RL_LOCK_LOST,
    RL_LOCK_STATE_COUNT,
};

enum rl_op {
    RL_OP_NONE,
    RL_OP_ACQUIRE,
    RL_OP_EXTEND,
    RL_OP_RELEASE,
    RL_OP_CONVERT, /* for the host: to the engine it is an extension */
};

/* How an operation or an attempt ended. */
enum rl_end {
    RL_END_NONE, /* not ended */
    RL_END_OK,
    RL_END_HELD,      /* refused by so many that no quorum is possible */
    RL_END_NO_QUORUM, /* so many failed or did not answer that no quorum is possible */
    RL_END_TOO_SLOW,  /* no quorum had granted while enough validity was left */
    RL_END_DEADLINE,
    RL_END_CANCELED,
    RL_END_LOST,
    RL_END_REFUSED_BY_HOST, /* no claim could be made: the host knows why */
};

/* What an acquisition does that finds the key taken. */
enum rl_wait {
    RL_WAIT_SPIN,  /* it tries again after a pause */
    RL_WAIT_QUEUE, /* it enters the wait queues (wait.c) */
    RL_WAIT_FIFO,  /* it has entered them at once, without a plain attempt that may overtake others */
};

struct rl_acquire {
    uint32_t ttl_ms;
    uint32_t max_attempts;     /* 0: no limit; plain retry (RL_WAIT_SPIN) only */
    struct rl_span retry_delay;
    struct rl_span retry_jitter;
    struct rl_span min_validity;
    struct rl_instant deadline; /* RL_NEVER: none */
    uint32_t renew_ms;          /* between renewals of the held lock; 0: it is not renewed */
    uint32_t at_risk_ms;        /* so much validity is left when the holder is warned; 0: it is not warned */
    uint32_t max_hold_ms;       /* no renewal begins after that; 0: no limit */
    bool once;                  /* a single attempt: it ends with its own outcome, not with DEADLINE */
    bool front;                 /* it stands in front of the wait queues: it holds the lock in a weaker mode */
    bool elsewhere;             /* told by the host: another key may be free. Then a single attempt that was refused is
                                   followed by some more, unless max_attempts forbids it */
    const struct rl_kind *kind;
    uint8_t mode;           /* enum rl_mode */
    bool own_token;         /* for the host: the value belongs to this hold alone */
    uint8_t wait;           /* enum rl_wait */
    struct rl_entry *entry; /* the host's memory for the engine; may be NULL with RL_WAIT_SPIN */
    const char *label;      /* for the host: of the values; borrowed as long as the request; NULL: the client's */
};

/* Why a held lock was lost. */
enum rl_loss {
    RL_LOSS_NONE,
    RL_LOSS_EXPIRED,     /* the deadline passed, and no renewal had been tried since the last successful one */
    RL_LOSS_UNREACHABLE, /* the deadline passed: renewals found too few masters */
    RL_LOSS_REFUSED,     /* too many masters no longer have the key, or have another's */
    RL_LOSS_CLOCK_STEP,  /* masters' clocks were set forward */
    RL_LOSS_HOLD_LIMIT,  /* the deadline passed, and max_hold_ms forbade renewals */
};

/* ACQUIRING, WAITING, BACKING_OFF: the acquisition that is pending. */
struct rl_acquisition {
    const struct rl_acquire *request; /* borrowed from the host until the acquisition completes */
    uint32_t attempts;
};

/* HELD, EXTENDING; and LOST, of the hold that was lost. */
struct rl_lock_hold {
    struct rl_instant end; /* no renewal begins from then on */
    uint32_t renew_ms;     /* in proportion to the present ttl: hold.c */
    uint32_t at_risk_ms;
    uint16_t renew_part;    /* as the request says, in 65536th of its ttl */
    uint16_t at_risk_part;
    bool renewing : 1;     /* HELD only: a renewal round is under way */
    bool round_failed : 1; /* no round since has found a quorum */
    bool warned : 1;       /* the holder knows that the lock is at risk */
    bool risk_grows : 1;   /* at_risk_ms becomes longer, as the ttl does, with the next round that finds its quorum */
    bool spread : 1;       /* the next renewal comes early, so that fewer come at once */
    bool stepped : 1;      /* the latest change of the claim's bounds was a clock step */
};

/* RELEASING. */
struct rl_releasing {
    bool was_lost; /* the release began after the validity had ended */
    bool joining;  /* some masters had yet to be connected to when their time was last counted from */
};

struct rl_lock {
    struct rl_list queue; /* in the engine's list of notices, or of those that wait for the first connections */
    struct rl_claim *claim;        /* current or latest; its ledger and evidence */
    struct rl_instant round_start; /* of the claim's latest round */
    struct rl_instant wake;        /* next tick for the pending operation or the renewal, RL_NEVER if there is none */
    union {                   /* the state's own; nothing in IDLE. states.c clears it */
        struct rl_acquisition acquisition;
        struct rl_lock_hold hold;
        struct rl_releasing releasing;
    };
    unsigned state : 3;    /* enum rl_lock_state, from which the pending operation follows */
    unsigned notices : 10; /* set of enum rl_notice (engine/handle.h) */
    /* What the host is told by effects: it outlives the state that it tells of. */
    unsigned ended : 3;    /* of the completion to be handed out: enum rl_op, */
    unsigned status : 4;   /* enum rl_end, */
    unsigned cause : 4;    /* enum rl_end */
    unsigned attempt : 4;  /* enum rl_end of the latest attempt */
    unsigned loss : 3;     /* enum rl_loss of the latest hold */
    uint32_t attempts;     /* of the operation that has completed */
};

void rl_lock_init(struct rl_lock *lock);

/* An operation is pending. */
static inline bool rl_lock_is_pending(const struct rl_lock *lock)
{
    return lock->state != RL_LOCK_IDLE && lock->state != RL_LOCK_HELD && lock->state != RL_LOCK_LOST;
}

/* ... an acquisition. */
static inline bool rl_lock_is_acquiring(const struct rl_lock *lock)
{
    return lock->state == RL_LOCK_ACQUIRING || lock->state == RL_LOCK_WAITING || lock->state == RL_LOCK_BACKING_OFF;
}

/* The engine forgets the handle: a pending operation ends without a completion, a held value is released, and one whose
 * attempt is undecided is rolled back. Effects that send follow; none names the lock. */
void rl_lock_fini(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* The list of masters has changed (rl_engine_adopt() has been called, and the members are being greeted). What has not
 * been acquired begins anew when it is known who votes. A lock that is held goes on with `claim`, which is memory as
 * for rl_lock_begin_attempt() for its value; NULL where rl_lock_needs_claim() says no. */
bool rl_lock_needs_claim(const struct rl_lock *lock);
void rl_lock_adopt(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, struct rl_claim *claim);

/* A member votes by the list that the client has. */
void rl_lock_greeted(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, unsigned node);

/* State IDLE: gives up the latest claim; its evidence is not needed any more. */
void rl_lock_forget(struct rl_engine *engine, struct rl_lock *lock);

/* --- Operations: each is followed by exactly one RL_EFFECT_COMPLETE ------------------------------------------- */

/* State IDLE or LOST. The request is borrowed until RL_EFFECT_COMPLETE has been handed out. */
void rl_lock_acquire(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                     const struct rl_acquire *request);

/* State HELD, before the deadline; ttl_ms 0: as before. A renewal that is under way ends. */
void rl_lock_extend(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, uint32_t ttl_ms);

/* State HELD, EXTENDING (whose operation ends with CANCELED first) or LOST. */
void rl_lock_release(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* State IDLE or LOST: rolls back a value that some other handle, perhaps of another process, has set. The claim (memory
 * as for rl_lock_begin_attempt()) counts as possibly set on every master, with a key that lives ttl_ms at most. */
void rl_lock_release_value(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                           struct rl_claim *claim, const struct rl_kind *kind, uint32_t ttl_ms);

/* Ends a pending acquisition or extension with CANCELED; false if there is none. */
bool rl_lock_cancel(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* --- Answers to effects, and time ------------------------------------------------------------------------------ */

/* RL_EFFECT_WANT_CLAIM: memory of rl_claim_size(n, request->kind) bytes, whose host member is kept. The proposal is the
 * wall clock in microseconds or, if that is larger, one more than the largest counter that any answer has shown for
 * this key (rules 7.5 and 8.4). */
void rl_lock_begin_attempt(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                           struct rl_claim *claim, uint64_t proposal);
void rl_lock_refuse_attempt(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* RL_EFFECT_ACCEPT. */
void rl_lock_accept(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* State WAITING: leaves the wait queues, and enters them again with a fresh claim and the same ticket. The host may
 * choose another key for it. false: it has votes that may be the first ones of a quorum, or there is no claim to be
 * given up. */
bool rl_lock_move(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* The master's link is no longer JOINING: an attempt that began without this master asks it, or counts it as failed.
 * The host calls this after rl_engine_link(), for every lock. */
void rl_lock_joined(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, unsigned node);

/* The host has learned that the master must be asked anew: what it has granted to an attempt under way does not
 * count. */
void rl_lock_disregard(struct rl_lock *lock, unsigned node);

/* The host calls this at rl_lock_wakeup() or later, any number of times. It must have processed every reply that had
 * arrived before `now`. */
void rl_lock_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* The part of it that warns of a loss, or tells of it; false: the lock was held, and is lost. */
bool rl_lock_tick_alarm(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);
struct rl_instant rl_lock_wakeup(const struct rl_engine *engine, const struct rl_lock *lock);

/* After an event that the host did not begin itself, such as an answer. Where the wake-up comes earlier than `former`,
 * its value before the event, the host is told, since its timer would be late. */
void rl_lock_tell_earlier(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant former);

/* A held lock that gets another mode. */

/* State HELD, before the deadline: lowers the mode of the hold, at once, and begins an extension that tells the
 * masters; until all of them know, every extension does. `kind` is the claim's, or the form of it that knows modes; the
 * mode is no stronger than it is. */
void rl_lock_lower(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, const struct rl_kind *kind,
                   enum rl_mode mode);

/* Both have claims of one owner under one key, `by` has just been acquired and is HELD, and no operation of `lock` is
 * pending. `lock` gets the claim of `by`, its own one is released, and `by` is IDLE. False: `lock` is not valid any
 * more, and only that has been noticed. There is no completion. */
bool rl_lock_replace(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, struct rl_lock *by);

/* The transfer of a held lock from one handle to another, perhaps of another process. */

/* What one handle exports, and another imports, to transfer a lock. */
struct rl_exported_state {
    const struct rl_kind *kind;
    uint32_t ttl_ms;
    uint32_t longest_ttl_ms;
    uint32_t shortest_extension_ms;
    uint64_t fence;
    const struct rl_instant *bounds; /* one for each master */
    uint32_t unresolved_extension;   /* mask of masters */
    uint32_t full_ttl_ms;            /* not 0: ttl_ms is a lease, and the first extension must bring this ttl */
    uint8_t mode;                    /* enum rl_mode */
    uint32_t ungreeted;              /* members whose bounds do not count yet (rule 15.9) ... */
    uint32_t newcomers;              /* ... those that have had no key yet ... */
    struct rl_instant standing;      /* ... and the standing deadline, guard included; 0: there is none */
};

/* State IDLE or LOST: takes over a lock that another handle has given up by rl_lock_detach(). The claim is memory as
 * for rl_lock_begin_attempt(), for state->kind. True: the lock is valid and HELD, and is renewed soon. False: nothing
 * has changed, and the claim goes back at once (RL_EFFECT_DISPOSE). There is no completion. */
bool rl_lock_import(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, struct rl_claim *claim,
                    const struct rl_acquire *request, const struct rl_exported_state *state);

/* State HELD: the handle becomes IDLE, and the keys stay where they are until their ttl ends. There is no
 * completion. */
void rl_lock_detach(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

#endif
