/* Looks at keys, from the call to the callback (host/look.c). */
#include "api/look.h"

#include <stdlib.h>

#include <redlock/look.h>

#include "api/handle.h"
#include "api/key.h"
#include "api/public.h"
#include "api/reason.h"
#include "host/look.h"
#include "host/trust/admission.h"

_Static_assert(REDLOCK_LOOK_MAX_VOTES == RL_LOOK_VOTES && REDLOCK_LOOK_MAX_WAITERS == RL_LOOK_WAITERS &&
                   REDLOCK_LOOK_MAX_VALUE_BYTES == RL_LOOK_VALUE_BYTES,
               "the limits are the script's");

struct look {
    struct rl_list link; /* in one of the client's lists */
    struct redlock_client *client;
    struct rl_look look;
    struct rl_instant started;
    redlock_look_fn cb;
    void *user_data;
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
    const struct redlock_client *client = look->client;

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
    const struct redlock_client *client = look->client;

    report->result = (struct redlock_look_result){
        .status = status,
        .verdict = REDLOCK_LOOK_UNKNOWN,
        .quorum = client->options.quorum,
        .elapsed_us = rl_until(look->started, client->host.now).ns / RL_NS_PER_US,
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

/* From here on it does not count any more. */
static void take_out(struct look *look)
{
    rl_list_remove(&look->link);
    look->client->n_looks--;
}

static void drop(struct look *look)
{
    rl_look_fini(&look->look);
    free(look);
}

/* A forked child's looks are the parent's. */
static void call_back(struct look *look, int status)
{
    struct redlock_client *client = look->client;
    struct report report;

    take_out(look);
    if (!rl_client_forked(client)) {
        make_report(look, status, &report);
        client->depth++;
        look->cb(client, &report.result, look->user_data);
        client->depth--;
    }
    drop(look);
}

static void on_done(struct rl_look *done)
{
    struct look *look = RL_CONTAINER_OF(done, struct look, look);
    struct redlock_client *client = look->client;

    rl_list_remove(&look->link);
    rl_list_append(&client->looks_over, &look->link);
    rl_transport_wake(&client->host.transport);
}

/* Those that are over by now: what callbacks begin is left for the next turn. A callback that destroys the client
 * cancels the others. */
void rl_looks_deliver(struct redlock_client *client)
{
    unsigned n = 0;

    for (struct rl_list *at = client->looks_over.next; at != &client->looks_over; at = at->next)
        n++;
    for (; n && !client->destroyed; n--)
        call_back(RL_CONTAINER_OF(client->looks_over.next, struct look, link), REDLOCK_OK);
}

void rl_looks_cancel(struct redlock_client *client)
{
    while (!rl_list_empty(&client->looks_over))
        call_back(RL_CONTAINER_OF(client->looks_over.next, struct look, link), REDLOCK_CANCELED);
    while (!rl_list_empty(&client->looks))
        call_back(RL_CONTAINER_OF(client->looks.next, struct look, link), REDLOCK_CANCELED);
}

static struct look *create(struct redlock_client *client, redlock_look_fn cb, void *user_data)
{
    struct look *look = calloc(1, sizeof *look);

    if (!look)
        return NULL;
    look->client = client;
    look->cb = cb;
    look->user_data = user_data;
    look->started = rl_host_read_clock(&client->host);
    rl_list_append(&client->looks, &look->link);
    client->n_looks++;
    return look;
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
    if (client->n_looks == REDLOCK_MAX_LOOKS)
        return REDLOCK_E_LIMIT;
    name = rl_key_create(rl_trust_prefix(&client->host), key, key_size);
    look = name ? create(client, cb, user_data) : NULL;
    if (!look || !rl_look_start(&client->host, &look->look, name, on_done)) {
        if (look) {
            take_out(look);
            drop(look);
        }
        status = REDLOCK_E_NOMEM;
    }
    client->stats.looks += status == 0;
    rl_key_unref(name);
    return status;
}
