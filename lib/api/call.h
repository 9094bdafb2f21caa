/* A call: one operation of an object, from the function that has returned 0 to the callback, which runs once. */
#ifndef RL_API_CALL_H
#define RL_API_CALL_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include <redlock/latch.h>
#include <redlock/look.h>
#include <redlock/redlock.h>
#include <redlock/set.h>

#include "host/lock.h"
#include "util/instant.h"

struct rl_call {
    union {
        redlock_fn lock;
        redlock_set_fn set;
        redlock_latch_fn latch;
        redlock_look_fn look;
    } cb;
    void *user_data;
    struct rl_instant started;
    int16_t status;
    int16_t cause;
    uint8_t op;      /* the object's own word for it */
    bool accepted;   /* the function has returned 0, the callback has not run */
    bool ended;      /* status and cause are known */
    bool unanswered; /* of a lock: the claim's answers are not its own: an extension that a release has overtaken, the
                        release of an inner entry, or an upgrade that has not succeeded */
};

/* Books a call, whose callback the caller sets. The former one is over. */
static inline void rl_call_begin(struct rl_call *call, unsigned op, struct rl_instant now, void *user_data)
{
    assert(!call->accepted);
    *call = (struct rl_call){.user_data = user_data, .started = now, .op = (uint8_t)op, .accepted = true};
}

static inline void rl_call_end(struct rl_call *call, int status, int cause)
{
    call->status = (int16_t)status;
    call->cause = (int16_t)cause;
    call->ended = true;
}

/* Its callback is about to run: returns the call, and makes room for the next one. */
static inline struct rl_call rl_call_take(struct rl_call *call)
{
    struct rl_call taken = *call;

    call->accepted = call->ended = false;
    return taken;
}

static inline int64_t rl_call_elapsed_us(const struct rl_call *call, struct rl_instant now)
{
    return rl_until(call->started, now).ns / RL_NS_PER_US;
}

/* An acquisition, extension or conversion of a lock. A lock that is just held has none: the client lends it for as long
 * as it takes, and keeps it for the next one. */
struct rl_lock_call {
    union {
        struct rl_call call;
        struct rl_lock_call *next_spare;
    };
    char *why; /* NULL, or why the latest attempt failed that did so for want of masters, for a deadline in the next */
    struct rl_host_call host; /* comes last: it is cut off behind the masters that there are */
};

struct redlock_client;
struct redlock_lock;

/* Books a call that the host works on. False: no memory. */
bool rl_lock_call_begin(struct redlock_lock *lock, enum rl_op op, redlock_fn cb, void *user_data);

/* It is over. */
void rl_lock_call_give_back(struct redlock_lock *lock);

/* Frees what the client has kept. */
void rl_calls_fini(struct redlock_client *client);

/* Releases of inner entries that have yet to be told to their callbacks.
 *
 * A release must not fail for want of memory, so redlock_reenter() makes the room for it. */

/* Makes room for all inner entries. 0, REDLOCK_E_NOMEM; or REDLOCK_E_DEPTH, since too many wait already. */
int rl_inner_releases_reserve(struct redlock_lock *lock);

/* For an inner entry that has been left. */
void rl_inner_releases_push(struct redlock_lock *lock, const struct rl_call *call);

uint32_t rl_inner_releases_count(const struct redlock_lock *lock);

/* The oldest one. False: there is none. */
bool rl_inner_releases_shift(struct redlock_lock *lock, struct rl_call *ret_call);

/* Also when the handle is freed. */
void rl_inner_releases_fini(struct redlock_lock *lock);

#endif
