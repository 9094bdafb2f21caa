/* Latches behind their opaque handles (host/latch.c). */
#include <redlock/latch.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/call.h"
#include "api/evidence.h"
#include "api/handle.h"
#include "api/object.h"
#include "api/options.h"
#include "api/public.h"
#include "api/reason.h"
#include "host/latch.h"
#include "kinds/names.h"

_Static_assert(REDLOCK_MAX_PARTIES == RL_LATCH_PARTIES && REDLOCK_MAX_PARTY_BYTES == RL_LATCH_PARTY_BYTES,
               "the limits are the script's");

struct redlock_latch {
    struct rl_object object;
    struct rl_latch core;
    struct rl_call calls[RL_LATCH_N_OPS];
};

/* --- Results ---------------------------------------------------------------------------------------------------- */

/* The result, with all that its pointers refer to. */
struct report {
    struct redlock_latch_result result;
    const char *arrived[RL_LATCH_PARTIES];
    struct redlock_latch_node nodes[REDLOCK_MAX_MASTERS];
    struct redlock_node_result details[REDLOCK_MAX_MASTERS];
    struct rl_reasons reasons;
};

static const char *detail_of(const struct redlock_latch *latch, unsigned i, struct report *report)
{
    const struct rl_latch_node *node = &latch->core.nodes[i];
    const struct rl_vote vote = {.answer = node->why == RL_DETAIL_NONE ? RL_NOT_ASKED : RL_FAILED,
                                 .detail = (uint8_t)node->why};

    return node->answered ? "" : rl_reason_of(&report->reasons, i, &vote);
}

static void fill_nodes(const struct redlock_latch *latch, enum rl_latch_op op, struct report *report)
{
    const struct redlock_client *client = latch->object.client;

    rl_reasons_init(&report->reasons, client);
    for (unsigned i = 0; i < report->result.n_nodes; i++) {
        const struct rl_latch_node *node = &latch->core.nodes[i];

        report->nodes[i] = (struct redlock_latch_node){
            .name = rl_driver_node_name(client->driver, i),
            .answered = node->answered,
            .arrived = node->arrived,
            .open = node->open,
            .latency_us = node->answered ? rl_public_latency_us(node->latency_us) : -1,
            .detail = detail_of(latch, i, report),
        };
        report->details[i] = (struct redlock_node_result){.name = report->nodes[i].name,
                                                          .detail = report->nodes[i].detail};
        report->result.confirmed += op == RL_LATCH_ARRIVE ? node->arrived : node->open;
    }
}

/* Masters in quarantine are asked like others, so it does not matter here how many can vote. */
static void explain_masters(struct report *report)
{
    struct redlock_result failure = {
        .status = REDLOCK_NO_QUORUM,
        .quorum = report->result.quorum,
        .n_nodes = report->result.n_nodes,
        .nodes = report->details,
    };

    for (unsigned i = 0; i < report->result.n_nodes; i++)
        failure.granted += report->nodes[i].answered;
    rl_reason_count(&report->reasons, &failure);
    failure.voting = failure.reachable;
    rl_reason_sum_up(&report->reasons, &failure);
}

static void explain(const struct redlock_latch *latch, enum rl_latch_op op, struct report *report)
{
    report->result.why = report->reasons.why;
    if (report->result.cause == REDLOCK_NO_QUORUM)
        explain_masters(report);
    else if (report->result.status == REDLOCK_DEADLINE && op == RL_LATCH_AWAIT)
        snprintf(report->reasons.why, sizeof report->reasons.why, "%zu of %u parties are known to have arrived",
                 report->result.n_arrived, latch->core.config.parties);
    else if (report->result.status != REDLOCK_OK)
        report->result.why = redlock_strerror(report->result.status);
}

/* The core counts the party as soon as it has said that it has arrived. Where that was refused, and no master has
 * recorded it, it has not. */
static void fill_names(const struct redlock_latch *latch, struct report *report)
{
    const struct rl_latch_names *names = &latch->core.names;
    struct redlock_latch_result *result = &report->result;
    bool refused = result->status == REDLOCK_OTHER_PARTIES || result->status == REDLOCK_OTHER_GENERATION;

    for (size_t i = 0; refused && i < result->n_nodes; i++)
        refused = !report->nodes[i].arrived;
    result->arrived = report->arrived;
    for (size_t i = 0; i < names->n; i++) {
        if (!refused || strcmp(names->at[i]->text, latch->core.party.text) != 0)
            report->arrived[result->n_arrived++] = names->at[i]->text;
    }
}

static void make_report(const struct redlock_latch *latch, enum rl_latch_op op, const struct rl_call *ended,
                        struct report *report)
{
    const struct redlock_client *client = latch->object.client;

