/* What the host is given by this process, and what it reports to the oracles, the trace and the workload. */
#include "client_host.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/hold.h"
#include "host/permits.h"
#include "listener.h"
#include "plan_members.h"
#include "util/slice.h"
#include "wire.h"
#include "world.h"

static struct client *client_of(struct rl_host *host)
{
    return RL_CONTAINER_OF(host, struct client, host);
}

static struct handle *handle_of(struct rl_host_lock *lock)
{
    return RL_CONTAINER_OF(lock, struct handle, host);
}

/* --- Records of claims -------------------------------------------------------------------------------------------- */

static uint32_t home_of(const struct rl_claim *claim)
{
    return (uint32_t)((uintptr_t)claim >> 5) * UINT32_C(2654435761) >> 22;
}

_Static_assert(MAX_BINDINGS == 1u << 10, "ten bits of the product");

static struct binding *place_of(struct client *client, const struct rl_claim *claim)
{
    uint32_t at = home_of(claim);

    while (client->bindings[at].claim && client->bindings[at].claim != claim)
        at = (at + 1) % MAX_BINDINGS;
    return &client->bindings[at];
}

static void bind(struct client *client, const struct rl_claim *claim, struct box *box)
{
    assert(client->n_bindings < MAX_BINDINGS / 2);
    box->n_claims++;
    *place_of(client, claim) = (struct binding){claim, box->id};
    client->n_bindings++;
    box->claim = claim;
}

static void unbind(struct client *client, const struct rl_claim *claim)
{
    uint32_t gap = (uint32_t)(place_of(client, claim) - client->bindings);

    client->bindings[gap].claim = NULL;
    client->n_bindings--;
    for (uint32_t at = (gap + 1) % MAX_BINDINGS; client->bindings[at].claim; at = (at + 1) % MAX_BINDINGS) {
        struct binding moved = client->bindings[at];

        client->bindings[at].claim = NULL;
        *place_of(client, moved.claim) = moved;
    }
}

static struct box *take_box(struct client *client)
{
    struct box *box = box_take(&client->world->boxes);

    box->client = client->index;
    box->life = client->life;
    box->foreign = client->world->plan.foreign[client->index];
    return box;
}

static void set_token(struct box *box, const char *token)
{
    box->token_size = (uint8_t)strlen(token);
    assert(box->token_size < sizeof box->token);
    memcpy(box->token, token, box->token_size);
}

/* A value that another handle has made: it is about to be released, or has been taken over. */
static struct box *take_incoming(struct client *client, const struct rl_claim *claim)
{
    const struct box *origin = box_get(&client->world->boxes, client->incoming);
    struct box *box = take_box(client);

    set_token(box, rl_host_token(claim));
    box->origin = origin->id;
    box->own = true;
    box->handle = client->receiver->index;
    box->key = client->receiver->key;
    box->fenced = claim->kind->has_token;
    box->max_ttl_ms = origin->max_ttl_ms;
    box->excused = origin->excused;
    box->timed = origin->timed;
    box->begun = client_true_now(client);
    client->incoming = BOX_NONE;
    bind(client, claim, box);
    return box;
}

/* The list of masters has changed: what is held has another claim, with the same value. */
static struct box *take_over(struct client *client, const struct rl_claim *claim)
{
    for (unsigned i = 0; i < client->n_handles; i++) {
        const struct handle *handle = &client->handles[i];
        struct box *box;

        if (handle->host.core.claim != claim)
            continue;
        box = box_get(&client->world->boxes, place_of(client, handle->seen_claim)->box);
        assert(rl_slice_is((struct rl_slice){box->token, box->token_size}, rl_host_token(claim)));
        bind(client, claim, box);
        world_count(client->world, COUNTER_HELD_ON);
        return box;
    }
    abort();
}

struct box *client_box(struct client *client, const struct rl_claim *claim)
{
    const struct binding *binding = place_of(client, claim);

    if (binding->claim)
        return box_get(&client->world->boxes, binding->box);
    return client->incoming != BOX_NONE ? take_incoming(client, claim) : take_over(client, claim);
}

