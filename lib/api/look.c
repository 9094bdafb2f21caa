/* Looks at keys, from the call to the callback (host/look.c). */
#include <redlock/look.h>

#include <stdlib.h>

#include "api/call.h"
#include "api/handle.h"
#include "api/options.h"
#include "api/public.h"
#include "api/reason.h"
#include "host/look.h"
#include "host/trust/admission.h"

_Static_assert(REDLOCK_LOOK_MAX_VOTES == RL_LOOK_VOTES && REDLOCK_LOOK_MAX_WAITERS == RL_LOOK_WAITERS &&
                   REDLOCK_LOOK_MAX_VALUE_BYTES == RL_LOOK_VALUE_BYTES,
               "the limits are the script's");

struct look {
    struct rl_object object;
    struct rl_look look;
    struct rl_call call;
};

/* --- Results ---------------------------------------------------------------------------------------------------- */

/* The result, with all that its pointers refer to. */
struct report {
    struct redlock_look_result result;
    struct rl_look_picture picture;
    struct redlock_look_value values[RL_LOOK_VOTES];
    struct redlock_look_value waiters[RL_LOOK_WAITERS];
    struct redlock_look_node nodes[REDLOCK_MAX_MASTERS];
    struct redlock_node_result details[REDLOCK_MAX_MASTERS];
    struct rl_reasons reasons;
};

static struct redlock_look_value value_of(const struct rl_look_value *value)
{
    return (struct redlock_look_value){
        .value = value->value.data,
        .value_size = value->value.size,
        .mode = rl_public_mode(value->mode),
        .masters = value->masters,
        .left_ms = value->left_ms,
        .ticket = value->ticket,
        .fence = value->counter,
    };
}

static void fill_values(struct report *report)
{
    const struct rl_look_picture *picture = &report->picture;
    struct redlock_look_result *result = &report->result;

    for (size_t i = 0; i < picture->n_values; i++)
        report->values[i] = value_of(&picture->values[i]);
    for (size_t i = 0; i < picture->n_waiters; i++)
        report->waiters[i] = value_of(&picture->waiters[i]);
    result->verdict = rl_public_verdict(picture->verdict);
    result->n_votes = picture->n_votes;
    result->n_waiting = picture->n_waiting;
    result->n_holders = picture->n_holders;
    result->n_values = picture->n_values;
    result->n_waiters = picture->n_waiters;
}

static const char *detail_of(const struct look *look, unsigned i, struct report *report)
{
    const struct rl_look_node *node = &look->look.nodes[i];
    const struct rl_vote vote = {.answer = RL_FAILED, .detail = (uint8_t)node->why};

    return node->answered ? "" : rl_reason_of(&report->reasons, i, &vote);
}

static void fill_nodes(const struct look *look, struct report *report)
{
    const struct redlock_client *client = look->object.client;

    rl_reasons_init(&report->reasons, client);
    for (unsigned i = 0; i < report->result.n_nodes; i++) {
        const struct rl_look_node *node = &look->look.nodes[i];

        report->nodes[i] = (struct redlock_look_node){
            .name = rl_driver_node_name(client->driver, i),
            .answered = node->answered,
            .foreign = node->foreign,
            .n_votes = node->n_votes,
            .n_waiting = node->n_waiting,
            .latency_us = node->answered ? rl_public_latency_us(node->latency_us) : -1,
            .detail = detail_of(look, i, report),
        };
        report->details[i] = (struct redlock_node_result){.name = report->nodes[i].name,
                                                          .detail = report->nodes[i].detail};
        report->result.answered += node->answered;
    }
}

static void fill_why(struct report *report)
{
    struct redlock_result failure = {
        .status = REDLOCK_NO_QUORUM,
        .quorum = report->result.quorum,
        .granted = report->result.answered,
        .n_nodes = report->result.n_nodes,
        .nodes = report->details,
    };

    rl_reason_count(&report->reasons, &failure);
    report->result.why = rl_reason_sum_up(&report->reasons, &failure);
}

