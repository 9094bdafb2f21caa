/* Every operation completes exactly once, within its time, and its status is true. */
#include "client_host.h"
#include "engine/hold.h"
#include "wire.h"
#include "world.h"

/* A timer may be late by the slack; nothing else may add to an operation's time but pauses of its process. */
static int64_t check_time(const struct world *world, const struct client *client, struct rl_instant due)
{
    return clockwork_when(&client->clock, due.ns) + world->plan.timer_slack_ns + 1;
}

/* An attempt and a release wait for first connections that are on their way, and for greetings by a new list of
 * masters, which have an end of their own; node_timeout counts from then. A release looks for that end once in
 * node_timeout. */
static struct rl_instant round_due(const struct client *client, enum rl_op op)
{
    struct rl_span node_timeout = client->host.engine.votes.config.node_timeout;
    int64_t longest = node_timeout.ns;

    if ((op == RL_OP_ACQUIRE || op == RL_OP_RELEASE) && client_is_joining(client)) {
        longest += wire_longest_joining(client) + client->world->plan.timer_slack_ns * 2;
        longest += op == RL_OP_RELEASE ? node_timeout.ns : 0;
    }
    return rl_after(client->host.now, (struct rl_span){longest});
}

static struct rl_instant acquire_due(const struct client *client, const struct rl_acquire *request)
{
    return request->once ? rl_earlier(request->deadline, round_due(client, RL_OP_ACQUIRE)) : request->deadline;
}

void once_start(struct world *world, struct client *client, struct handle *handle, enum rl_op op,
                const struct rl_acquire *request)
{
    struct op_record *record = &handle->pending;

    if (record->op != RL_OP_NONE)
        world_violation(world, "once", "%s starts an operation before the former one has completed",
                        name_of_handle(client, handle));
    record->op = (uint8_t)op;
    record->generation = ++client->ops;
    record->started = client->host.now;
    record->due = request ? acquire_due(client, request) : round_due(client, op);
    if (record->due.ns != RL_NEVER.ns)
        world_event(world, check_time(world, client, record->due), EVENT_CHECK, client->index, handle->index,
                    record->generation);
}

static bool is_member(const struct client *client, size_t place)
{
    return client->host.engine.votes.members & rl_bit(place);
}

/* rule 3.6, the manual's promise: "OK: a quorum of masters is known not to hold this value"; or it has been passed
 * on, and this is the place of the one who has it now. A process that was stopped in this turn knows it at its end. */
static void check_released(struct world *world, const struct client *client, const struct handle *handle)
{
    const struct box *box = handle_box(handle);
    size_t members = 0;
    size_t holding = 0;

    for (unsigned place = 0; place < client->n_places; place++) {
        unsigned m = client->machines[place];

        if (!is_member(client, place))
            continue;
        members++;
        holding += vote_gone(world, box, m) > client_true_now(client) && !residue_is_stray(world, box, m);
    }
    if (members - holding < client->host.engine.votes.config.quorum && !box->timed)
        world_violation(world, "once", "the release of %s is OK, but %zu masters still hold it", box->token, holding);
}

void once_end(struct world *world, struct client *client, struct handle *handle, enum rl_op op, enum rl_end status)
{
    struct op_record *record = &handle->pending;

    if (op == handle->extension.op)
        record = &handle->extension;
    if (record->op != op)
        world_violation(world, "once", "%s: an operation completes that was not pending",
                        name_of_handle(client, handle));
    record->op = RL_OP_NONE;
    if (op == RL_OP_ACQUIRE && status != RL_END_OK)
        once_on_failed_attempt(world, client, handle, status);
    if (op == RL_OP_ACQUIRE && status == RL_END_OK)
        world_count(world, world->phase == PHASE_FAULTS ? COUNTER_ACQUISITIONS : COUNTER_FINAL_GRANTS);
    if (op == RL_OP_RELEASE && status == RL_END_OK)
        check_released(world, client, handle);
}

/* rules 2.1 and 4.8: nothing may set a value that is being rolled back. */
void once_on_send(struct world *world, struct box *box, enum rl_step step)
{
    if (step == RL_STEP_RELEASE || step == RL_STEP_ROLLBACK)
        box->rolled_back = true;
    else if (box->rolled_back)
        world_violation(world, "once", "%s of %s after its rollback", name_of_step(step), box->token);
}

