/* An operator's change of the list of masters, from the call to the last callback (host/trust/change.c). */
#include <redlock/members.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/client.h"
#include "api/deployment_id.h"
#include "api/handle.h"
#include "api/members.h"
#include "api/options.h"
#include "host/trust/admission.h"
#include "host/trust/change.h"
#include "votes/admission.h"
#include "votes/plan.h"

/* --- The view ----------------------------------------------------------------------------------------------------- */

static void publish_list(const struct rl_member_list *list, struct redlock_member_list *ret_list)
{
    ret_list->n = list->n;
    ret_list->quorum = list->quorum;
    for (size_t i = 0; i < list->n; i++)
        ret_list->names[i] = list->members[i].name;
}

static const struct rl_member_list *list_of(struct redlock_client *client)
{
    if (client->host.trust.view)
        return &client->host.trust.view->list;
    return rl_client_configured(client);
}

int redlock_client_view(struct redlock_client *client, struct redlock_view *ret_view, size_t size)
{
    struct redlock_view whole = {.run = ""};
    const struct rl_member_list *list;

    if (!client || !ret_view)
        return REDLOCK_E_ARGUMENT;
    if (rl_client_forked(client))
        return REDLOCK_E_FORKED;
    list = list_of(client);
    if (!list)
        return REDLOCK_E_NOMEM;
    publish_list(list, &whole.list);
    if (client->host.trust.view) {
        publish_list(&client->host.trust.view->before, &whole.before);
        whole.turn = client->host.trust.view->epoch.turn;
        whole.step = client->host.trust.view->epoch.step;
        whole.run = client->host.trust.view->epoch.run;
    }
    memcpy(ret_view, &whole, size < sizeof whole ? size : sizeof whole);
    return 0;
}

/* --- Reports ------------------------------------------------------------------------------------------------------ */

/* The present list, those between, and the goal: three at most, or more when one between is to be left again. */
#define LISTS_MAX 5

struct change {
    struct rl_object object;
    struct rl_trust_change change;
    redlock_change_fn cb;
    void *user_data;
    struct rl_member_list lists[LISTS_MAX];
    size_t n_lists;
};

static struct change *change_of(struct rl_object *object)
{
    return RL_CONTAINER_OF(object, struct change, object);
}

/* A client whose max_ttl_ms is larger than the deployment's takes no locks, and may change the masters. */
static bool votes(const struct rl_host *host, unsigned place)
{
    struct rl_admission_status status;

    if (place == RL_NO_PLACE || !rl_trust_is_up(host, place))
        return false;
    status = rl_trust_status(host, place, host->now);
    return status.kind == RL_ADMISSION_VOTES || status.fault == RL_FAULT_MAX_TTL;
}

/* Masters of the list that have no vote, as far as the client has found. */
static uint64_t dead_masters(const struct change *change, const struct rl_member_list *list)
{
    const struct rl_host *host = change->change.host;
    uint64_t dead = 0;

    for (size_t i = 0; i < change->change.run.n; i++) {
        int at = rl_list_find(list, change->change.run.masters[i].member.node_id);

        if (at >= 0 && !votes(host, change->change.places[i]))
            dead |= UINT64_C(1) << at;
    }
    return dead;
}

/* The way from here: as the run will go it, if nobody dies or comes back meanwhile. */
static void plan(struct change *change)
{
    struct rl_change *run = &change->change.run;
    struct rl_member_list *at = change->lists;

    *at = run->view.list;
    change->n_lists = 1;
    if (run->n > RL_MAX_NODES) {
        run->why = "the old and the new masters are more than 31: remove some by one command, and add others by the "
                   "next";
        run->stage = RL_CHANGE_STOPPED;
        return;
    }
    while (change->n_lists < LISTS_MAX && strcmp(at->id, run->goal.id) != 0) {
        memset(&at[1], 0, sizeof at[1]);
        if (!rl_plan_next(at, &run->goal, dead_masters(change, at), &at[1])) {
            run->why = run->why ? run->why : rl_plan_none;
            run->stage = RL_CHANGE_STOPPED;
            return;
        }
        at++;
        rl_deployment_name_list(change->object.client->options.key_prefix, at);
        change->n_lists++;
    }
}

