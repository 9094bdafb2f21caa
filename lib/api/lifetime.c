#include "api/lifetime.h"

#include <stdlib.h>

#include "api/attempts.h"
#include "api/handle.h"
#include "api/results.h"
#include "host/operations.h"

/* Callbacks come last, since they may do anything; they see a handle that is not held and takes no more work. What a
 * forked child finds held or pending belongs to the parent. */
void rl_lock_defer_free(struct redlock_lock *lock)
{
    struct redlock_client *client = rl_client_of(lock);

    lock->destroyed = true;
    if (rl_client_forked(client))
        rl_host_remove_lock(&lock->host);
    else
        rl_host_end_lock(&lock->host);
    rl_list_append(&client->deferred, &lock->host.link);
    rl_list_remove(&lock->completed);
    if (!rl_client_forked(client))
        rl_results_cancel_all(lock);
}

void rl_lock_abandon(struct redlock_lock *lock)
{
    rl_host_abandon(&lock->host);
    rl_list_remove(&lock->completed);
    lock->alarms = 0;
    rl_results_cancel_all(lock);
}

void rl_client_defer_free(struct redlock_client *client, struct rl_list *link)
{
    rl_list_append(&client->deferred_others, link);
}

void rl_client_free_deferred(struct redlock_client *client)
{
    if (client->depth)
        return;
    while (!rl_list_empty(&client->deferred)) {
        struct redlock_lock *lock = rl_lock_at(client->deferred.next);

        rl_list_remove(&lock->host.link);
        rl_key_unref(lock->host.key);
        rl_inner_releases_fini(lock);
        if (lock->host.call)
            rl_attempt_give_back(lock); /* only in a forked child: its callback is the parent's */
        rl_pool_give(&client->handles, lock);
    }
    while (!rl_list_empty(&client->deferred_others)) {
        struct rl_list *link = client->deferred_others.next;

        rl_list_remove(link);
        free(link);
    }
    if (!client->destroyed)
        return;
    rl_driver_destroy(client->driver, rl_client_forked(client));
    rl_host_fini(&client->host);
    rl_pool_fini(&client->handles, NULL);
    rl_attempts_fini(client);
    free(client);
}
