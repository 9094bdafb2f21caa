/* The functions of a lock handle: each checks what the caller asks for, and then the engine does it. */
#include "api/lock.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/redlock.h>
#include <redlock/semaphore.h>

#include "api/call.h"
#include "api/handle.h"
#include "api/object.h"
#include "api/lock_state.h"
#include "api/options.h"
#include "api/probes.h"
#include "api/public.h"
#include "api/results.h"
#include "host/lock.h"
#include "host/operations.h"
#include "host/upgrade.h"
#include "host/trust/admission.h"
#include "kinds/mutex.h"

/* What a held lock takes over five masters, beside its key. A program may hold a hundred thousand. */
_Static_assert(sizeof(struct redlock_lock) + sizeof(struct rl_host_claim) + sizeof(struct rl_claim) +
                   5 * sizeof(struct rl_vote) <= 560, "the budget of a held lock");

/* The names of a permit's slots are longer than its key, by so many bytes at most. */
static size_t longest_suffix(uint32_t limit)
{
    return limit ? (size_t)snprintf(NULL, 0, "#%" PRIu32, limit - 1) : 0;
}

/* --- Life ------------------------------------------------------------------------------------------------------- */

/* Callbacks come last, since they may do anything; they see a handle that is not held and takes no more work. What a
 * forked child finds held or pending belongs to the parent. */
static void destroy(struct rl_object *object)
{
    struct redlock_lock *lock = rl_lock_of_object(object);

    if (rl_client_forked(object->client)) {
        rl_host_remove_lock(&lock->host);
        return;
    }
    rl_usage_end_hold(lock);
    rl_host_end_lock(&lock->host);
    rl_results_cancel_all(lock);
}

/* A held lock is released whatever its depth. A lock that has been acquired is busy until its callback has said so, and
 * is released after that. */
static bool end(struct rl_object *object)
{
    struct redlock_lock *lock = rl_lock_of_object(object);

    if (rl_lock_is_acquiring(&lock->host.core)) {
        redlock_cancel(lock);
        return true;
    }
    if (lock->host.core.state != RL_LOCK_HELD && lock->host.core.state != RL_LOCK_EXTENDING)
        return false;
    lock->host.inner_entries = 0;
    return redlock_release(lock, NULL, NULL) != 0;
}

static bool is_busy(const struct rl_object *object)
{
    return rl_lock_is_busy(rl_lock_of_object(object));
}

static void deliver(struct rl_object *object)
{
    rl_results_deliver(rl_lock_of_object(object));
}

/* Only in a forked child a call may be pending: its callback is the parent's. */
static void give_memory_back(struct rl_object *object)
{
    struct redlock_lock *lock = rl_lock_of_object(object);

    rl_key_unref(lock->host.key);
    rl_inner_releases_fini(lock);
    if (lock->host.call)
        rl_lock_call_give_back(lock);
    rl_pool_give(&object->client->pool, lock);
}

const struct rl_object_type rl_lock_type = {
    .kind = RL_OBJECT_LOCK,
    .destroy = destroy,
    .end = end,
    .is_busy = is_busy,
    .deliver = deliver,
    .free = give_memory_back,
};

void rl_lock_abandon(struct redlock_lock *lock)
{
    rl_usage_end_hold(lock);
    rl_host_abandon(&lock->host);
    rl_object_not_due(&lock->object);
    lock->object.alarms = 0;
    rl_results_cancel_all(lock);
}

/* `limit` is 0 for a lock that is no permit. */
static int create(struct redlock_client *client, const void *key, size_t key_size, uint32_t limit,
                  struct redlock_lock **ret_lock)
{
    struct redlock_lock *lock = rl_pool_take(&client->pool);
    struct rl_key *name;