static enum redlock_change_stage stage_of(enum rl_change_stage stage)
{
    static const enum redlock_change_stage stages[] = {
        [RL_CHANGE_BEGIN] = REDLOCK_CHANGE_ASKING,      [RL_CHANGE_TELL] = REDLOCK_CHANGE_TELLING,
        [RL_CHANGE_WAIT] = REDLOCK_CHANGE_STANDING,     [RL_CHANGE_AGAIN] = REDLOCK_CHANGE_STANDING,
        [RL_CHANGE_PREPARE] = REDLOCK_CHANGE_PREPARING, [RL_CHANGE_DONE] = REDLOCK_CHANGE_DONE,
        [RL_CHANGE_STOPPED] = REDLOCK_CHANGE_STOPPED,
    };

    return stages[stage];
}

static const char *why_not_told(const struct change *change, size_t i)
{
    const struct rl_change_master *master = &change->change.run.masters[i];
    const struct rl_host *host = change->change.host;
    unsigned place = change->change.places[i];
    const struct rl_trust_node *known;
    struct rl_conn_stats stats;

    if (change->change.why_not[i])
        return change->change.why_not[i];
    if (place == RL_NO_PLACE)
        return "";
    known = &host->trust.nodes[place];
    if (!rl_trust_is_up(host, place)) {
        rl_driver_node_stats(change->object.client->driver, place, &stats);
        return stats.last_error && *stats.last_error ? stats.last_error : "it has not answered yet";
    }
    if (master->event == RL_JOIN_MISMATCH)
        return rl_fault_text(RL_FAULT_RING);
    if (master->left_ms > 0)
        return rl_fault_text(RL_FAULT_NEW_MEMORY);
    if (known->has_report && known->report.role[0] && strcmp(known->report.role, "master") != 0)
        return rl_fault_text(RL_FAULT_NOT_MASTER);
    if (master->silent)
        return "it does not answer";
    return "";
}

/* Names that are only looked at are no masters. */
static size_t fill_masters(const struct change *change, struct redlock_change_master *masters)
{
    const struct rl_change *run = &change->change.run;
    size_t n = 0;

    for (size_t i = 0; i < run->n; i++) {
        const struct rl_change_master *master = &run->masters[i];
        bool told = master->has_view && !master->forgot;

        if (*master->other_name_of)
            continue;
        masters[n++] = (struct redlock_change_master){
            .name = master->member.name,
            .member = rl_list_find(&run->view.list, master->member.node_id) >= 0,
            .told = told,
            .quarantine_ms = master->left_ms,
            .why = told ? "" : why_not_told(change, i),
        };
    }
    return n;
}

static void report(struct change *change, redlock_change_fn cb, int status)
{
    struct redlock_client *client = change->object.client;
    const struct rl_change *run = &change->change.run;
    struct redlock_member_list lists[LISTS_MAX];
    struct redlock_change_master masters[2 * RL_MAX_NODES];
    struct redlock_change_report ret = {
        .status = status,
        .stage = stage_of(run->stage),
        .n_lists = change->n_lists,
        .lists = lists,
        .told = (uint32_t)rl_change_count_told(run),
        .standing_ms = rl_change_standing_ms(run, client->host.trust.known.longest_ms),
        .masters = masters,
        .why = run->why ? run->why : "",
        .name = run->name,
        .name_of = run->name_of,
    };

    for (size_t i = 0; i < change->n_lists; i++)
        publish_list(&change->lists[i], &lists[i]);
    if (run->stage == RL_CHANGE_WAIT && rl_before(client->host.now, run->stands_at))
        ret.wait_ms = rl_until(client->host.now, run->stands_at).ns / RL_NS_PER_MS;
    ret.n_masters = fill_masters(change, masters);
    cb(client, &ret, change->user_data);
}

/* --- Life --------------------------------------------------------------------------------------------------------- */

static void forget_coming(struct redlock_client *client)
{
    for (size_t i = 0; i < client->n_coming; i++)
        rl_master_fini(&client->coming[i]);
    free(client->coming);
    client->coming = NULL;
    client->n_coming = 0;
}

