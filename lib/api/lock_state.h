/* A lock behind its opaque handle, and its state. */
#ifndef RL_API_LOCK_STATE_H
#define RL_API_LOCK_STATE_H

#include <stdbool.h>

#include <redlock/redlock.h>

#include "api/call.h"
#include "api/handle.h"

struct redlock_lock {
    struct rl_object object;
    struct rl_host_lock host;  /* its call is part of a struct rl_lock_call */
    struct rl_call release;    /* the release that is pending, which may overtake an extension; until it is, `started`
                                  says since when the lock is held (api/usage.c) */
    redlock_watch_fn watch;
    void *watch_data;
    struct rl_inner_releases *inner_releases; /* NULL: it has never been entered again */
};

static inline struct redlock_client *rl_client_of(const struct redlock_lock *lock)
{
    return lock->object.client;
}

static inline struct redlock_lock *rl_lock_of_object(const struct rl_object *object)
{
    return RL_CONTAINER_OF((struct rl_object *)(uintptr_t)object, struct redlock_lock, object);
}

/* NULL stays NULL. */
static inline struct redlock_lock *rl_lock_of(const struct rl_host_lock *lock)
{
    return lock ? RL_CONTAINER_OF((struct rl_host_lock *)(uintptr_t)lock, struct redlock_lock, host) : NULL;
}

/* NULL: no acquisition, extension or conversion is pending. */
static inline struct rl_lock_call *rl_lock_call_of(const struct redlock_lock *lock)
{
    return lock->host.call ? RL_CONTAINER_OF(lock->host.call, struct rl_lock_call, host) : NULL;
}

/* What each operation checks first. The host has read its clock when this returns 0; or a caller error. */
int rl_lock_begin(struct redlock_lock *lock);

/* The same for an operation with a callback, which a client that is closing does not begin any more. */
int rl_lock_begin_new(struct redlock_lock *lock, redlock_fn cb);

/* For an operation that needs a held lock: 0, REDLOCK_E_BUSY or REDLOCK_E_NOT_HELD. */
int rl_lock_check_held(const struct redlock_lock *lock);

/* The same, and REDLOCK_E_DEPTH if the lock has inner entries. */
int rl_lock_check_held_once(const struct redlock_lock *lock);

/* For an operation that needs a lock that is not held: 0, REDLOCK_E_BUSY, REDLOCK_E_ALREADY_HELD; or REDLOCK_E_DEPTH if
 * the lock has been lost, and its inner entries have not been left: a new hold would hide the loss from them. */
int rl_lock_check_free(const struct redlock_lock *lock);

/* Is some callback still to come? */
bool rl_lock_is_busy(const struct redlock_lock *lock);

/* The form that a kind has for this handle; NULL: it has none. */
const struct rl_kind *rl_lock_kind(const struct redlock_lock *lock, const struct rl_kind *kind);

/* Has its value another holder, to whom it has been handed off within a cohort? */
bool rl_lock_has_handed_off(const struct redlock_lock *lock);

#endif
