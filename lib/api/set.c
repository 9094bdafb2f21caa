/* Sets: their life and their keys. A set is made of ordinary locks. */
#include "api/set.h"

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

static void insert(struct redlock_set *set, unsigned at, struct redlock_lock *lock)
{
    memmove(set->locks + at + 1, set->locks + at, (set->n - at) * sizeof set->locks[0]);
    set->locks[at] = lock;
    set->n++;
}

int redlock_set_add(struct redlock_set *set, const void *key, size_t key_size)
{
    struct redlock_lock *lock;
    unsigned at = 0;
    int status;

    if (!set || (!key && key_size))
        return REDLOCK_E_ARGUMENT;
    if (rl_client_forked(set->client))
        return REDLOCK_E_FORKED;
    if (set->destroyed)
        return REDLOCK_E_CLOSING;
    if (set->attempt.accepted || set->release.accepted)
        return REDLOCK_E_BUSY;
    if (set->state == REDLOCK_STATE_HELD)
        return REDLOCK_E_ALREADY_HELD;
    while (at < set->n && compare(set->locks[at], key, key_size) < 0)
        at++;
    if (set->n == REDLOCK_MAX_SET_KEYS || (at < set->n && compare(set->locks[at], key, key_size) == 0))
        return REDLOCK_E_SET_KEYS;
    status = redlock_lock_create(set->client, key, key_size, &lock);
    if (status == 0) {
        redlock_lock_watch(lock, rl_set_alarm, set);
        insert(set, at, lock);
    }
    return status;
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