const struct box *client_known_box(struct client *client, const struct rl_claim *claim)
{
    const struct binding *binding = place_of(client, claim);

    return binding->claim ? box_get(&client->world->boxes, binding->box) : NULL;
}

struct box *handle_box(const struct handle *handle)
{
    return client_box(client_of(handle->host.host), handle->host.core.claim);
}

unsigned client_tag_boxes(struct client *client, const struct rl_tag *tag, uint32_t *ret_boxes)
{
    const struct rl_batch *batch = tag->owner;

    if (!tag->owner || tag->step == RL_TAG_QUORUM_READ)
        return 0;
    if (tag->step != RL_TAG_BATCH) {
        ret_boxes[0] = client_box(client, tag->owner)->id;
        return 1;
    }
    assert(batch->n <= MESSAGE_CLAIMS);
    for (size_t i = 0; i < batch->n; i++)
        ret_boxes[i] = client_box(client, batch->entries[i].claim)->id;
    return (unsigned)batch->n;
}

/* --- The environment ---------------------------------------------------------------------------------------------- */

static struct rl_instant now(void *ctx)
{
    struct client *client = ctx;

    client_watch(client);
    client_hiccup(client);
    return (struct rl_instant){clockwork_read(&client->clock, client_true_now(client))};
}

/* Clients' wall clocks disagree. */
static uint64_t wall_us(void *ctx)
{
    const struct client *client = ctx;
    int64_t wall_ns = client_true_now(client) + client->world->plan.wall_offset[client->index];

    return client->world->plan.no_wall ? 0 : (uint64_t)(wall_ns / RL_NS_PER_US);
}

/* Of full length; the traces leave the padding out. The first one is for the channel. */
static void make_uuid(void *ctx, char ret_text[RL_UUID_SIZE])
{
    struct client *client = ctx;
    int size = client->has_host ? snprintf(ret_text, RL_UUID_SIZE, "i%u", ++client->world->incarnations)
                                : snprintf(ret_text, RL_UUID_SIZE, "%s%u", name_of_client(client->index),
                                           client->life % 1000);

    memset(ret_text + size, '_', RL_UUID_SIZE - 1 - (size_t)size);
    ret_text[RL_UUID_SIZE - 1] = '\0';
}

static void make_token(void *ctx, struct rl_instant at, char ret_token[RL_TOKEN_SIZE])
{
    struct client *client = ctx;
    struct box *box = take_box(client);
    const char *name = name_of_client(client->index);
    size_t size = strlen(name);

    memcpy(ret_token, name, size);
    size += rl_decimal(RL_MUTANT(SAME_TOKEN) ? client->life : box->id, ret_token + size);
    ret_token[size] = '\0';
    set_token(box, ret_token);
    client->made = box->id;
}

struct rl_environment client_environment(struct client *client)
{
    return (struct rl_environment){client, now, wall_us, make_uuid, make_token, NULL};
}

/* --- Of locks ----------------------------------------------------------------------------------------------------- */

static void on_attempt(struct rl_host_lock *lock, const struct rl_claim *claim)
{
    struct client *client = client_of(lock->host);
    struct handle *handle = handle_of(lock);
    struct box *box = box_get(&client->world->boxes, client->made);

    client->world->coverage->reports[REPORT_ATTEMPT]++;
    shutdown_on_attempt(client->world, client);
    client_watch(client);
    if (handle->permit) {
        uint8_t key = (uint8_t)(FIRST_SLOT + rl_permit_of(lock)->slot);

        permits_on_choice(client->world, client, handle, key);
        idle_on_leave(client->world, handle);
        handle->key = key;
    }
    box->handle = handle->index;
    box->key = handle->key;
    box->fenced = handle->call.request.kind->has_token;
    box->own = handle->call.request.own_token;
    box->replaces = BOX_NONE;
    if (handle->pending.op == RL_OP_CONVERT)
        box->replaces = box_maker(&client->world->boxes, handle_box(handle)->id)->id;
    box->begun = client_true_now(client);
    bind(client, claim, box);
    handle->turn.attempts++;
    client_hiccup(client);
}