static void deliver(struct rl_object *object)
{
    struct change *change = change_of(object);
    redlock_change_fn cb = change->cb;

    plan(change);
    if (change->change.run.stage >= RL_CHANGE_DONE || change->change.plan_only)
        change->cb = NULL; /* the report is the last one, though the callback destroys the client */
    report(change, cb, REDLOCK_OK);
    if (!change->cb)
        rl_object_destroy(object);
}

static void destroy(struct rl_object *object)
{
    struct change *change = change_of(object);

    rl_trust_change_end(&change->change);
    if (change->cb && !rl_client_forked(object->client))
        report(change, change->cb, REDLOCK_CANCELED);
    forget_coming(object->client);
}

static void give_memory_back(struct rl_object *object)
{
    free(change_of(object));
}

static const struct rl_object_type type = {
    .kind = RL_OBJECT_CHANGE,
    .destroy = destroy,
    .deliver = deliver,
    .free = give_memory_back,
};

static void on_change(struct rl_trust_change *changed)
{
    struct change *change = RL_CONTAINER_OF(changed, struct change, change);

    rl_object_due(&change->object);
}

/* --- The call ----------------------------------------------------------------------------------------------------- */

static int check_client(const struct redlock_client *client)
{
    if (rl_client_forked(client))
        return REDLOCK_E_FORKED;
    if (client->host.closing)
        return REDLOCK_E_CLOSING;
    for (int kind = 0; kind < RL_OBJECT_KINDS; kind++) {
        if (client->counts[kind])
            return REDLOCK_E_BUSY;
    }
    return client->host.trust.guarded ? 0 : REDLOCK_E_MEMBERS;
}

/* Clients follow by what they are configured with: the operator's own way to a new master must be theirs. */
static int check_coming(const struct redlock_client *client, struct redlock_error *ret_error)
{
    char text[sizeof ret_error->text];

    for (size_t i = 0; i < client->n_configured + client->n_coming; i++) {
        const struct rl_master *master = rl_client_known_master(client, i);
        const char *why = rl_client_why_not_like(client, master);

        if (!why)
            continue;
        snprintf(text, sizeof text, "%s: %s", master->name, why);
        return rl_client_fail(ret_error, REDLOCK_E_MEMBERS, text);
    }
    return 0;
}

static int quorum_of(const struct redlock_client *client, const struct redlock_change_options *options,
                     uint8_t *ret_quorum)
{
    size_t n = options->n_masters;
    size_t as_now = n == client->n_configured ? client->options.quorum : rl_majority(n);
    size_t quorum = options->quorum ? options->quorum : as_now;

    *ret_quorum = (uint8_t)quorum;
    return quorum > n / 2 && quorum <= n ? 0 : REDLOCK_E_QUORUM;
}

/* Keeps the masters of the goal with the client, which may have to connect to them. */
static int read_goal(struct redlock_client *client, const struct redlock_change_options *options,
                     struct rl_member_list *ret_goal, struct redlock_error *ret_error)
{
    size_t n = options->n_masters;
    int status;

    if (!options->masters || n == 0)
        return rl_client_fail(ret_error, REDLOCK_E_NO_MASTERS, NULL);
    if (n > REDLOCK_MAX_MASTERS)
        return rl_client_fail(ret_error, REDLOCK_E_TOO_MANY_MASTERS, NULL);
    if (options->rename &&
        (n != client->n_configured || (options->quorum && options->quorum != client->options.quorum)))
        return rl_client_fail(ret_error, REDLOCK_E_MEMBERS,
                              "other names are for as many masters, with the same quorum");
    status = quorum_of(client, options, &ret_goal->quorum);
    if (status < 0)
        return rl_client_fail(ret_error, status, NULL);
    client->coming = calloc(n, sizeof client->coming[0]);
    if (!client->coming)
        return rl_client_fail(ret_error, REDLOCK_E_NOMEM, NULL);
    status = rl_masters_parse(options->masters, n, &client->options, client->coming, ret_error);
    if (status < 0)
        return status;
    client->n_coming = n;
    for (size_t i = 0; i < n; i++)
        rl_deployment_add_member(ret_goal, &client->coming[i]);
    rl_deployment_name_list(client->options.key_prefix, ret_goal);
    return check_coming(client, ret_error);
}

