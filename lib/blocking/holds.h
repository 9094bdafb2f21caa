/* The lock or the set of locks behind each mutex, and its validity as it is published to all threads.
 *
 * All of it but the bound belongs to the loop's owner. */
#ifndef RL_BLOCKING_HOLDS_H
#define RL_BLOCKING_HOLDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <redlock/options.h>
#include <redlock/set.h>

#include "util/clock.h"
#include "util/list.h"
#include "util/table.h"

/* The validity of a held lock, published by the loop's owner (loop.h) for all threads.
 *
 * IMPLEMENTATION NOTES
 *
 * The client's own clock (util/clock.h) belongs to the loop's owner. So the end of the validity is published as a
 * reading of each of the two system clocks, and a reader takes the smaller remainder: from the publication on, elapsed
 * time is the larger of the two differences, as rule 4.9 has it. The readings are taken before
 * the client is asked what is left, so the published end is never later than the true one. A later end (a renewal) may
 * be published late. An earlier end (a shorter ttl, a refusal, a release) is published in the same turn of the loop in
 * which the client learns of it, and before the bytes that cause it leave.
 *
 * The numbers have to fit together. Therefore a sequence number is odd while they are written, and a reader that
 * finds it odd or changed reads again. The stores in between release and the loads acquire, which keeps them between
 * the two looks at the sequence. */

/* What is published of a hold, beside its end. Nothing held: no token, and the default mode. */
struct rl_bound_hold {
    uint64_t fence; /* 0: the hold has no fencing token */
    enum redlock_mode mode;
};

struct rl_bound {
    _Atomic uint32_t sequence;
    _Atomic int64_t boot_end_ns;
    _Atomic int64_t raw_end_ns;
    _Atomic uint64_t fence;
    _Atomic uint32_t mode;
    _Atomic uint32_t withheld; /* release calls that the owner has not begun */
};

/* Not held. */
void rl_bound_init(struct rl_bound *bound);

/* The owner. `before` was made by rl_clock_init() before `remaining_ns` was asked for; 0: not held. */
void rl_bound_publish(struct rl_bound *bound, const struct rl_clock *before, int64_t remaining_ns,
                      struct rl_bound_hold hold);

/* Any thread: from the first call until the second nothing is left, whatever is published. */
void rl_bound_withhold(struct rl_bound *bound);
void rl_bound_restore(struct rl_bound *bound);

/* Any thread. ret_hold may be NULL. */
int64_t rl_bound_remaining_ns(const struct rl_bound *bound, struct rl_bound_hold *ret_hold);

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
