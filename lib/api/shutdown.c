/* The orderly end of a client: nothing new, everything held released, and confirmed as far as possible. */
#include "api/client.h"

/* A lock that has been won, but whose callback has yet to say so, is busy: it is released after that. */
static void end_lock(struct redlock_lock *lock)
{
    if (lock->core.op == RL_OP_ACQUIRE)
        redlock_cancel(lock);
    else if (lock->core.state == RL_LOCK_HELD || lock->core.state == RL_LOCK_EXTENDING)
        redlock_release(lock, NULL, NULL);
}

static void end_locks(struct redlock_client *client)
{
    for (struct rl_list *at = client->locks.next; at != &client->locks; at = at->next)
        end_lock(RL_CONTAINER_OF(at, struct redlock_lock, link));
}

int redlock_client_shutdown(struct redlock_client *client, int64_t timeout_ms, redlock_shutdown_fn cb, void *user_data)
{
    if (!client || !cb)
        return REDLOCK_E_ARGUMENT;
    if (rl_client_forked(client))
        return REDLOCK_E_FORKED;
    if (client->closing)
        return REDLOCK_E_CLOSING;
    if (timeout_ms < 1 || timeout_ms > REDLOCK_MAX_TIMEOUT_MS)
        return REDLOCK_E_TIMEOUT;
    client->closing = true;
    client->shutdown.cb = cb;
    client->shutdown.user_data = user_data;
    client->shutdown.running = true;
    end_locks(client);
    rl_timers_arm(rl_driver_timers(client->driver), &client->shutdown.timer,
                  rl_after(rl_client_read_clock(client), rl_ms(timeout_ms)));
    rl_driver_wake(client->driver);
    return 0;
}

/* Are all debts settled where it can be expected, and does a quorum of masters not hold any of the values? */
static bool debts_settled(const struct redlock_client *client, bool *ret_confirmed)
{
    const struct rl_engine *engine = &client->engine;
    bool settled = true;

    *ret_confirmed = true;
    for (struct rl_list *at = engine->debts.next; at != &engine->debts; at = at->next) {
        const struct rl_claim *claim = RL_CONTAINER_OF(at, struct rl_claim, link);

        if (rl_claim_count_clean(claim) < engine->config.quorum)
            *ret_confirmed = false;
        for (size_t i = 0; i < claim->n_nodes; i++)
            settled &= claim->slots[i].undo != RL_UNDO_SENT || engine->links[i] != RL_LINK_READY;
    }
    return settled;
}

static bool callbacks_due(const struct redlock_client *client)
{
    for (struct rl_list *at = client->locks.next; at != &client->locks; at = at->next) {
        const struct redlock_lock *lock = RL_CONTAINER_OF(at, struct redlock_lock, link);

        if (rl_lock_is_busy(lock))
            return true;
    }
    return false;
}

static void end(struct redlock_client *client, int status)
{
    struct rl_shutdown *shutdown = &client->shutdown;

    shutdown->running = false;
    rl_timers_disarm(rl_driver_timers(client->driver), &shutdown->timer);
    if (rl_client_forked(client))
        return;
    client->depth++;
    shutdown->cb(client, status, shutdown->user_data);
    client->depth--;
}

/* Releases that no quorum has confirmed are waited for until the timeout: their masters may come back. */
void rl_shutdown_check(struct redlock_client *client)
{
    bool confirmed;

    if (!client->shutdown.running)
        return;
    end_locks(client);
    if (debts_settled(client, &confirmed) && confirmed && !callbacks_due(client))
        end(client, REDLOCK_OK);
    else if (client->shutdown.expired)
        end(client, confirmed ? REDLOCK_OK : REDLOCK_DEADLINE);
}

void rl_shutdown_cancel(struct redlock_client *client)
{
    if (client->shutdown.running)
        end(client, REDLOCK_CANCELED);
}

void rl_shutdown_timer(struct rl_timer *timer, struct rl_instant now)
{
    struct redlock_client *client = RL_CONTAINER_OF(timer, struct redlock_client, shutdown.timer);

    client->shutdown.expired = true;
    rl_driver_wake(client->driver);
    (void)now;
}