static void make_report(const struct look *look, int status, struct report *report)
{
    const struct redlock_client *client = look->object.client;

    report->result = (struct redlock_look_result){
        .status = status,
        .verdict = REDLOCK_LOOK_UNKNOWN,
        .quorum = (unsigned)client->host.engine.votes.config.quorum,
        .elapsed_us = rl_until(look->call.started, client->host.now).ns / RL_NS_PER_US,
        .values = report->values,
        .waiters = report->waiters,
        .n_nodes = client->host.engine.votes.config.n_nodes,
        .nodes = report->nodes,
        .why = "",
    };
    fill_nodes(look, report);
    if (status == REDLOCK_OK && !rl_look_picture(&look->look, &report->picture))
        report->result.status = REDLOCK_E_NOMEM;
    else if (status == REDLOCK_OK)
        fill_values(report);
    if (report->result.status == REDLOCK_OK && report->result.verdict == REDLOCK_LOOK_UNKNOWN)
        report->result.status = REDLOCK_NO_QUORUM;
    if (report->result.status == REDLOCK_NO_QUORUM)
        fill_why(report);
    else if (report->result.status != REDLOCK_OK)
        report->result.why = redlock_strerror(report->result.status);
}

/* --- Life ------------------------------------------------------------------------------------------------------- */

/* `ended` has been taken off the look. A forked child's looks are the parent's. */
static void call_back(struct look *look, struct rl_call ended)
{
    struct redlock_client *client = look->object.client;
    struct report report;

    if (rl_client_forked(client))
        return;
    make_report(look, ended.status, &report);
    ended.cb.look(client, &report.result, ended.user_data);
}

static struct look *look_of(struct rl_object *object)
{
    return RL_CONTAINER_OF(object, struct look, object);
}

/* A look that is over does not count any more when its callback runs. */
static void deliver(struct rl_object *object)
{
    struct rl_call ended = rl_call_take(&look_of(object)->call);

    rl_object_destroy(object);
    call_back(look_of(object), ended);
}

static void destroy(struct rl_object *object)
{
    struct look *look = look_of(object);

    if (!look->call.accepted)
        return;
    rl_call_end(&look->call, REDLOCK_CANCELED, 0);
    call_back(look, rl_call_take(&look->call));
}

static void give_memory_back(struct rl_object *object)
{
    rl_look_fini(&look_of(object)->look);
    free(look_of(object));
}

static const struct rl_object_type type = {
    .kind = RL_OBJECT_LOOK,
    .destroy = destroy,
    .deliver = deliver,
    .free = give_memory_back,
};

static void on_done(struct rl_look *done)
{
    struct look *look = RL_CONTAINER_OF(done, struct look, look);

    rl_call_end(&look->call, REDLOCK_OK, 0);
    rl_object_due(&look->object);
}

int redlock_look(struct redlock_client *client, const void *key, size_t key_size, redlock_look_fn cb, void *user_data)
{
    struct rl_key *name;
    struct look *look;
    int status;

    if (!client || !cb || (!key && key_size))
        return REDLOCK_E_ARGUMENT;
    status = rl_key_check(client, key, key_size, 0);
    if (status < 0)
        return status;
    if (client->counts[RL_OBJECT_LOOK] == REDLOCK_MAX_LOOKS)
        return REDLOCK_E_LIMIT;
    name = rl_key_create(rl_trust_prefix(&client->host), key, key_size);
    look = name ? calloc(1, sizeof *look) : NULL;
    if (look) {
        rl_object_init(&look->object, client, &type);
        rl_call_begin(&look->call, 0, rl_host_read_clock(&client->host), user_data);
        look->call.cb.look = cb;
    }
    if (!look || !rl_look_start(&client->host, &look->look, name, on_done)) {
        if (look) {
            look->call.accepted = false;
            rl_object_destroy(&look->object);
        }
        status = REDLOCK_E_NOMEM;
    }
    client->stats.looks += status == 0;
    rl_key_unref(name);
    return status;
}
