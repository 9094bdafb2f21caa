/* The loss alarm (rule 4.10): "lost" is told at the deadline at the latest, whatever the network does, and "at risk"
 * before that when there was time. A timer may be late by the slack; a process that is stopped learns it afterwards.
 * The host arms a lock's timer for its wake-up or for an earlier instant, whatever brought the wake-up forward. */
#include "world.h"

static int64_t patience(const struct world *world)
{
    return world->plan.timer_slack_ns + RL_NS_PER_US;
}

/* By whatever clock: certainly not before the first, certainly by the second. */
static int64_t risk_may_begin(const struct handle *handle)
{
    return handle->promised_until - rl_ms(handle->host.core.hold.at_risk_ms).ns / 4 * 5;
}

static int64_t risk_begins(const struct handle *handle)
{
    return handle->promised_until - rl_ms(handle->host.core.hold.at_risk_ms).ns / 5 * 4;
}

void alarm_watch(struct world *world, const struct client *client, struct handle *handle)
{
    handle->promised_since = client_true_now(client);
    handle->promised_until = handle->valid_until;
    if (risk_may_begin(handle) > handle->promised_since && client->stopped_until <= world->now)
        handle->risk_told = false; /* a clock that stands still promises nothing */
    if (handle->alarm_armed)
        return;
    handle->alarm_armed = true;
    world_event(world, handle->valid_until + patience(world), EVENT_ALARM, client->index, handle->index, client->life);
}

void alarm_on_event(struct world *world, const struct client *client, struct handle *handle, uint32_t life)
{
    int64_t due = handle->valid_until;

    if (!client->alive || client->life != life)
        return;
    handle->alarm_armed = false;
    if (handle->host.core.state != RL_LOCK_HELD && handle->host.core.state != RL_LOCK_EXTENDING)
        return;
    if (due < client->stopped_until)
        due = client->stopped_until;
    due += patience(world);
    if (due > world->now) {
        handle->alarm_armed = true;
        world_event(world, due, EVENT_ALARM, client->index, handle->index, life);
        return;
    }
    world_violation(world, "alarm", "%s is not told that its lock was lost at %.6f ms", name_of_handle(client, handle),
                    (double)handle->valid_until / 1e6);
}

void alarm_check_timer(const struct client *client, const struct handle *handle)
{
    struct rl_instant wakeup = rl_lock_wakeup(&client->host.engine, &handle->host.core);
    const struct rl_timer *timer = &handle->host.timer;

    if (wakeup.ns == RL_NEVER.ns || wakeup.ns == RL_LONG_AGO.ns)
        return;
    if (!rl_timer_armed(timer))
        world_violation(client->world, "alarm", "%s has no timer for its wake-up", name_of_handle(client, handle));
    else if (rl_before(wakeup, timer->at))
        world_violation(client->world, "alarm", "%s will be woken %.6f ms too late", name_of_handle(client, handle),
                        (double)rl_until(wakeup, timer->at).ns / 1e6);
}

void alarm_on_risk(const struct client *client, struct handle *handle)
{
    handle->risk_told = true;
    if (handle->host.core.state != RL_LOCK_HELD && handle->host.core.state != RL_LOCK_EXTENDING)
        world_violation(client->world, "alarm", "%s is warned though it holds nothing",
                        name_of_handle(client, handle));
}

/* Where nothing goes wrong a renewed lock is held for as long as it is wanted. */
static void check_renewed(const struct client *client, const struct handle *handle)
{
    const struct rl_lock_hold *hold = &handle->host.core.hold;

    if (client->world->plan.calm && hold->renew_ms && hold->end.ns == RL_NEVER.ns)
        world_violation(client->world, "alarm", "%s has lost a lock that it renews, and nothing goes wrong",
                        name_of_handle(client, handle));
}

/* Was the danger there for long enough to be told? */
void alarm_on_lost(const struct client *client, const struct handle *handle)
{
    struct world *world = client->world;
    int64_t since = risk_begins(handle);

    world->coverage->losses[handle->host.core.loss]++;
    check_renewed(client, handle);
    if (!handle->host.core.hold.at_risk_ms || handle->risk_told || client->lag ||
        client->stands_apart || client->found_at >= client_true_now(client) - world->plan.timer_slack_ns)
        return; /* or it was stopped just now, or knew nothing, since its clock had stood still */
    if (since < handle->promised_since)
        since = handle->promised_since;
    if (since < client->stopped_until)
        since = client->stopped_until;
    if (since + patience(world) < client_true_now(client))
        world_violation(world, "alarm", "%s has lost its lock without a warning, though in danger since %.6f ms",
                        name_of_handle(client, handle), (double)since / 1e6);
}