/* rule 2.6: "after reading the clock again: now < deadline, and at least the caller's minimum validity left". */
static void check_accepted(struct world *world, const struct client *client, const struct handle *handle)
{
    struct rl_instant now = {clockwork_read(&client->clock, client_true_now(client))};
    struct rl_instant deadline = rl_lock_deadline(&client->host.engine, &handle->host.core);

    fence_on_accept(world, client, handle);
    if (rl_until(now, deadline).ns <= 0 || rl_until(now, deadline).ns < handle->call.request.min_validity.ns)
        world_violation(world, "once", "%s was accepted with too little validity left", name_of_handle(client, handle));
}

void once_on_accept(struct world *world, const struct client *client, const struct handle *handle)
{
    if (handle->host.core.state != RL_LOCK_HELD)
        return;
    steps_on_accept(world, client, handle_box(handle));
    check_accepted(world, client, handle);
}

/* What is known of clocks is what was known when the first of a cohort was accepted. A value that is named outside its
 * client may be released there at any time, so it is nobody's next; nor is any other that of who wants its own. */
void once_on_hand_off(struct world *world, const struct client *client, const struct handle *handle,
                  const struct box *box)
{
    if (box->own || handle->call.request.own_token)
        world_violation(world, "once", "%s is handed off to %s, though values are named outside", box->token,
                        name_of_handle(client, handle));
    check_accepted(world, client, handle);
}

static size_t count_votes(const struct rl_claim *claim, enum rl_outcome vote)
{
    size_t count = 0;

    for (size_t i = 0; i < claim->n_nodes; i++)
        count += claim->votes[i].outcome == vote;
    return count;
}

/* Granted, or still possible: nothing is known of a master whose first connection is on its way. */
static size_t count_open_votes(const struct client *client, const struct rl_claim *claim)
{
    size_t count = count_votes(claim, RL_PENDING) + count_votes(claim, RL_GRANTED);

    for (size_t i = 0; i < claim->n_nodes; i++)
        count += claim->votes[i].outcome != RL_PENDING && claim->votes[i].outcome != RL_GRANTED &&
                 is_member(client, i) && rl_votes_joins(&client->host.engine.votes, i);
    return count;
}

/* Votes come and go there. */
static bool is_queued(const struct handle *handle)
{
    return handle->call.request.wait != RL_WAIT_SPIN && handle->call.entry.enqueued;
}

/* "Refuse as soon as q has become impossible", and not before: while as many may still grant as are needed, only time
 * may end the round. */
void once_on_failed_attempt(struct world *world, const struct client *client, const struct handle *handle,
                            enum rl_end status)
{
    const struct rl_lock *lock = &handle->host.core;
    const struct rl_config *config = &client->host.engine.votes.config;
    struct rl_instant round_end = rl_after(lock->round_start, config->node_timeout);

    if (!lock->claim || lock->claim->kind->has_token || is_queued(handle) ||
        (status != RL_END_HELD && status != RL_END_NO_QUORUM) || !rl_before(client->host.now, round_end) ||
        !rl_before(client->host.now, handle->call.request.deadline))
        return;
    if (count_open_votes(client, lock->claim) >= config->quorum)
        world_violation(world, "once", "%s gave up while a quorum was still possible", name_of_handle(client, handle));
}

/* It is connected, and nothing is known against its vote. */
static bool can_vote(const struct client *client, size_t master)
{
    const struct rl_engine *engine = &client->host.engine;

    return is_member(client, master) && !rl_votes_joins(&engine->votes, master) &&
           client->wires[master].link == RL_LINK_READY && engine->votes.admissions[master].kind == RL_ADMISSION_VOTES &&
           engine->votes.stepped_until[master].ns == RL_LONG_AGO.ns;
}

static bool has_time_left(const struct client *client, const struct rl_lock *lock)
{
    return rl_before(client->host.now, rl_after(lock->round_start, client->host.engine.votes.config.node_timeout));
}

/* A hung master must cost nothing to a first acquisition: it goes to a quorum as soon as that can vote, and to each
 * other master as soon as it can, in the same turn. */
