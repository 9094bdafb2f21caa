/* A set of locks as a whole, from its acquisition to its end: what becomes of the set when something becomes of one of
 * its locks. The plan (set_order.h) says which parts are tried, awaited and given up. This file adds time: until when
 * the set may wait, what validity it must have left, and what a lost part means.
 *
 * The owner does what each step says, and tells how it ended. */
#ifndef RL_ENGINE_SET_WHOLE_H
#define RL_ENGINE_SET_WHOLE_H

#include "engine/engine.h"
#include "engine/set_order.h"

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
