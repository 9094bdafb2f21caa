/* Whom a client trusts: what lib/host/trust/trust.c, standing.c and trust_join.c do, without their texts.
 *
 *     connected -> settings, JOIN -> judged -> READY
 *     end of each turn -> guard: HGET marker inc, TIME -> the masters' clocks, proof */
#include <stdio.h>
#include <string.h>

#include "world.h"

static const struct rl_span look_again_after = {CLIENT_LOOKS_AGAIN_NS};
static const struct rl_span ask_again_after = {1000 * RL_NS_PER_MS};

void client_trust_start(struct client *client)
{
    static const struct rl_admission_status votes = {.kind = RL_ADMISSION_VOTES};

    client->known = (struct rl_deployment){0};
    client->engine.votes.config.max_ttl_ms = client->world->plan.own_ttl_ms[client->index];
    for (unsigned node = 0; node < client->world->plan.n_masters; node++) {
        struct trust *trust = &client->trust[node];

        trust->incarnation[0] = '\0';
        trust->looked = false;
        trust->durability = RL_DURABILITY_UNKNOWN;
        trust->generation++;
        rl_nodeclock_init(&trust->clock);
        if (!client->world->plan.guarded)
            rl_engine_admission(&client->engine, node, &votes);
    }
}

/* --- Clocks ------------------------------------------------------------------------------------------------------- */

static void stepped_forward(struct client *client, unsigned node, struct rl_span step)
{
    TRACE(client->world, name_of_client(client->index), "%s: its clock was set forward, by %.3f ms at most",
          name_of_master(node), (double)step.ns / 1e6);
    client->world->coverage->steps_seen++;
    rl_engine_clock_stepped(&client->engine, client->now, node);
    for (unsigned i = 0; i < client->n_handles; i++)
        rl_lock_clock_stepped(&client->engine, &client->handles[i].lock, client->now, node, step);
}

/* How large a step may be that a reading now does not show, for the oracle. */
static int64_t uncertainty_of(const struct client *client, const struct rl_nodeclock *clock, struct rl_instant sent)
{
    int64_t ppm = client->engine.votes.config.drift.ppm;
    int64_t drift = clock->at.ns == RL_LONG_AGO.ns ? 0 : rl_until(clock->at, client->now).ns / 1000 * ppm / 1000;

    return clock->high_ns - clock->low_ns + 3 * drift + 2 * rl_until(sent, client->now).ns + 2 * RL_NS_PER_MS;
}

void client_trust_read_clock(struct client *client, unsigned node, int64_t node_us, struct rl_instant sent)
{
    struct rl_nodeclock *clock = &client->trust[node].clock;
    int64_t uncertainty = uncertainty_of(client, clock, sent);
    enum rl_clock_finding finding =
        rl_nodeclock_read(clock, client->engine.votes.config.drift.ppm, node_us, sent, client->now);

    if (finding == RL_CLOCK_FORWARD)
        stepped_forward(client, node, clock->last_step);
    steps_on_reading(client->world, client, node, finding, sent, uncertainty);
}

/* --- The handshake ------------------------------------------------------------------------------------------------ */

/* In some worlds the rights to see the settings are missing. */
static enum rl_durability durability_of(const struct client *client, const struct rl_reply *reply)
{
    if (client->world->plan.no_config)
        return RL_DURABILITY_UNKNOWN;
    if (RL_MUTANT(DURABLE_EVERYSEC) && reply->root.text.size == 8)
        return RL_DURABILITY_ALWAYS;
    return reply->root.text.size == 6 && memcmp(reply->root.text.data, "always", 6) == 0 ? RL_DURABILITY_ALWAYS
                                                                                      : RL_DURABILITY_NONE;
}