static int goal_of(struct redlock_client *client, const struct redlock_change_options *options,
                   const struct rl_view *present, struct rl_member_list *ret_goal, struct redlock_error *ret_error)
{
    if (!options->back)
        return read_goal(client, options, ret_goal, ret_error);
    if (!present->before.n)
        return rl_client_fail(ret_error, REDLOCK_E_MEMBERS,
                              "no list has been told that leads to another one: there is none to go back to");
    if (!rl_same_text(present->before.id, client->list->id))
        return rl_client_fail(ret_error, REDLOCK_E_MEMBERS,
                              "the goal has been told: end the change, and then change the list again");
    *ret_goal = present->before;
    return 0;
}

static void name_list(void *ctx, struct rl_member_list *list)
{
    const struct redlock_client *client = ctx;

    rl_deployment_name_list(client->options.key_prefix, list);
}

static int start(struct redlock_client *client, struct change *change, const struct redlock_change_options *options,
                 struct redlock_error *ret_error)
{
    const struct rl_member_list *configured = rl_client_configured(client);
    struct rl_member_list goal = {0};
    struct rl_view present;
    char run[17];
    uint64_t random;
    int status;

    if (!rl_random_bytes(&random, sizeof random))
        return rl_client_fail(ret_error, REDLOCK_E_SYSTEM, NULL);
    if (!configured)
        return rl_client_fail(ret_error, REDLOCK_E_NOMEM, NULL);
    rl_trust_present_view(&client->host, configured, &present);
    status = goal_of(client, options, &present, &goal, ret_error);
    if (status < 0)
        return status;
    snprintf(run, sizeof run, "%016llx", (unsigned long long)random);
    rl_change_start(&change->change.run, &present, &goal, options->rename ? configured : NULL, run,
                    &client->host.engine.votes.config.drift, name_list, client);
    memcpy(change->change.base, options->back ? present.list.id : configured->id, RL_ID_SIZE);
    change->change.on_change = on_change;
    change->change.plan_only = options->plan_only;
    return 0;
}

void redlock_change_options_init_size(struct redlock_change_options *options, size_t size)
{
    memset(options, 0, size);
    options->size = size;
}

int redlock_change_members(struct redlock_client *client, const struct redlock_change_options *options,
                           redlock_change_fn cb, void *user_data, struct redlock_error *ret_error)
{
    struct redlock_change_options given = {0};
    struct change *change;
    int status;

    if (!client || !options || !cb)
        return rl_client_fail(ret_error, REDLOCK_E_ARGUMENT, NULL);
    if (options->size < RL_SMALLEST_OPTIONS)
        return rl_client_fail(ret_error, REDLOCK_E_OPTIONS_SIZE, NULL);
    memcpy(&given, options, options->size < sizeof given ? options->size : sizeof given);
    status = check_client(client);
    if (status < 0)
        return rl_client_fail(ret_error, status, NULL);
    change = calloc(1, sizeof *change);
    if (!change)
        return rl_client_fail(ret_error, REDLOCK_E_NOMEM, NULL);
    rl_host_read_clock(&client->host);
    status = start(client, change, &given, ret_error);
    if (status < 0) {
        forget_coming(client);
        free(change);
        return status;
    }
    change->cb = cb;
    change->user_data = user_data;
    rl_object_init(&change->object, client, &type);
    rl_trust_change_begin(&client->host, &change->change);
    return 0;
}

const char *redlock_change_stage_name(enum redlock_change_stage stage)
{
    static const char *const names[] = {
        [REDLOCK_CHANGE_ASKING] = "asking",       [REDLOCK_CHANGE_TELLING] = "telling",
        [REDLOCK_CHANGE_STANDING] = "standing",   [REDLOCK_CHANGE_PREPARING] = "preparing",
        [REDLOCK_CHANGE_DONE] = "done",           [REDLOCK_CHANGE_STOPPED] = "stopped",
    };

    return (unsigned)stage <= REDLOCK_CHANGE_STOPPED ? names[stage] : "?";
}
