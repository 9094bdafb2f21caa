/* A client that is shut down starts nothing new, releases every lock, and waits until the masters have confirmed that
 * as far as possible (host/shutdown.c). */
#include "api/shutdown.h"

#include "api/handle.h"
#include "api/latch.h"
#include "api/lock_state.h"
#include "api/set_acquire.h"
#include "host/shutdown.h"
#include "host/upgrade.h"

/* It belongs to the upgrade of another lock, which ends with that. */
static bool is_hidden(struct rl_list *at)
{
    return rl_upgrade_is(RL_CONTAINER_OF(at, struct rl_host_lock, link));
}

/* A held lock is released whatever its depth. True: there is more to do. A lock that has been acquired is busy until
 * its callback has said so, and is released after that. */
static bool end_lock(struct redlock_lock *lock)
{
    if (lock->host.core.op == RL_OP_ACQUIRE) {
        redlock_cancel(lock);
        return true;
    }
    if (lock->host.core.state != RL_LOCK_HELD && lock->host.core.state != RL_LOCK_EXTENDING)
        return false;
    lock->host.inner_entries = 0;
    return redlock_release(lock, NULL, NULL) != 0;
}

static void end_locks(struct redlock_client *client)
{
    client->shutdown.ending = false;
    for (struct rl_list *at = client->host.locks.next; at != &client->host.locks; at = at->next) {
        if (!is_hidden(at))
            client->shutdown.ending |= end_lock(rl_lock_at(at));
    }
}

int redlock_client_shutdown(struct redlock_client *client, int64_t timeout_ms, redlock_shutdown_fn cb, void *user_data)
{
    if (!client || !cb)
        return REDLOCK_E_ARGUMENT;
    if (rl_client_forked(client))
        return REDLOCK_E_FORKED;
    if (client->host.closing)
        return REDLOCK_E_CLOSING;
    if (timeout_ms < 1 || timeout_ms > REDLOCK_MAX_TIMEOUT_MS)
        return REDLOCK_E_TIMEOUT;
    client->shutdown.cb = cb;
    client->shutdown.user_data = user_data;
    rl_host_start_shutdown(&client->host, rl_ms(timeout_ms));
    end_locks(client);
    rl_sets_end(client);
    rl_latches_end(client);
    return 0;
}

static bool callbacks_due(const struct redlock_client *client)
{
    for (struct rl_list *at = client->host.locks.next; at != &client->host.locks; at = at->next) {
        if (!is_hidden(at) && rl_lock_is_busy(rl_lock_at(at)))
            return true;
    }
    return false;
}

static void end(struct redlock_client *client, int status)
{
    rl_host_stop_shutdown(&client->host);
    if (rl_client_forked(client))
        return;
    client->depth++;
    client->shutdown.cb(client, status, client->shutdown.user_data);
    client->depth--;
}

void rl_shutdown_check(struct redlock_client *client)
{
    if (!client->host.shutdown.running)
        return;
    if (client->shutdown.ending)
        end_locks(client);
    switch (rl_host_shutdown_progress(&client->host)) {
    case RL_SHUTDOWN_WAITING:
        break;
    case RL_SHUTDOWN_CONFIRMED:
        if (client->host.shutdown.expired || !callbacks_due(client))
            end(client, REDLOCK_OK);
        break;
    case RL_SHUTDOWN_UNCONFIRMED:
        end(client, REDLOCK_DEADLINE);
        break;
    }
}

void rl_shutdown_cancel(struct redlock_client *client)
{
    if (client->host.shutdown.running)
        end(client, REDLOCK_CANCELED);
}