void client_trust_greet(struct client *client, unsigned node, const struct rl_reply *settings)
{
    struct trust *trust = &client->trust[node];
    char incarnation[16];
    int size = snprintf(incarnation, sizeof incarnation, "i%u", ++client->world->incarnations);
    struct message message = {.kind = MESSAGE_COMMAND, .step = HOST_JOIN};
    struct pending pending = {.box = BOX_NONE, .sent = client->now, .step = HOST_JOIN};
    struct rl_command command;
    char seat[4];
    int seat_size = snprintf(seat, sizeof seat, "m%u", node + 1);

    trust->durability = durability_of(client, settings);
    rl_join_command(&(struct rl_join_question){.mode = RL_JOIN_VOTE,
                                               .marker = {MARKER_KEY, 1},
                                               .incarnation = {incarnation, (size_t)size},
                                               .deployment_id = {RING, sizeof RING - 1},
                                               .node_id = {seat, (size_t)seat_size},
                                               .max_ttl_ms = client->world->plan.own_ttl_ms[client->index],
                                               .durability = trust->durability,
                                               .known = client->known},
                    &command);
    message_pack_command(&message, &command);
    wire_write(client, node, &message, &pending);
}

static void look_later(struct client *client, unsigned node, const struct rl_admission_status *standing)
{
    struct trust *trust = &client->trust[node];
    struct rl_instant at = rl_after(client->now, look_again_after);

    trust->generation++;
    if (standing->kind == RL_ADMISSION_QUARANTINED && !rl_admission_votes(standing, client->now))
        at = rl_earlier(standing->until, rl_after(client->now, ask_again_after));
    else if (standing->kind != RL_ADMISSION_EXCLUDED && !client->world->plan.mixed)
        return;
    world_event(client->world, client_when(client, at), EVENT_LOOK, client->index, node, trust->generation);
}

static void judged(struct client *client, unsigned node, const struct rl_admission_status *standing)
{
    static const char *const kinds[] = {"unjudged", "votes", "quarantined", "excluded"};

    client->world->coverage->standings[standing->kind]++;
    client->world->coverage->rl_faults[standing->fault]++;
    if (standing->kind != RL_ADMISSION_VOTES)
        TRACE(client->world, name_of_client(client->index), "%s: %s, %s", name_of_master(node),
              kinds[standing->kind], rl_fault_text(standing->fault));
    rl_engine_admission(&client->engine, node, standing);
    look_later(client, node, standing);
}

/* --- The deployment ----------------------------------------------------------------------------------------------- */

static void judge(struct client *client, unsigned node)
{
    const struct trust *trust = &client->trust[node];
    struct rl_join_rules rules = {
        .drift_ppm = client->engine.votes.config.drift.ppm,
        .max_ttl_ms = client->world->plan.own_ttl_ms[client->index],
        .allowed_ms = client->known.max_ttl_ms,
    };
    struct rl_admission_status standing = rl_join_evaluate(&trust->report, &rules, trust->received);

    judged(client, node, &standing);
}

static void ask_anew(struct client *client, unsigned node)
{
    static const struct rl_admission_status unjudged = {.kind = RL_ADMISSION_UNEVALUATED, .epoch_checked = true};

    world_count(client->world, COUNTER_RETOLD);
    judged(client, node, &unjudged);
    for (unsigned i = 0; i < client->n_handles; i++)
        rl_lock_disregard(&client->handles[i].lock, node);
    wire_give_up(client, node, "max_ttl has been declared since it was looked at");
}

/* As in lib/host/trust/handshake.c. */
static void learn(struct client *client, unsigned joined)
{
    struct rl_deployment *known = &client->known;
    uint32_t allowed_ms = known->max_ttl_ms;
    unsigned n = client->world->plan.n_masters;

    known->longest_ms = known->max_ttl_ms;
    for (unsigned i = 0; i < n; i++) {
        if (client->trust[i].looked)
            rl_deployment_add(known, &client->trust[i].report, client->trust[i].received, client->now);
    }
    client->engine.votes.config.max_ttl_ms =
        rl_deployment_longest(known, client->world->plan.own_ttl_ms[client->index]);
    for (unsigned i = 0; i < n; i++) {
        if (i == joined || !client->trust[i].looked || client->wires[i].phase != WIRE_OPEN)
            continue;
        if (rl_deployment_missed(known, &client->trust[i].report))
            ask_anew(client, i);
        else if (allowed_ms != known->max_ttl_ms)
            judge(client, i);
    }
}