static void on_complete(struct rl_host_lock *lock, enum rl_op op, enum rl_end status, enum rl_end cause)
{
    struct client *client = client_of(lock->host);
    struct handle *handle = handle_of(lock);

    client->world->coverage->reports[REPORT_COMPLETE]++;
    shutdown_on_report(client->world, client, handle_of(lock));
    client_watch(client);
    assert(client->n_completions < MAX_COMPLETIONS);
    client->completions[client->n_completions++] =
        (struct completion){handle->index, (uint8_t)op, (uint8_t)status, (uint8_t)cause};
    client->world->coverage->ends[op][status]++;
    trace_completion(client, handle, op, status);
    once_end(client->world, client, handle, op, status);
    if (op == RL_OP_ACQUIRE && status != RL_END_OK)
        idle_on_leave(client->world, handle);
    if (op == RL_OP_CONVERT && status == RL_END_OK && rl_lock_mode(&handle->host.core) == RL_EXCLUSIVE) {
        world_count(client->world, COUNTER_UPGRADED);
        once_on_accept(client->world, client, handle);
    }
    client_hiccup(client);
}

static void on_waiting(struct rl_host_lock *lock, const struct rl_position *position)
{
    struct client *client = client_of(lock->host);

    client->world->coverage->reports[REPORT_WAITING]++;
    TRACE(client->world, name_of_handle(client, handle_of(lock)), "waits behind %u others", position->rank);
}

static void on_backoff(struct rl_host_lock *lock, enum rl_end why, struct rl_span delay)
{
    struct client *client = client_of(lock->host);

    client->world->coverage->reports[REPORT_BACKOFF]++;
    client_watch(client);
    TRACE(client->world, name_of_handle(client, handle_of(lock)), "backs off: %s", name_of_end(why));
    handle_of(lock)->turn.failed = handle_of(lock)->turn.attempts;
    once_on_failed_attempt(client->world, client, handle_of(lock), why);
}

static void on_extending(struct rl_host_lock *lock)
{
    client_of(lock->host)->world->coverage->reports[REPORT_EXTENDING]++;
}

static void on_renewed(struct rl_host_lock *lock)
{
    struct client *client = client_of(lock->host);

    client->world->coverage->reports[REPORT_RENEWED]++;
    TRACE(client->world, name_of_handle(client, handle_of(lock)), "has renewed the lock");
}

static void on_at_risk(struct rl_host_lock *lock)
{
    struct client *client = client_of(lock->host);

    client->world->coverage->reports[REPORT_AT_RISK]++;
    shutdown_on_report(client->world, client, handle_of(lock));
    TRACE(client->world, name_of_handle(client, handle_of(lock)), "is at risk");
    alarm_on_risk(client, handle_of(lock));
}

static void on_lost(struct rl_host_lock *lock)
{
    struct client *client = client_of(lock->host);

    client->world->coverage->reports[REPORT_LOST]++;
    shutdown_on_report(client->world, client, handle_of(lock));
    client_watch(client);
    TRACE(client->world, name_of_handle(client, handle_of(lock)), "has lost the lock");
    alarm_on_lost(client, handle_of(lock));
    workload_on_lost(client, handle_of(lock));
}

static void on_validity(struct rl_host *host, struct rl_host_lock *lock)
{
    client_of(host)->world->coverage->reports[REPORT_VALIDITY]++;
}

static void on_disposed(struct rl_host *host, const struct rl_claim *claim)
{
    struct client *client = client_of(host);
    struct box *box = client_box(client, claim);

    client->world->coverage->reports[REPORT_DISPOSED]++;
    client_watch(client);
    unbind(client, claim);
    if (box->claim == claim)
        box->claim = NULL;
    if (--box->n_claims)
        return; /* it has been copied */
    box->let_go |= client->late_import;
    memory_on_dispose(client->world, box);
    residue_on_dispose(client->world, box);
    box->disposed = true;
}

