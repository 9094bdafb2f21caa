/* The orderly end of a client (redlock_client_shutdown()): it ends once, in time, and its status is true. When it ends
 * well nothing is left behind on a quorum, nor on any master that answers; and nothing happens after that. */
#include "client_calls.h"
#include "world.h"

/* --- Time --------------------------------------------------------------------------------------------------------- */

/* A timer may be late by the slack; a process that is stopped ends afterwards. */
static int64_t check_time(const struct world *world, const struct client *client)
{
    int64_t due = clockwork_when(&client->clock, client->shutdown.due.ns);

    if (due < client->stopped_until)
        due = client->stopped_until;
    return due + world->plan.timer_slack_ns + 1;
}

/* A round is enough where nothing goes wrong; and much more is, when everything has healed. */
static bool is_ample(const struct world *world, struct rl_span timeout)
{
    return (world->plan.calm && timeout.ns > 2 * world->plan.config.node_timeout.ns) ||
           (world->phase == PHASE_HEALED && timeout.ns >= 100000 * RL_NS_PER_MS);
}

void shutdown_on_start(struct world *world, struct client *client, struct rl_span timeout)
{
    struct shutdown_record *record = &client->shutdown;

    world_count(world, COUNTER_SHUTDOWNS);
    record->started = true;
    record->ample = is_ample(world, timeout);
    record->since = client->host.now;
    record->due = client->host.shutdown.deadline;
    world_event(world, check_time(world, client), EVENT_OVERDUE, client->index, 0, client->life);
}

void shutdown_on_overdue(struct world *world, const struct client *client, uint32_t life)
{
    int64_t at = check_time(world, client);

    if (!client->alive || client->life != life || client->shutdown.ended)
        return;
    if (at > world->now)
        world_event(world, at, EVENT_OVERDUE, client->index, 0, life);
    else
        world_violation(world, "shutdown", "%s has not shut down in time", name_of_client(client->index));
}

/* --- What is left behind ------------------------------------------------------------------------------------------ */

static bool is_expired(const struct client *client)
{
    return !rl_before(client->host.now, client->shutdown.due);
}

/* It has a connection, on which it has heard something within the time that an answer may take. */
static bool answers(const struct client *client, unsigned place)
{
    const struct wire *wire = &client->wires[place];
    struct rl_instant late = rl_after(wire->last_byte, client->host.engine.votes.config.node_timeout);

    return wire->link == RL_LINK_READY || (wire->link == RL_LINK_LATE && rl_before(client->host.now, late));
}

/* The master has refused to carry the release out, or memory was short. */
static bool is_refused(const struct box *box, unsigned place)
{
    return box->claim && place < box->claim->n_nodes && box->claim->votes[place].rollback == RL_ROLLBACK_PENDING;
}

static bool is_left(struct world *world, const struct client *client, const struct box *box, unsigned master)
{
    return residue_holds(world, box, master, client_true_now(client)) && !residue_is_stray(world, box, master) &&
           !box->let_go && !box->timed;
}

static void check_box(struct world *world, const struct client *client, const struct box *box)
{
    const struct rl_votes *votes = &client->host.engine.votes;
    size_t clean = 0;

    for (unsigned place = 0; place < client->n_places; place++) {
        unsigned m = client->machines[place];
        bool member = votes->members & rl_bit(place);

        if (m == NO_MACHINE || !is_left(world, client, box, m)) {
            clean += member;
            continue;
        }
        if (!is_expired(client) && answers(client, place) && !is_refused(box, place))
            world_violation(world, "shutdown", "%s has shut down, but value %s is left on %s, which answers",
                            name_of_client(client->index), box->token, name_of_master(m));
        else if (world->plan.calm && client->shutdown.ample)
            world_violation(world, "shutdown", "%s has shut down, but value %s is left on %s, and nothing is wrong",
                            name_of_client(client->index), box->token, name_of_master(m));
    }
    if (clean < votes->config.quorum)
        world_violation(world, "shutdown", "%s has shut down, and only %zu masters do not have value %s",
                        name_of_client(client->index), clean, box->token);
}

static bool is_of(const struct box *box, const struct client *client)
{
    return box->client == client->index && box->life == client->life;
}

static void check_left(struct world *world, const struct client *client)
{
    for (uint32_t id = 1; id <= world->boxes.used; id++) {
        const struct box *box = box_get(&world->boxes, id);

        if (is_of(box, client))
            check_box(world, client, box);
    }
}

/* --- Its status --------------------------------------------------------------------------------------------------- */

