/* Latches. A connection keeps the latest generation of each that it has used, since the handle repeats an arrival to
 * masters that have lost their memory. */
#include <stdlib.h>
#include <string.h>

#include <redlock/latch.h>

#include "agent/agent.h"
#include "agent/fields.h"

struct latch {
    struct thing thing;
    struct redlock_latch *handle;
    char *name;
    char *party; /* NULL: none */
};

struct wanted {
    const char *name;
    const char *party;
    uint64_t parties;
    uint64_t generation;
    int64_t wait_ms;
    uint32_t keep_ms;
    bool awaits;
};

static const struct thing_kind latch_kind;

static struct latch *latch_of(struct thing *thing)
{
    return LIST_OWNER(thing, struct latch, thing);
}

static void end_latch(struct thing *thing)
{
    struct latch *latch = latch_of(thing);

    thing->ending = true;
    redlock_latch_destroy(latch->handle);
    thing_leave(thing);
    free(latch->name);
    free(latch->party);
    free(latch);
}

static void cancel_latch(struct thing *thing)
{
    redlock_latch_cancel(latch_of(thing)->handle);
}

static bool is_same(const char *one, const char *other)
{
    return one && other ? strcmp(one, other) == 0 : one == other;
}

static bool is_pending(const struct peer *peer, const struct thing *thing)
{
    for (struct list *node = peer->requests.next; node != &peer->requests; node = node->next)
        if (LIST_OWNER(node, struct request, link)->thing == thing)
            return true;
    return false;
}

/* The handle of an earlier use, unless somebody waits with it. */
static void end_earlier(struct peer *peer, const struct wanted *wanted)
{
    for (struct list *node = peer->things.next; node != &peer->things; node = node->next) {
        struct thing *thing = LIST_OWNER(node, struct thing, link);

        if (thing->kind == &latch_kind && is_same(latch_of(thing)->name, wanted->name) &&
            is_same(latch_of(thing)->party, wanted->party) && !is_pending(peer, thing)) {
            end_latch(thing);
            return;
        }
    }
}

static struct latch *create(struct peer *peer, int64_t id, const struct wanted *wanted)
{
    struct latch *latch = calloc(1, sizeof *latch);
    struct redlock_latch_options options;
    int status = REDLOCK_E_NOMEM;

    redlock_latch_options_init(&options);
    if (wanted->keep_ms != 0)
        options.keep_ms = wanted->keep_ms;
    if (latch) {
        thing_begin(&latch->thing, &latch_kind, peer);
        latch->name = strdup(wanted->name);
        latch->party = wanted->party ? strdup(wanted->party) : NULL;
        status = redlock_latch_create(peer->agent->client, wanted->name, strlen(wanted->name),
                                      wanted->parties > UINT32_MAX ? 0 : (uint32_t)wanted->parties,
                                      wanted->generation, wanted->party, &options, &latch->handle);
    }
    if (status == 0)
        return latch;
    answer_status(peer, id, status);
    if (latch)
        end_latch(&latch->thing);
    return NULL;
}

static json_t *master_of(const struct redlock_latch_node *node)
{
    return json_pack("{s:s, s:b, s:b, s:b, s:s}", "name", node->name, "answered", node->answered, "arrived",
                     node->arrived, "open", node->open, "detail",
                     is_utf8(node->detail, strlen(node->detail)) ? node->detail : "?");
}

static void on_result(struct redlock_latch *handle, const struct redlock_latch_result *result, void *data)
{
    struct request *request = data;
    bool ok = result->status == REDLOCK_OK;
    json_t *words = answer_ok(request->id);
    json_t *arrived = json_array(), *masters = json_array();

    for (size_t i = 0; i < result->n_arrived; i++)
        json_array_append_new(arrived, json_string(result->arrived[i]));
    for (size_t i = 0; i < result->n_nodes; i++)
        json_array_append_new(masters, master_of(&result->nodes[i]));
    if (!ok) {
        json_object_set_new(words, "ok", json_false());
        if (result->cause != 0)
            json_object_set_new(words, "cause", json_string(redlock_status_name(result->cause)));
        json_object_set_new(words, "status", json_string(redlock_status_name(result->status)));
        json_object_set_new(words, "retry", json_boolean(redlock_status_retryable(result->status)));
        json_object_set_new(words, "why", json_string(is_utf8(result->why, strlen(result->why)) ? result->why : ""));
    }
    json_object_set_new(words, "arrived", arrived);
    json_object_set_new(words, "recorded", json_integer(result->confirmed));
    json_object_set_new(words, "elapsed_us", json_integer(result->elapsed_us));
    json_object_set_new(words, "quorum", json_integer(result->quorum));
    json_object_set_new(words, "masters", masters);
    answer(request->peer, words);
    request_end(request);
}

static int begin(struct latch *latch, const struct wanted *wanted, struct request *request)
{
    int status = 0;

    if (wanted->party)
        status = redlock_latch_arrive(latch->handle, wanted->wait_ms, wanted->awaits ? NULL : on_result, request);
    if (status == 0 && wanted->awaits)
        status = redlock_latch_await(latch->handle, wanted->wait_ms, on_result, request);
    return status;
}

void op_latch(struct peer *peer, int64_t id, json_t *words)
{
    struct wanted wanted = {.wait_ms = REDLOCK_FOREVER};
    const struct field fields[] = {
        {"name", FIELD_TEXT, &wanted.name, true},          {"parties", FIELD_NUMBER, &wanted.parties, true},
        {"generation", FIELD_NUMBER, &wanted.generation, true}, {"party", FIELD_TEXT, &wanted.party, false},
        {"await", FIELD_FLAG, &wanted.awaits, false},      {"wait", FIELD_WAIT, &wanted.wait_ms, false},
        {"keep", FIELD_DURATION, &wanted.keep_ms, false},  {0},
    };
    char why[FIELDS_WHY_SIZE];
    struct latch *latch;
    struct request *request;

    if (!fields_read(words, fields, why)) {
        answer_wrong(peer, id, why);
        return;
    }
    if (!wanted.party && !wanted.awaits) {
        answer_wrong(peer, id, "'party' arrives, 'await' waits: one of them is needed, or both");
        return;
    }
    if (!peer_may_use(peer, id, wanted.name) || !thing_fits(peer, id))
        return;
    end_earlier(peer, &wanted);
    latch = create(peer, id, &wanted);
    request = latch ? request_begin(peer, id, &latch->thing) : NULL;
    if (!request)
        return;
    request->cancel = cancel_latch;
    request_starts(request, begin(latch, &wanted, request));
}

static const struct thing_kind latch_kind = {"latch", end_latch, NULL, NULL};
