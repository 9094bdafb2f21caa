/* Sets: their life, and the keys that are added to them. A set is made of ordinary locks. */
#include "api/set_handle.h"

#include <stdlib.h>

#include "api/handle.h"
#include "api/lifetime.h"
#include "api/public.h"
#include "api/set_hold.h"
#include "api/set_parts.h"
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

static int add(struct redlock_set *set, const void *key, size_t key_size, int mode)
{
    struct redlock_lock *lock;
    int status = rl_set_check_addition(set, key, key_size);

    if (status == 0)
        status = rl_set_check_room(set, key, key_size, 1, 0);
    if (status == 0)
        status = redlock_lock_create(set->client, key, key_size, &lock);
    if (status < 0)
        return status;
    rl_set_insert(set, rl_set_place_for(set, key, key_size),
                  (struct rl_set_member){.lock = lock, .mode = (int8_t)mode});
    return 0;
}

int redlock_set_add(struct redlock_set *set, const void *key, size_t key_size)
{
    return add(set, key, key_size, RL_MODE_OF_OPTIONS);
}

int redlock_set_add_mode(struct redlock_set *set, const void *key, size_t key_size, enum redlock_mode mode)
{
    if (!set || (!key && key_size))
        return REDLOCK_E_ARGUMENT;
    if (!rl_mode_is_valid(mode))
        return REDLOCK_E_MODE;
    return add(set, key, key_size, (int)mode);
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
        redlock_lock_destroy(set->parts[i].lock);
    rl_set_cancel_all(set);
    rl_set_leave(set);
    client->depth--;
    rl_client_free_deferred(client);
}

int redlock_set_keep_rest(struct redlock_set *set, int keep)
{
    int status = rl_set_check_usable(set);

    if (status < 0)
        return status;
    set->keeps_rest = keep != 0;
    return 0;
}

int redlock_set_watch(struct redlock_set *set, redlock_set_watch_fn watch, void *user_data)
{
    int status = rl_set_check_usable(set);

    if (status < 0)
        return status;
    set->watch = watch;
    set->watch_data = user_data;
    return 0;
}