static bool is_confirmed(const struct client *client)
{
    const struct rl_votes *votes = &client->host.engine.votes;
    const struct rl_list *pending = &votes->pending_rollbacks;

    for (struct rl_list *at = pending->next; at != pending; at = at->next) {
        const struct rl_claim *claim = RL_CONTAINER_OF(at, struct rl_claim, link);

        if (rl_claim_count_clean(claim, votes->members) < votes->config.quorum)
            return false;
    }
    return true;
}

/* A reply of a master has arrived, and the client has not read it. */
static bool has_unread(struct world *world, const struct client *client)
{
    for (unsigned place = 0; place < client->n_places; place++) {
        const struct wire *wire = &client->wires[place];

        if (wire->phase == WIRE_OPEN && wire->count && network_has_arrived(world, wire->conn))
            return true;
    }
    return false;
}

static void check_deadline(struct world *world, const struct client *client)
{
    if (!is_expired(client))
        world_violation(world, "shutdown", "%s gives up before its time is up", name_of_client(client->index));
    else if (is_confirmed(client))
        world_violation(world, "shutdown", "%s gives up though everything is confirmed",
                        name_of_client(client->index));
    else if (has_unread(world, client))
        world_violation(world, "shutdown", "%s gives up before it has read what has arrived",
                        name_of_client(client->index));
    else if (client->shutdown.ample)
        world_violation(world, "shutdown", "%s cannot shut down, and nothing is wrong", name_of_client(client->index));
}

void shutdown_on_end(struct world *world, struct client *client, enum shutdown_end status)
{
    struct shutdown_record *record = &client->shutdown;

    if (!record->started || record->ended)
        world_violation(world, "shutdown", "%s ends a shutdown that is not under way", name_of_client(client->index));
    world_count(world, (enum counter)(COUNTER_SHUTDOWNS_OK + (unsigned)status));
    record->ended = true;
    record->late = is_expired(client);
    record->operations = client->ops;
    if (status == SHUTDOWN_OK)
        check_left(world, client);
    else if (status == SHUTDOWN_DEADLINE)
        check_deadline(world, client);
}

/* --- Whom it waits for -------------------------------------------------------------------------------------------- */

static bool is_awaited(const struct client *client, unsigned place)
{
    const struct rl_list *pending = &client->host.engine.votes.pending_rollbacks;

    for (struct rl_list *at = pending->next; at != pending; at = at->next) {
        const struct rl_claim *claim = RL_CONTAINER_OF(at, struct rl_claim, link);

        if (place < claim->n_nodes && claim->votes[place].rollback == RL_ROLLBACK_SENT)
            return true;
    }
    return false;
}

/* An answer is overdue, and nothing has come for twice as long as one may take, by timers that may be late. */
static bool has_been_silent(const struct client *client, unsigned place)
{
    const struct wire *wire = &client->wires[place];
    int64_t times = client->host.engine.votes.config.node_timeout.ns + client->world->plan.timer_slack_ns / 8 * 9;
    struct rl_instant stopped = {clockwork_read(&client->clock, client->stopped_until)};
    struct rl_instant heard = rl_later(rl_later(wire->last_byte, client->shutdown.since), stopped);

    return wire->link == RL_LINK_LATE && rl_until(heard, client->host.now).ns > 2 * times + RL_NS_PER_MS;
}

/* "A minority that has sent nothing for node_timeout_ms is not awaited." */
void shutdown_check_running(struct world *world, struct client *client)
{
    size_t silent = 0;

    if (!client->shutdown.started || client->shutdown.ended || client->lag)
        return; /* or it was stopped just now */
    for (unsigned place = 0; place < client->n_places; place++) {
        if (!is_awaited(client, place))
            continue;
        if (!has_been_silent(client, place))
            return;
        silent++;
    }
    if (silent && is_confirmed(client) && !client_has_busy(client) && !client->shutdown.ending)
        world_violation(world, "shutdown", "%s waits for %zu masters, which are silent, though a quorum has confirmed",
                        name_of_client(client->index), silent);
}

/* --- Reports ------------------------------------------------------------------------------------------------------ */

void shutdown_on_attempt(struct world *world, const struct client *client)
{
    if (client->host.closing)
        world_violation(world, "shutdown", "%s begins an attempt though it shuts down", name_of_client(client->index));
}

/* When its time is up, operations of locks may still be pending. A lock that was lost may be released later. */
void shutdown_on_report(struct world *world, const struct client *client, const struct handle *handle)
{
    const struct shutdown_record *record = &client->shutdown;

    if (record->ended && !record->late && handle->pending.generation <= record->operations)
        world_violation(world, "shutdown", "%s reports something after %s has shut down",
                        name_of_handle(client, handle), name_of_client(client->index));
}
