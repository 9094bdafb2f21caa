/* What a running engine is told: locks that it is to take and to give back. */
#ifndef ENGINES_RUN_ORDERS_H
#define ENGINES_RUN_ORDERS_H

#include "answer.h"

struct runner;
struct runner_lock;

/* What becomes of a lock. on_refused() and on_released() are the last ones, after which the lock is gone. All but these
 * two and on_acquired() may be NULL. Instants are CLOCK_MONOTONIC. */
struct runner_lock_callbacks {
    void (*on_acquired)(struct runner_lock *lock, const struct answer *answer, void *user_data);
    void (*on_refused)(struct runner_lock *lock, const struct answer *answer, void *user_data);
    void (*on_released)(struct runner_lock *lock, const struct answer *answer, void *user_data);
    void (*on_renewed)(struct runner_lock *lock, const struct answer *answer, void *user_data);
    void (*on_lost)(struct runner_lock *lock, const struct answer *answer, void *user_data);
    void (*on_valid)(struct runner_lock *lock, const struct answer *answer, void *user_data);
};

/* settings: "NAME=VALUE", not encoded, up to NULL. After on_hello(). */
void runner_open(struct runner *runner, const char *const *settings);

/* After on_opened(). NULL without memory. */
struct runner_lock *runner_acquire(struct runner *runner, const char *key, int64_t ttl_ms, int64_t timeout_ms,
                                   const struct runner_lock_callbacks *callbacks, void *user_data);
void runner_valid(struct runner_lock *lock);   /* after on_acquired(), before runner_release() */
void runner_release(struct runner_lock *lock); /* likewise, once */

/* Nobody is interested any more: no callback comes; the lock is released when it has been acquired. */
void runner_abandon(struct runner_lock *lock);

/* When nothing is in flight any more, `bye` is sent: on_ended(). */
void runner_bye(struct runner *runner);

#endif
