/* How a set of locks is acquired: which parts are tried, awaited and given up, and in which order.
 *
 * The parts stand in ascending order of their keys. The plan knows what has become of each, and nothing of locks: its
 * owner does what a step says, and tells how it ended.
 *
 *   1. A single attempt for every part at once. If all succeed, the set is held.
 *   2. Otherwise let f be the smallest part that was refused. All larger ones are given up, the smaller ones are kept.
 *   3. f is awaited in its wait queue. Then all larger ones are tried again, as in 1.
 *
 * So a set waits only for a key that is larger than all that it holds. Every other set does the same, hence no circle
 * of sets can wait for each other.
 *
 * Several permits of one semaphore have the same key, and no order: two sets that have one permit each, and wait for a
 * second one, would wait for ever. So there is a gate in front of them, a part that is given up when all are held. Of
 * all sets only the one that holds the gate waits for a permit while it has others of the same semaphore. So it keeps
 * all permits that it gets behind the gate, whichever of them it waits for. */
#ifndef RL_ENGINE_SET_H
#define RL_ENGINE_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"

/* Some of the parts of a set of locks, by their numbers. */

#define RL_SET_MAX_PARTS 96

struct rl_parts {
    uint32_t words[RL_SET_MAX_PARTS / 32]; /* bit i % 32 of word i / 32 stands for part i */
};

static inline bool rl_parts_has(struct rl_parts parts, unsigned part)
{
    return parts.words[part / 32] >> part % 32 & 1u;
}

static inline void rl_parts_add(struct rl_parts *parts, unsigned part)
{
    parts->words[part / 32] |= UINT32_C(1) << part % 32;
}

static inline void rl_parts_remove(struct rl_parts *parts, unsigned part)
{
    parts->words[part / 32] &= ~(UINT32_C(1) << part % 32);
}

static inline bool rl_parts_any(struct rl_parts parts)
{
    uint32_t any = 0;

    for (unsigned i = 0; i < RL_SET_MAX_PARTS / 32; i++)
        any |= parts.words[i];
    return any != 0;
}

/* The parts below n. */
static inline struct rl_parts rl_parts_below(unsigned n)
{
    struct rl_parts parts = {{0}};

    for (unsigned i = 0; i < n; i++)
        rl_parts_add(&parts, i);
    return parts;
}

enum rl_set_part {
    RL_PART_FREE,
    RL_PART_TRIED,
    RL_PART_REFUSED,
    RL_PART_AWAITED,
    RL_PART_HELD,
};

struct rl_set_plan {
    struct rl_parts gates;   /* the parts that are gates */
    struct rl_parts permits; /* those that stand behind one, up to the next gate or other part */
    uint32_t n;
    uint8_t parts[RL_SET_MAX_PARTS]; /* enum rl_set_part */
};

enum rl_set_outcome {
    RL_SET_PENDING,
    RL_SET_HELD,   /* every part is held; gates are given up */
    RL_SET_FAILED, /* it is given up as a whole, on account of the part `decisive` */
    RL_SET_TOO_SLOW, /* the same, since too little is left of its validity */
    RL_SET_AGAIN,    /* the same, but there is time to begin anew, after all has been given up */
};

/* What is to be done now, in this order. */
struct rl_set_step {
    struct rl_parts give_up; /* an attempt that is pending is canceled, a lock that is held is released */
    struct rl_parts try;     /* a single attempt for each */
    struct rl_parts await;   /* one part, in its wait queue */
    enum rl_set_outcome outcome;
    unsigned decisive;
};

/* Nothing is held: begins an acquisition of n parts. `permits`: those behind gates. */
struct rl_set_step rl_set_begin(struct rl_set_plan *plan, unsigned n, struct rl_parts gates, struct rl_parts permits);

/* The attempt for this part has succeeded, or the lock has been granted that it waited for. `may_wait`, here and below:
 * there is time to wait for a part that was refused. */
struct rl_set_step rl_set_granted(struct rl_set_plan *plan, unsigned part, bool may_wait);

/* It has not. A part that was tried may be awaited; one that was awaited fails the set. */
struct rl_set_step rl_set_refused(struct rl_set_plan *plan, unsigned part, bool may_wait);

/* The acquisition is given up. Where a part was lost meanwhile, another one begins after that. */
struct rl_set_step rl_set_abandon(struct rl_set_plan *plan);

/* A set of locks as a whole, from its acquisition to its end: what becomes of the set when something becomes of one of
 * its locks. The plan says which parts are tried, awaited and given up. What follows adds time: until when
 * the set may wait, what validity it must have left, and what a lost part means.
 *
 * The owner does what each step says, and tells how it ended. */

struct rl_set {
    struct rl_set_plan plan;
    const struct rl_engine *engine;
    unsigned n;
    const struct rl_lock *locks[RL_SET_MAX_PARTS]; /* in ascending order of their keys */
    struct rl_parts gates;        /* those of them that are gates */
    struct rl_parts permits;      /* ... and those that stand behind gates */
    struct rl_instant deadline;   /* of the acquisition; RL_LONG_AGO: no part is awaited; RL_NEVER */
    struct rl_span min_validity;
    bool canceled;
};

/* Begins an acquisition. The members from `engine` to `min_validity` have been set. */
struct rl_set_step rl_set_acquire(struct rl_set *set);

/* The outcome of a step was RL_SET_AGAIN, and what it said has been given up. */
struct rl_set_step rl_set_acquire_again(struct rl_set *set);

/* What was tried or awaited has been granted, or it has not. */
struct rl_set_step rl_set_part_granted(struct rl_set *set, struct rl_instant now, unsigned part);
struct rl_set_step rl_set_part_refused(struct rl_set *set, struct rl_instant now, unsigned part);

/* During the acquisition a part that was held has been lost. All is given up, and the acquisition begins anew if there
 * is time. */
struct rl_set_step rl_set_part_lost(struct rl_set *set, struct rl_instant now, unsigned part);

/* The set was held, and this part has been lost: what is to be given up, so that nothing of the set is left. */
struct rl_parts rl_set_rest(const struct rl_set *set, unsigned part);

#endif
