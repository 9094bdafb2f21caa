/* The lock or the set of locks behind each mutex, and its validity as it is published to all threads.
 *
 * All of it but the bound belongs to the loop's owner. */
#ifndef RL_BLOCKING_HOLDS_H
#define RL_BLOCKING_HOLDS_H

#include <stdbool.h>

#include <redlock/set.h>

#include "blocking/bound.h"
#include "util/list.h"
#include "util/table.h"

/* One for each service. */
struct rl_holds {
    struct rl_list all;
    struct rl_table by_lock;
    struct rl_list stale;
};

/* Finds a hold by one of its locks. */
struct rl_hold_part {
    struct rl_table_node node;
    struct rl_hold *hold;
};

/* One for each mutex. */
struct rl_hold {
    struct rl_bound bound;
    struct redlock_lock *lock;  /* at most one of these two is there; none: it has ended */
    struct redlock_set *set;
    struct rl_list link;        /* among all holds */
    struct rl_hold_part own;    /* of the lock */
    struct rl_hold_part *parts; /* of the set: room for REDLOCK_MAX_SET_KEYS */
    unsigned n_parts;
    struct rl_list stale;       /* the published validity may be wrong, until the end of this turn of the loop */
    bool may_be_held;           /* if not, there is nothing to publish */
};

void rl_holds_init(struct rl_holds *holds);
void rl_holds_fini(struct rl_holds *holds);
void rl_holds_init_one(struct rl_hold *hold);

/* The lock or the set has been created. False: no memory. */
void rl_holds_begin(struct rl_holds *holds, struct rl_hold *hold, struct redlock_lock *lock);
bool rl_holds_begin_set(struct rl_holds *holds, struct rl_hold *hold, struct redlock_set *set);

/* The set has other locks than before. */
void rl_holds_update_set(struct rl_holds *holds, struct rl_hold *hold);

/* The lock or the set is about to be destroyed. From then on callbacks find none, and the published validity is 0. */
void rl_holds_end(struct rl_holds *holds, struct rl_hold *hold);

bool rl_hold_exists(const struct rl_hold *hold);
enum redlock_state rl_hold_state(const struct rl_hold *hold);

/* Publishes what is left of the validity, so that the hold is no longer stale. */
void rl_holds_publish(struct rl_hold *hold);
void rl_holds_publish_stale(struct rl_holds *holds);
void rl_holds_publish_all(struct rl_holds *holds);

/* Marks what rl_holds_publish_stale() has to publish: one hold; that of a lock, or all if the lock is NULL. True: there
 * is something to publish. */
bool rl_holds_mark_stale(struct rl_holds *holds, struct rl_hold *hold);
bool rl_holds_mark_lock_stale(struct rl_holds *holds, const struct redlock_lock *lock);

/* Visits all holds that exist: the first for NULL, at last NULL. A loop that ends a hold asks for the next before. */
struct rl_hold *rl_holds_next(const struct rl_holds *holds, const struct rl_hold *hold);

#endif