/* --- Of masters --------------------------------------------------------------------------------------------------- */

static void on_link(struct rl_host *host, unsigned node, enum rl_link link, const char *why)
{
    static const char *const names[] = {"joining", "ready", "late", "down"};
    struct client *client = client_of(host);
    enum rl_link before = host->engine.votes.links[node];

    client->world->coverage->links[before][link]++;
    network_path(client->world, client->index, client->machines[node])->disturbed = client_true_now(client);
    if (link == RL_LINK_READY)
        observer_on_ready(client->world, client);
    TRACE(client->world, name_of_client(client->index), "%s is %s", name_of_place(client, node), names[link]);
}

static void on_listening(struct rl_host *host, unsigned node, bool on, const char *why)
{
    struct client *client = client_of(host);

    client->world->coverage->reports[REPORT_LISTENING]++;
    TRACE(client->world, name_of_client(client->index), on ? "%s is heard" : "%s is not heard any more",
          name_of_place(client, node));
}

static void on_vote(struct rl_host *host, unsigned node, const struct rl_vote_report *vote)
{
    struct client *client = client_of(host);
    const struct box *box = client_box(client, vote->claim);

    client_watch(client);
    if (!client->answering)
        return; /* the vote of a notification */
    trace_answer(client, box, vote->step, node, vote->answer);
    client->world->coverage->answers[vote->step][vote->answer.outcome]++;
    client->world->coverage->details[vote->answer.detail]++;
    if (box->disposed)
        world_violation(client->world, "memory", "a reply for value %s, which was disposed of", box->token);
    client_hiccup(client);
}

static void on_verified(struct rl_host *host, unsigned node)
{
    client_of(host)->world->coverage->reports[REPORT_VERIFIED]++;
}

static void on_admission(struct rl_host *host, unsigned node, const struct rl_admission_status *status)
{
    static const char *const kinds[] = {"unknown", "votes", "quarantined", "excluded"};
    struct client *client = client_of(host);

    client->world->coverage->admissions[status->kind]++;
    client->world->coverage->rl_faults[status->fault]++;
    if (status->kind == RL_ADMISSION_UNEVALUATED)
        world_count(client->world, COUNTER_RETOLD);
    if (status->kind != RL_ADMISSION_VOTES)
        TRACE(client->world, name_of_client(client->index), "%s: %s, %s", name_of_place(client, node),
              kinds[status->kind], rl_fault_text(status->fault));
}

static void on_clock(struct rl_host *host, unsigned node, struct rl_span step)
{
    struct client *client = client_of(host);

    if (step.ns <= 0)
        return;
    client->clock_stepped = true;
    TRACE(client->world, name_of_client(client->index), "%s: its clock was set forward, by %.3f ms at most",
          name_of_place(client, node), (double)step.ns / 1e6);
    client->world->coverage->steps_seen++;
}

static void on_own_clock(struct rl_host *host, uint32_t nodes, const struct rl_clock_move *move)
{
    struct client *client = client_of(host);

    TRACE(client->world, name_of_client(client->index), "its own clock stood still, for %.3f ms at most",
          (double)move->most.ns / 1e6);
    steps_on_own(client->world, client, nodes, move);
}

/* --- The list of masters changes ---------------------------------------------------------------------------------- */

unsigned client_find_place(const struct client *client, unsigned machine)
{
    unsigned place = 0;

    while (place < client->n_places && (client->machines[place] != machine || client->wires[place].leaving))
        place++;
    return place < client->n_places ? place : NO_PLACE;
}

unsigned client_place(const struct client *client, uint16_t conn)
{
    bool listens = client->world->conns[conn].listens;
    unsigned place = 0;

    while (place < client->n_places && (listens ? client->listeners[place].conn : client->wires[place].conn) != conn)
        place++;
    assert(place < client->n_places);
    return place;
}