    if (!lock)
        return REDLOCK_E_NOMEM;
    memset(lock, 0, sizeof *lock);
    name = rl_key_create(rl_trust_prefix(&client->host), key, key_size);
    if (name)
        rl_host_add_lock(&client->host, &lock->host, name);
    if (!name || (limit && !rl_permit_attach(&lock->host, limit))) {
        if (name)
            rl_host_remove_lock(&lock->host);
        rl_key_unref(name);
        rl_pool_give(&client->pool, lock);
        return REDLOCK_E_NOMEM;
    }
    rl_object_init(&lock->object, client, &rl_lock_type);
    lock->object.key_class = rl_usage_class(&client->usage, key, key_size);
    *ret_lock = lock;
    return 0;
}

int redlock_lock_create(struct redlock_client *client, const void *key, size_t key_size, struct redlock_lock **ret_lock)
{
    int status;

    if (!client || !ret_lock || (!key && key_size))
        return REDLOCK_E_ARGUMENT;
    status = rl_key_check(client, key, key_size, 0);
    return status < 0 ? status : create(client, key, key_size, 0, ret_lock);
}

int redlock_permit_create(struct redlock_client *client, const void *key, size_t key_size, uint32_t limit,
                          struct redlock_lock **ret_lock)
{
    int status;

    if (!client || !ret_lock || (!key && key_size))
        return REDLOCK_E_ARGUMENT;
    if (limit == 0 || limit > REDLOCK_MAX_PERMITS)
        return REDLOCK_E_PERMITS;
    status = rl_key_check(client, key, key_size, longest_suffix(limit));
    return status < 0 ? status : create(client, key, key_size, limit, ret_lock);
}

void redlock_lock_destroy(struct redlock_lock *lock)
{
    rl_object_destroy(lock ? &lock->object : NULL);
}

/* --- Operations ------------------------------------------------------------------------------------------------- */

static int acquire(struct redlock_lock *lock, const struct redlock_acquire_options *options, bool once, redlock_fn cb,
                   void *user_data)
{
    struct rl_acquire request;
    int status = rl_lock_begin_new(lock, cb);

    if (status < 0)
        return status;
    status = rl_acquire_options_check(rl_client_of(lock), options, lock->host.host->now, &request);
    if (status < 0)
        return status;
    request.once |= once;
    if (rl_permit_of(&lock->host) && request.mode != RL_EXCLUSIVE)
        return REDLOCK_E_MODE;
    request.kind = rl_lock_kind(lock, request.kind);
    status = rl_lock_check_free(lock);
    if (status < 0)
        return status;
    if (!rl_lock_call_begin(lock, RL_OP_ACQUIRE, cb, user_data))
        return REDLOCK_E_NOMEM;
    rl_client_of(lock)->stats.acquires++;
    RL_PROBE(acquire, &lock->host);
    rl_host_acquire(&lock->host, &request);
    return 0;
}

int redlock_acquire(struct redlock_lock *lock, const struct redlock_acquire_options *options, redlock_fn cb,
                    void *user_data)
{
    return acquire(lock, options, false, cb, user_data);
}

int rl_lock_try(struct redlock_lock *lock, const struct redlock_acquire_options *options, redlock_fn cb,
                void *user_data)
{
    return acquire(lock, options, true, cb, user_data);
}

int redlock_extend(struct redlock_lock *lock, uint32_t ttl_ms, redlock_fn cb, void *user_data)
{
    int status = rl_lock_begin_new(lock, cb);

    if (status < 0)
        return status;
    if (ttl_ms && rl_ttl_check(rl_client_of(lock), ttl_ms) < 0)
        return REDLOCK_E_TTL;
    status = rl_lock_check_held(lock);
    if (status < 0)
        return status;
    if (!rl_lock_call_begin(lock, RL_OP_EXTEND, cb, user_data))
        return REDLOCK_E_NOMEM;
    rl_client_of(lock)->stats.extends++;
    rl_host_extend(&lock->host, ttl_ms);
    return 0;
}

