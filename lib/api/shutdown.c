/* The orderly end of a client: nothing new, everything held released, and confirmed as far as possible. */
#include "api/client.h"

/* True: there is more to do. A lock that has been won, but whose callback has yet to say so, is busy: it is released
 * after that. */
static bool end_lock(struct redlock_lock *lock)
{
    if (lock->host.core.op == RL_OP_ACQUIRE) {
        redlock_cancel(lock);
        return true;
    }
    return (lock->host.core.state == RL_LOCK_HELD || lock->host.core.state == RL_LOCK_EXTENDING) &&
           redlock_release(lock, NULL, NULL) != 0;
}

static void end_locks(struct redlock_client *client)
{
    client->shutdown.ending = false;
    for (struct rl_list *at = client->host.locks.next; at != &client->host.locks; at = at->next)
        client->shutdown.ending |= end_lock(rl_lock_at(at));
}

static void await(struct redlock_client *client, struct rl_instant now)
{
    struct rl_shutdown *shutdown = &client->shutdown;
    struct rl_instant next = rl_after(now, client->host.engine.votes.config.node_timeout);

    rl_timers_arm(rl_driver_timers(client->driver), &shutdown->timer, rl_earlier(next, shutdown->deadline));
}

/* Notes who has said nothing since it was called last. */
static void note_silence(struct redlock_client *client)
{
    struct rl_shutdown *shutdown = &client->shutdown;

    for (unsigned i = 0; i < client->host.engine.votes.config.n_nodes; i++) {
        struct rl_conn_stats conn;

        rl_driver_node_stats(client->driver, i, &conn);
        shutdown->silent[i] = shutdown->running && conn.bytes_in == shutdown->bytes_in[i];
        shutdown->bytes_in[i] = conn.bytes_in;
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
    client->host.closing = true;
    client->shutdown.cb = cb;
    client->shutdown.user_data = user_data;
    client->shutdown.deadline = rl_after(rl_host_read_clock(&client->host), rl_ms(timeout_ms));
    note_silence(client);
    client->shutdown.running = true;
    end_locks(client);
    await(client, client->host.now);
    rl_driver_wake(client->driver);
    return 0;
}

static const struct rl_claim *claim_at(struct rl_list *at)
{
    return RL_CONTAINER_OF(at, struct rl_claim, link);
}

/* Many releases may keep a master busy for longer than one answer may take: as long as answers come, they are waited
 * for. */
static bool answers(const struct redlock_client *client, size_t node)
{
    enum rl_link link = client->host.engine.votes.links[node];

    return link == RL_LINK_READY || (link == RL_LINK_LATE && !client->shutdown.silent[node]);
}

static bool is_awaited(const struct redlock_client *client, const struct rl_claim *claim)
{
    for (size_t i = 0; i < claim->n_nodes; i++)
        if (claim->slots[i].rollback == RL_ROLLBACK_SENT && answers(client, i))
            return true;
    return false;
}

/* Is an undo under way whose answer can be expected? With many debts this is asked in every turn: as a rule the oldest
 * one says so. */
static bool answers_awaited(const struct redlock_client *client)
{
    const struct rl_list *debts = &client->host.engine.votes.pending_rollbacks;

    for (struct rl_list *at = debts->next; at != debts; at = at->next)
        if (is_awaited(client, claim_at(at)))
            return true;
    return false;
}

/* A quorum of masters does not hold any of the values. */
static bool confirmed(const struct rl_engine *engine)
{
    for (struct rl_list *at = engine->votes.pending_rollbacks.next; at != &engine->votes.pending_rollbacks;
         at = at->next)
        if (rl_claim_count_clean(claim_at(at)) < engine->votes.config.quorum)
            return false;
    return true;
}

static bool callbacks_due(const struct redlock_client *client)
{
    for (struct rl_list *at = client->host.locks.next; at != &client->host.locks; at = at->next) {
        const struct redlock_lock *lock = rl_lock_at(at);

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
    const struct rl_engine *engine = &client->host.engine;

    if (!client->shutdown.running)
        return;
    if (client->shutdown.ending)
        end_locks(client);
    if (client->shutdown.expired)
        end(client, confirmed(engine) ? REDLOCK_OK : REDLOCK_DEADLINE);
    else if (!answers_awaited(client) && confirmed(engine) && !callbacks_due(client))
        end(client, REDLOCK_OK);
}

void rl_shutdown_cancel(struct redlock_client *client)
{
    if (client->shutdown.running)
        end(client, REDLOCK_CANCELED);
}

void rl_shutdown_timer(struct rl_timer *timer, struct rl_instant now)
{
    struct redlock_client *client = RL_CONTAINER_OF(timer, struct redlock_client, shutdown.timer);

    note_silence(client);
    if (rl_before(now, client->shutdown.deadline))
        await(client, now);
    else
        client->shutdown.expired = true;
    rl_driver_wake(client->driver);
}