    report->result = (struct redlock_latch_result){
        .status = ended->status,
        .cause = ended->cause,
        .quorum = (unsigned)client->host.engine.votes.config.quorum,
        .elapsed_us = rl_until(ended->started, client->host.now).ns / RL_NS_PER_US,
        .n_nodes = client->host.engine.votes.config.n_nodes,
        .nodes = report->nodes,
    };
    fill_nodes(latch, op, report);
    fill_names(latch, report);
    explain(latch, op, report);
}

/* --- Callbacks -------------------------------------------------------------------------------------------------- */

static void count(struct redlock_stats *stats, enum rl_latch_op op, int status)
{
    if (status == REDLOCK_OK && op == RL_LATCH_ARRIVE)
        stats->latch_arrived++;
    if (status == REDLOCK_OK && op == RL_LATCH_AWAIT)
        stats->latch_opened++;
    if (status == REDLOCK_OTHER_PARTIES || status == REDLOCK_OTHER_GENERATION)
        stats->latch_refused++;
}

static void observe(struct redlock_latch *latch, enum redlock_event_type type,
                    const struct redlock_latch_result *result)
{
    rl_observe(latch->object.client, &(struct redlock_event){.type = type, .latch = latch, .status = result->status,
                                                      .cause = result->cause, .text = result->why});
}

/* A forked child's operations are the parent's. The end of a latch that is being destroyed is no event. */
static void call_back(struct redlock_latch *latch, enum rl_latch_op op)
{
    enum redlock_event_type type = op == RL_LATCH_ARRIVE ? REDLOCK_EVENT_LATCH_ARRIVED : REDLOCK_EVENT_LATCH_AWAITED;
    bool observed = rl_observes(latch->object.client, type) && !latch->object.destroyed;
    struct rl_call ended = rl_call_take(&latch->calls[op]);
    struct report report;

    count(&latch->object.client->stats, op, ended.status);
    if ((!ended.cb.latch && !observed) || rl_client_forked(latch->object.client))
        return;
    make_report(latch, op, &ended, &report);
    if (observed)
        observe(latch, type, &report.result);
    if (ended.cb.latch)
        ended.cb.latch(latch, &report.result, ended.user_data);
}

static void end_call(struct redlock_latch *latch, enum rl_latch_op op, int status, int cause)
{
    rl_call_end(&latch->calls[op], status, cause);
    rl_object_due(&latch->object);
}

static void on_done(struct rl_latch *core, enum rl_latch_op op, int status, int cause)
{
    end_call(RL_CONTAINER_OF(core, struct redlock_latch, core), op, status, cause);
}

/* --- Life ------------------------------------------------------------------------------------------------------- */

static struct redlock_latch *latch_of(struct rl_object *object)
{
    return RL_CONTAINER_OF(object, struct redlock_latch, object);
}

static void deliver(struct rl_object *object)
{
    struct redlock_latch *latch = latch_of(object);

    for (enum rl_latch_op op = 0; op < RL_LATCH_N_OPS && !object->destroyed; op++) {
        if (latch->calls[op].ended)
            call_back(latch, op);
    }
}

static void destroy(struct rl_object *object)
{
    struct redlock_latch *latch = latch_of(object);

    rl_latch_stop(&latch->core);
    for (enum rl_latch_op op = 0; op < RL_LATCH_N_OPS; op++) {
        rl_latch_cancel(&latch->core, op);
        if (!latch->calls[op].accepted)
            continue;
        rl_call_end(&latch->calls[op], REDLOCK_CANCELED, 0);
        call_back(latch, op);
    }
    latch->core.config.name = (struct rl_slice){0};
}

static bool cancel(struct redlock_latch *latch)
{
    bool canceled = false;

    for (enum rl_latch_op op = 0; op < RL_LATCH_N_OPS; op++) {
        if (!rl_latch_cancel(&latch->core, op))
            continue;
        end_call(latch, op, REDLOCK_CANCELED, 0);
        canceled = true;
    }
    return canceled;
}

/* A shutdown cancels the pending calls, and ends the repetitions. */
static bool end(struct rl_object *object)
{
    cancel(latch_of(object));
    rl_latch_stop(&latch_of(object)->core);
    return false;
}

/* Results on the stack point at the names of parties. */
static void give_memory_back(struct rl_object *object)
{
    rl_latch_fini(&latch_of(object)->core);
    free(latch_of(object));
}

static const struct rl_object_type type = {
    .kind = RL_OBJECT_LATCH,
    .destroy = destroy,
    .end = end,
    .deliver = deliver,
    .free = give_memory_back,
};

static const struct redlock_latch_options defaults = {.keep_ms = 86400000};

void redlock_latch_options_init_size(struct redlock_latch_options *options, size_t size)
{
    memset(options, 0, size);
    memcpy(options, &defaults, size < sizeof defaults ? size : sizeof defaults);
    options->size = size;
}