/* An extension or conversion whose callback has not run makes room for the release; its callback still comes first. */
static bool overtake_extension(struct redlock_lock *lock)
{
    if (lock->release.accepted)
        return false;
    if (!lock->host.call)
        return true;
    if (rl_lock_call_of(lock)->call.op == RL_OP_ACQUIRE)
        return false;
    rl_lock_call_of(lock)->call.unanswered = true;
    return true;
}

int redlock_release(struct redlock_lock *lock, redlock_fn cb, void *user_data)
{
    int status = rl_lock_begin(lock);

    if (status < 0)
        return status;
    if (rl_host_leave(&lock->host)) {
        rl_results_queue_inner_release(lock, cb, user_data);
        return 0;
    }
    if (!overtake_extension(lock))
        return REDLOCK_E_BUSY;
    if (lock->host.core.state == RL_LOCK_IDLE)
        return REDLOCK_E_NOT_HELD;
    rl_client_of(lock)->stats.releases++;
    rl_usage_end_hold(lock);
    rl_call_begin(&lock->release, RL_OP_RELEASE, lock->host.host->now, user_data);
    lock->release.cb.lock = cb;
    rl_host_release(&lock->host);
    return 0;
}

/* `slot` is RL_NO_SLOT for a lock that is no permit. */
static int release_token(struct redlock_lock *lock, uint32_t slot, const char *token, redlock_fn cb, void *user_data)
{
    int status = token ? rl_lock_begin(lock) : REDLOCK_E_ARGUMENT;
    struct redlock_client *client;

    if (status < 0)
        return status;
    client = rl_client_of(lock);
    if (client->host.closing)
        return REDLOCK_E_CLOSING;
    if (!*token || strlen(token) > REDLOCK_MAX_TOKEN_BYTES)
        return REDLOCK_E_TOKEN;
    if (rl_permit_of(&lock->host) ? slot >= redlock_lock_limit(lock) : slot != RL_NO_SLOT)
        return REDLOCK_E_PERMITS;
    status = rl_lock_check_free(lock);
    if (status < 0)
        return status;
    rl_call_begin(&lock->release, RL_OP_RELEASE, client->host.now, user_data);
    lock->release.cb.lock = cb;
    status = rl_host_release_value(&lock->host, rl_lock_kind(lock, &rl_mutex_kind), slot, token);
    if (status < 0)
        lock->release.accepted = false;
    else
        client->stats.releases++;
    return status;
}

int redlock_release_token(struct redlock_lock *lock, const char *token, redlock_fn cb, void *user_data)
{
    return release_token(lock, RL_NO_SLOT, token, cb, user_data);
}

int redlock_release_permit(struct redlock_lock *lock, uint32_t slot, const char *token, redlock_fn cb, void *user_data)
{
    return slot == RL_NO_SLOT && lock && token ? REDLOCK_E_PERMITS : release_token(lock, slot, token, cb, user_data);
}

int redlock_lock_detach(struct redlock_lock *lock)
{
    int status = rl_lock_begin(lock);

    if (status < 0)
        return status;
    status = rl_lock_check_held_once(lock);
    if (status < 0)
        return status;
    rl_usage_end_hold(lock);
    rl_host_detach(&lock->host);
    return 0;
}

int redlock_cancel(struct redlock_lock *lock)
{
    int status = rl_lock_begin(lock);

    if (status < 0)
        return status;
    return rl_host_cancel(&lock->host) ? 0 : REDLOCK_E_NOTHING_TO_CANCEL;
}

int redlock_lock_watch(struct redlock_lock *lock, redlock_watch_fn watch, void *user_data)
{
    int status = rl_object_check(lock ? &lock->object : NULL);

    if (status < 0)
        return status;
    lock->watch = watch;
    lock->watch_data = user_data;
    return 0;
}

/* Held locks that change their mode. */

/* The larger a mode's number, the weaker it is. */
static int check_mode(const struct redlock_lock *lock, enum redlock_mode mode)
{
    if (!rl_mode_is_valid(mode) || (rl_permit_of(&lock->host) && mode != REDLOCK_EXCLUSIVE))
        return REDLOCK_E_MODE;
    return 0;
}

