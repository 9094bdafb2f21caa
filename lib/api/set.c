/* Sets: their life and their keys. A set is made of ordinary locks. */
#include "api/set_handle.h"

#include <redlock/semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "api/handle.h"
#include "api/lifetime.h"
#include "api/set_hold.h"
#include "api/set_pending.h"

int redlock_set_create(struct redlock_client *client, struct redlock_set **ret_set)
{
    struct redlock_set *set;

    if (!client || !ret_set)
        return REDLOCK_E_ARGUMENT;
    if (rl_client_forked(client))
        return REDLOCK_E_FORKED;
    if (client->host.closing)
        return REDLOCK_E_CLOSING;
    set = calloc(1, sizeof *set);
    if (!set)
        return REDLOCK_E_NOMEM;
    set->client = client;
    set->state = REDLOCK_STATE_IDLE;
    rl_list_append(&client->sets, &set->link);
    *ret_set = set;
    return 0;
}

/* Shorter keys come before longer ones that begin with them. */
static int compare(const struct redlock_lock *lock, const void *key, size_t key_size)
{
    size_t size;
    const void *own = redlock_lock_key(lock, &size);
    int order = memcmp(own, key, size < key_size ? size : key_size);

    return order ? order : (size > key_size) - (size < key_size);
}

static void insert(struct redlock_set *set, unsigned at, struct redlock_lock *lock, int mode)
{
    memmove(set->locks + at + 1, set->locks + at, (set->n - at) * sizeof set->locks[0]);
    memmove(set->modes + at + 1, set->modes + at, (set->n - at) * sizeof set->modes[0]);
    set->locks[at] = lock;
    set->modes[at] = (int8_t)mode;
    set->n++;
}

static int check_addition(struct redlock_set *set, const void *key, size_t key_size)
{
    if (!set || (!key && key_size))
        return REDLOCK_E_ARGUMENT;
    if (rl_client_forked(set->client))
        return REDLOCK_E_FORKED;
    if (set->destroyed)
        return REDLOCK_E_CLOSING;
    if (set->attempt.accepted || set->release.accepted)
        return REDLOCK_E_BUSY;
    return set->state == REDLOCK_STATE_HELD ? REDLOCK_E_ALREADY_HELD : 0;
}

/* limit: of a permit. NULL: the part is a key. */
static int add(struct redlock_set *set, const void *key, size_t key_size, int mode, const uint32_t *limit)
{
    struct redlock_lock *lock;
    unsigned at = 0;
    int status = check_addition(set, key, key_size);

    if (status < 0)
        return status;
    while (at < set->n && compare(set->locks[at], key, key_size) < 0)
        at++;
    if (set->n == REDLOCK_MAX_SET_KEYS || (at < set->n && compare(set->locks[at], key, key_size) == 0))
        return REDLOCK_E_SET_KEYS;
    status = limit ? redlock_permit_create(set->client, key, key_size, *limit, &lock)
                   : redlock_lock_create(set->client, key, key_size, &lock);
    if (status < 0)
        return status;
    redlock_lock_watch(lock, rl_set_alarm, set);
    insert(set, at, lock, mode);
    return 0;
}

int redlock_set_add(struct redlock_set *set, const void *key, size_t key_size)
{
    return add(set, key, key_size, RL_MODE_OF_OPTIONS, NULL);
}

int redlock_set_add_mode(struct redlock_set *set, const void *key, size_t key_size, enum redlock_mode mode)
{
    if (mode != REDLOCK_EXCLUSIVE && mode != REDLOCK_UPGRADEABLE && mode != REDLOCK_SHARED)
        return REDLOCK_E_MODE;
    return add(set, key, key_size, (int)mode, NULL);
}

int redlock_set_add_permit(struct redlock_set *set, const void *key, size_t key_size, uint32_t limit)
{
    return add(set, key, key_size, REDLOCK_EXCLUSIVE, &limit);
}

void redlock_set_destroy(struct redlock_set *set)
{
    struct redlock_client *client;

    if (!set || set->destroyed)
        return;
    client = set->client;
    client->depth++;
    rl_set_enter(set);
    set->destroyed = true;
    rl_list_remove(&set->link);
    for (unsigned i = 0; i < set->n; i++)
        redlock_lock_destroy(set->locks[i]);
    rl_set_cancel_all(set);
    rl_set_leave(set);
    client->depth--;
    rl_client_free_deferred(client);
}

int redlock_set_watch(struct redlock_set *set, redlock_set_watch_fn watch, void *user_data)
{
    if (!set)
        return REDLOCK_E_ARGUMENT;
    if (rl_client_forked(set->client))
        return REDLOCK_E_FORKED;
    set->watch = watch;
    set->watch_data = user_data;
    return 0;
}