static void check_links(struct world *world, const struct client *client, const struct handle *handle)
{
    const struct rl_claim *claim = handle->host.core.claim;
    size_t voting = 0;
    size_t unasked = 0;

    if (handle->host.core.state != RL_LOCK_ACQUIRING)
        return;
    for (size_t i = 0; i < client->n_places; i++) {
        voting += can_vote(client, i);
        unasked += can_vote(client, i) && claim && claim->votes[i].outcome == RL_NOT_ASKED;
    }
    if (!claim && voting >= client->host.engine.votes.config.quorum)
        world_violation(world, "once", "%s waits though a quorum can vote", name_of_handle(client, handle));
    if (unasked && has_time_left(client, &handle->host.core))
        world_violation(world, "once", "%s has not asked a master that can vote", name_of_handle(client, handle));
}

void once_check_running(struct world *world, const struct client *client)
{
    const struct rl_config *config = &client->host.engine.votes.config;

    for (unsigned i = 0; i < client->n_handles; i++) {
        const struct rl_lock *lock = &client->handles[i].host.core;

        check_links(world, client, &client->handles[i]);
        if (lock->state != RL_LOCK_ACQUIRING || !lock->claim || lock->claim->kind->has_token)
            continue;
        if (count_open_votes(client, lock->claim) < config->quorum)
            world_violation(world, "once", "%s goes on waiting though no quorum is possible",
                            name_of_handle(client, &client->handles[i]));
    }
}

void once_abandon(struct handle *handle)
{
    handle->pending.op = RL_OP_NONE;
    handle->extension.op = RL_OP_NONE;
}

/* What a new list of masters has ended waits for greetings, which end with their connections, and for the first
 * connections to new members; then it begins anew: a single attempt, or an extension. A process that is stopped in the
 * turn in which it hears of the list asks later. */
static struct rl_instant anew_due(const struct client *client, const struct handle *handle,
                                  const struct op_record *record)
{
    const struct plan *plan = &client->world->plan;
    struct rl_instant resumed = {clockwork_read(&client->clock, client->stopped_until)};
    int64_t longest = 2 * plan->config.node_timeout.ns + plan->stall_timeout.ns + plan->connect_timeout.ns +
                      3 * plan->timer_slack_ns;

    if (record->op == RL_OP_RELEASE || rl_before(client->adopted_at, record->started) ||
        (record->op == RL_OP_ACQUIRE && !handle->call.request.once))
        return RL_LONG_AGO;
    return rl_after(rl_later(client->adopted_at, resumed), (struct rl_span){longest});
}

/* A single attempt that had to wait for the first connections has its round from when it began; a release has its time
 * from when the lock was given up, which is later than its call if the process was stopped in that turn. */
static struct rl_instant still_due(const struct client *client, const struct handle *handle,
                                   const struct op_record *record)
{
    const struct rl_lock *lock = &handle->host.core;
    bool waited = record->op == RL_OP_ACQUIRE && handle->call.request.once && lock->claim;

    if (!waited && (record->op != RL_OP_RELEASE || lock->state != RL_LOCK_RELEASING))
        return rl_later(record->due, anew_due(client, handle, record));
    return rl_later(record->due, rl_after(lock->round_start, client->host.engine.votes.config.node_timeout));
}

void once_on_check(struct world *world, struct client *client, struct handle *handle, uint32_t generation)
{
    struct op_record *record = &handle->pending;
    int64_t at;

    if (handle->extension.op != RL_OP_NONE && handle->extension.generation == generation)
        record = &handle->extension;
    if (!client->alive || record->op == RL_OP_NONE || record->generation != generation)
        return;
    at = check_time(world, client, still_due(client, handle, record));
    if (at < client->stopped_until + world->plan.timer_slack_ns + 1)
        at = client->stopped_until + world->plan.timer_slack_ns + 1;
    if (at > world->now) {
        world_event(world, at, EVENT_CHECK, client->index, handle->index, generation);
        return;
    }
    world_violation(world, "once", "%s: an operation is overdue", name_of_handle(client, handle));
}

void once_check_final(struct world *world)
{
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        const struct client *client = &world->clients[c];

        for (unsigned h = 0; h < client->n_handles; h++) {
            if (client->handles[h].pending.op != RL_OP_NONE || client->handles[h].extension.op != RL_OP_NONE)
                world_violation(world, "once", "%s: an operation never completed",
                                name_of_handle(client, &client->handles[h]));
        }
    }
}