/* Inner entries count on the mode that they were made in. */
static int check_lock(const struct redlock_lock *lock, enum redlock_mode mode)
{
    enum redlock_mode present = redlock_lock_mode(lock);
    int status = rl_lock_check_held(lock);

    if (status < 0)
        return status;
    if (mode < present)
        return present == REDLOCK_UPGRADEABLE ? 0 : REDLOCK_E_UPGRADE;
    return mode > present ? rl_lock_check_held_once(lock) : 0;
}

static int check(const struct redlock_lock *lock, enum redlock_mode mode, int64_t timeout_ms)
{
    int status = check_mode(lock, mode);

    if (status < 0)
        return status;
    if (timeout_ms < REDLOCK_FOREVER || timeout_ms > REDLOCK_MAX_TIMEOUT_MS)
        return REDLOCK_E_TIMEOUT;
    return check_lock(lock, mode);
}

/* The answers to the second claim are the lock's own only if that becomes the lock's claim: see rl_results_queue(). */
static int upgrade(struct redlock_lock *lock, int64_t timeout_ms)
{
    struct rl_instant now = lock->host.host->now;
    struct rl_lock_call *pending = rl_lock_call_of(lock);

    pending->call.unanswered = true;
    pending->host.answers = calloc(RL_MAX_NODES, sizeof *pending->host.answers); /* the list of masters may change */
    if (!pending->host.answers)
        return REDLOCK_E_NOMEM;
    return rl_host_upgrade(&lock->host, timeout_ms > 0 ? rl_after(now, rl_ms(timeout_ms)) : RL_NEVER, timeout_ms == 0);
}

static int convert(struct redlock_lock *lock, enum redlock_mode mode, int64_t timeout_ms)
{
    if (mode < redlock_lock_mode(lock))
        return upgrade(lock, timeout_ms);
    if (mode == redlock_lock_mode(lock))
        rl_host_confirm_mode(&lock->host);
    else
        rl_host_lower(&lock->host, rl_mode_of(mode));
    return 0;
}

int redlock_convert(struct redlock_lock *lock, enum redlock_mode mode, int64_t timeout_ms, redlock_fn cb,
                    void *user_data)
{
    int status = rl_lock_begin_new(lock, cb);

    if (status < 0)
        return status;
    status = check(lock, mode, timeout_ms);
    if (status < 0)
        return status;
    if (!rl_lock_call_begin(lock, RL_OP_CONVERT, cb, user_data))
        return REDLOCK_E_NOMEM;
    status = convert(lock, mode, timeout_ms);
    if (status < 0)
        rl_lock_call_give_back(lock);
    else
        rl_client_of(lock)->stats.converts++;
    return status;
}

/* A held lock that its owner enters again. */

/* Has the callback yet to say that the lock is held? */
static bool is_being_acquired(const struct redlock_lock *lock)
{
    return lock->host.call && rl_lock_call_of(lock)->call.op == RL_OP_ACQUIRE;
}

int redlock_reenter(struct redlock_lock *lock, uint32_t min_validity_ms)
{
    int status = rl_lock_begin(lock);

    if (status < 0)
        return status;
    if (lock->host.host->closing)
        return REDLOCK_E_CLOSING;
    if (is_being_acquired(lock))
        return REDLOCK_E_BUSY;
    status = rl_host_reenter(&lock->host, rl_ms(min_validity_ms));
    if (status < 0)
        return status;
    status = rl_inner_releases_reserve(lock);
    if (status < 0)
        rl_host_leave(&lock->host);
    else
        rl_client_of(lock)->stats.reentries++;
    return status;
}

uint32_t redlock_lock_depth(const struct redlock_lock *lock)
{
    return lock && !rl_client_forked(rl_client_of(lock)) ? rl_host_depth(&lock->host) : 0;
}