static bool on_new_member(struct rl_host *host, unsigned node, const char *name, const char **ret_why_not)
{
    struct client *client = client_of(host);
    unsigned machine = machine_by_name(name);

    assert(machine < client->world->plan.n_masters && client_find_place(client, machine) == NO_PLACE);
    *ret_why_not = NULL;
    client->renamed &= (uint16_t)~(1u << machine);
    client->renamed |= (uint16_t)(is_other_name(name) << machine);
    if (node == client->n_places)
        client->n_places++;
    TRACE(client->world, name_of_client(client->index), "%s is to be a master", name_of_master(machine));
    steps_on_new_member(client->world, client, machine);
    wire_add(client, node, machine);
    listener_add(client, node);
    return true;
}

static int on_place_of(struct rl_host *host, const char *name)
{
    const struct client *client = client_of(host);
    unsigned machine = machine_by_name(name);
    unsigned place = client_find_place(client, machine);

    return place == NO_PLACE || (client->renamed >> machine & 1u) != is_other_name(name) ? -1 : (int)place;
}

/* Names lead to other servers only where somebody has not seen to it that they do not. */
static void on_name_member(struct rl_host *host, unsigned node, const char *name)
{
    struct client *client = client_of(host);
    unsigned machine = machine_by_name(name);

    if ((client->renamed >> machine & 1u) == is_other_name(name))
        return;
    TRACE(client->world, name_of_client(client->index), "%s is %s now", name_of_place(client, node), name);
    client->renamed ^= (uint16_t)(1u << machine);
    if (client->world->plan.mislead)
        network_lead(client->world, client->index, machine, machine_behind(&client->world->plan, name));
    world_count(client->world, COUNTER_RENAMED);
}

static void on_members_changed(struct rl_host *host)
{
    struct client *client = client_of(host);

    unsigned list = list_by_id(&client->world->plan, host->trust.names.list_id);

    TRACE(client->world, name_of_client(client->index), "goes by the list %s",
          name_of_list(&client->world->plan, &client->world->change.lists[list]));
    client->went_by |= UINT32_C(1) << list;
    client->adopted_at = host->now;
    world_count(client->world, COUNTER_VIEWS_ADOPTED);
    client->world->coverage->reports[REPORT_MEMBERS]++;
    client_watch(client);
}

const struct rl_host_sink client_sink = {
    .complete = on_complete, .attempt = on_attempt,     .waiting = on_waiting,     .backoff = on_backoff,
    .extending = on_extending, .renewed = on_renewed,   .at_risk = on_at_risk,     .lost = on_lost,
    .validity = on_validity, .disposed = on_disposed,   .link = on_link,           .listening = on_listening,
    .vote = on_vote,         .verified = on_verified,   .admission = on_admission, .clock = on_clock,
    .own_clock = on_own_clock, .new_member = on_new_member, .members_changed = on_members_changed,
    .name_member = on_name_member, .place_of = on_place_of,
};

/* --- Readings of clocks ------------------------------------------------------------------------------------------- */

struct rl_node_clock client_clock_before(const struct client *client, unsigned node)
{
    return client->host.trust.nodes[node].clock;
}

/* How large a step may be that a reading now does not show, for the oracle. */
static int64_t uncertainty_of(const struct client *client, const struct rl_node_clock *clock, struct rl_instant sent)
{
    int64_t ppm = client->host.engine.votes.config.drift.ppm;
    int64_t drift = clock->at.ns == RL_LONG_AGO.ns ? 0 : rl_until(clock->at, client->host.now).ns / 1000 * ppm / 1000;

    return clock->high_ns - clock->low_ns + 3 * drift + 2 * rl_until(sent, client->host.now).ns + 2 * RL_NS_PER_MS;
}

void client_clock_after(struct client *client, unsigned node, const struct rl_node_clock *before,
                        struct rl_instant sent)
{
    const struct rl_node_clock *clock = &client->host.trust.nodes[node].clock;

    if (memcmp(before, clock, sizeof *clock) != 0)
        steps_on_reading(client->world, client, node, client->clock_stepped ? RL_CLOCK_FORWARD : RL_CLOCK_STEADY, sent,
                         uncertainty_of(client, before, sent));
    client->clock_stepped = false;
}