static bool join(struct client *client, unsigned node, const struct pending *pending, const struct rl_reply *reply)
{
    static const struct rl_admission_status no_rights = {.kind = RL_ADMISSION_EXCLUDED, .fault = RL_FAULT_NO_RIGHTS};
    struct rl_join_report report;

    if (reply->root.type == RL_REPLY_ERROR && rl_join_is_refusal(reply->root.text)) {
        judged(client, node, &no_rights);
        return true;
    }
    if (!rl_join_parse(reply, &report))
        return false;
    client->world->coverage->joins[report.event]++;
    if (report.event != RL_JOIN_KEPT)
        TRACE(client->world, name_of_client(client->index), "%s: %s", name_of_master(node), name_of_join(report.event));
    snprintf(client->trust[node].incarnation, sizeof client->trust[node].incarnation, "%.15s", report.incarnation);
    client->trust[node].report = report;
    client->trust[node].received = client->now;
    client->trust[node].looked = true;
    learn(client, node);
    if (rl_deployment_missed(&client->known, &report)) {
        ask_anew(client, node);
        return false;
    }
    judge(client, node);
    client_trust_read_clock(client, node, report.time_us, pending->sent);
    return true;
}

/* --- Guards ------------------------------------------------------------------------------------------------------- */

static void ask(struct client *client, unsigned node)
{
    struct message message = {.kind = MESSAGE_GUARD, .step = HOST_GUARD};
    struct pending pending = {.box = BOX_NONE, .sent = client->now, .step = HOST_GUARD};

    wire_write(client, node, &message, &pending);
}

void client_trust_guard(struct client *client)
{
    uint32_t nodes = rl_engine_take_unchecked(&client->engine);

    if (nodes)
        client_read_clock(client);
    for (unsigned node = 0; nodes >> node; node++) {
        if (nodes >> node & 1u)
            ask(client, node);
    }
}

static int64_t number_of(struct rl_slice text)
{
    int64_t number = 0;

    for (size_t i = 0; i < text.size; i++)
        number = 10 * number + (((const char *)text.data)[i] - '0');
    return number;
}

static bool is_same_memory(const struct trust *trust, const struct rl_reply_item *item)
{
    return item->type == RL_REPLY_STRING && item->text.size == strlen(trust->incarnation) &&
           memcmp(item->text.data, trust->incarnation, item->text.size) == 0;
}

static bool prove(struct client *client, unsigned node, const struct pending *pending, const struct rl_reply *reply)
{
    bool same = RL_MUTANT(EPOCH_CHECK_BELIEVED) || is_same_memory(&client->trust[node], &reply->elements[0]);

    client_trust_read_clock(client, node,
                            number_of(reply->elements[1].text) * 1000000 + number_of(reply->elements[2].text),
                            pending->sent);
    if (!same)
        TRACE(client->world, name_of_client(client->index), "%s: its memory is another one", name_of_master(node));
    rl_engine_epoch_checked(&client->engine, client->now, node, same);
    return same;
}

bool client_trust_reply(struct client *client, unsigned node, const struct pending *pending,
                        const struct rl_reply *reply)
{
    bool good = pending->step == HOST_JOIN ? join(client, node, pending, reply) : prove(client, node, pending, reply);

    client_pump(client);
    return good;
}

void client_trust_look(struct client *client, unsigned node)
{
    const struct rl_admission_status *standing = &client->engine.votes.admissions[node];

    if (standing->kind == RL_ADMISSION_EXCLUDED) {
        wire_give_up(client, node, "looked at again");
    } else if (!rl_admission_votes(standing, client->now) || client->world->plan.mixed) {
        if (client->wires[node].phase == WIRE_OPEN)
            ask(client, node);
        look_later(client, node, standing);
    }
}