static int check_options(const struct redlock_client *client, const struct redlock_latch_options *options,
                         uint32_t *ret_keep_ms)
{
    struct redlock_latch_options own = defaults;

    if (options && options->size < RL_SMALLEST_OPTIONS)
        return REDLOCK_E_OPTIONS_SIZE;
    if (options)
        memcpy(&own, options, options->size < sizeof own ? options->size : sizeof own);
    if (own.keep_ms < client->options.max_ttl_ms || own.keep_ms > REDLOCK_MAX_KEEP_MS)
        return REDLOCK_E_TTL;
    *ret_keep_ms = own.keep_ms;
    return 0;
}

static int check_parties(uint32_t parties, struct rl_slice party)
{
    bool counts = parties >= 1 && parties <= REDLOCK_MAX_PARTIES;

    return counts && (!party.data || rl_latch_is_party(party)) ? 0 : REDLOCK_E_PARTIES;
}

static int build(struct redlock_client *client, const struct rl_latch_config *config, struct redlock_latch **ret_latch)
{
    struct redlock_latch *latch = calloc(1, sizeof *latch);

    if (!latch || !rl_latch_init(&client->host, &latch->core, config)) {
        free(latch);
        return REDLOCK_E_NOMEM;
    }
    rl_object_init(&latch->object, client, &type);
    *ret_latch = latch;
    return 0;
}

int redlock_latch_create(struct redlock_client *client, const void *name, size_t name_size, uint32_t parties,
                         uint64_t generation, const char *party, const struct redlock_latch_options *options,
                         struct redlock_latch **ret_latch)
{
    struct rl_latch_config config = {
        .name = {name, name_size},
        .parties = parties,
        .generation = generation,
        .party = {party, party ? strnlen(party, REDLOCK_MAX_PARTY_BYTES + 1) : 0},
        .done = on_done,
    };
    int status;

    if (!client || !ret_latch || (!name && name_size))
        return REDLOCK_E_ARGUMENT;
    status = rl_key_check(client, name, name_size, sizeof RL_LATCH_NAME - 1);
    if (status == 0)
        status = check_parties(parties, config.party);
    if (status == 0)
        status = check_options(client, options, &config.keep_ms);
    if (status == 0 && client->counts[RL_OBJECT_LATCH] == REDLOCK_MAX_LATCHES)
        status = REDLOCK_E_LIMIT;
    return status == 0 ? build(client, &config, ret_latch) : status;
}

void redlock_latch_destroy(struct redlock_latch *latch)
{
    rl_object_destroy(latch ? &latch->object : NULL);
}

/* --- Operations ------------------------------------------------------------------------------------------------- */

static int start(struct redlock_latch *latch, enum rl_latch_op op, int64_t timeout_ms, redlock_latch_fn cb,
                 void *user_data)
{
    struct rl_instant now;

    if (timeout_ms < REDLOCK_FOREVER || timeout_ms > REDLOCK_MAX_TIMEOUT_MS)
        return REDLOCK_E_TIMEOUT;
    if (latch->calls[op].accepted)
        return REDLOCK_E_BUSY;
    now = rl_host_read_clock(&latch->object.client->host);
    rl_call_begin(&latch->calls[op], op, now, user_data);
    latch->calls[op].cb.latch = cb;
    latch->object.client->stats.latch_arrivals += op == RL_LATCH_ARRIVE;
    latch->object.client->stats.latch_awaits += op == RL_LATCH_AWAIT;
    rl_latch_start(&latch->core, op, timeout_ms > 0 ? rl_after(now, rl_ms(timeout_ms)) : RL_NEVER, timeout_ms == 0);
    return 0;
}

int redlock_latch_arrive(struct redlock_latch *latch, int64_t timeout_ms, redlock_latch_fn cb, void *user_data)
{
    int status = rl_object_check_new(latch ? &latch->object : NULL);

    if (status < 0)
        return status;
    if (!latch->core.party.size)
        return REDLOCK_E_PARTIES;
    return start(latch, RL_LATCH_ARRIVE, timeout_ms, cb, user_data);
}

int redlock_latch_await(struct redlock_latch *latch, int64_t timeout_ms, redlock_latch_fn cb, void *user_data)
{
    int status = cb ? rl_object_check_new(latch ? &latch->object : NULL) : REDLOCK_E_ARGUMENT;

    return status < 0 ? status : start(latch, RL_LATCH_AWAIT, timeout_ms, cb, user_data);
}

int redlock_latch_cancel(struct redlock_latch *latch)
{
    int status = rl_object_check(latch ? &latch->object : NULL);

    if (status < 0)
        return status;
    return cancel(latch) ? 0 : REDLOCK_E_NOTHING_TO_CANCEL;
}

const void *redlock_latch_name(const struct redlock_latch *latch, size_t *ret_size)
{
    if (!latch)
        return NULL;
    if (ret_size)
        *ret_size = latch->core.config.name.size;
    return latch->core.config.name.data;
}
