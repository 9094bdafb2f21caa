#include "cli/agent_words.h"

#include <stdlib.h>
#include <string.h>

#include "cli/lock_spec.h"

enum { LEAST_STATUS = -200, LINGER_MS = 60000 };

/* --- Requests ----------------------------------------------------------------------------------------------------- */

static json_t *keys_of(const struct lock_spec *spec)
{
    json_t *keys = json_array();

    for (size_t i = 0; i < spec->keys.n; i++)
        json_array_append_new(keys, json_string(spec->keys.items[i]));
    return keys;
}

/* What is to be locked: the same members for `acquire` and `adopt`. */
static json_t *request_of(const struct lock_spec *spec, const char *op)
{
    json_t *request = json_pack("{s:s}", "op", op);

    if (spec->keys.n > 1)
        json_object_set_new(request, "keys", keys_of(spec));
    else
        json_object_set_new(request, "key", json_string(spec->keys.items[0]));
    if (spec->permits != 0)
        json_object_set_new(request, "permits", json_string(spec->permits_word));
    return request;
}

json_t *agent_acquire(const struct lock_spec *spec, const struct redlock_acquire_options *options, int64_t wait_ms,
                      const char *label)
{
    json_t *request = request_of(spec, "acquire");

    json_object_set_new(request, "wait",
                        wait_ms == REDLOCK_FOREVER ? json_string("forever") : json_integer(wait_ms));
    json_object_set_new(request, "ttl", json_integer(options->ttl_ms));
    json_object_set_new(request, "min_validity", json_integer(options->min_validity_ms));
    json_object_set_new(request, "mode", json_string(redlock_mode_name(options->mode)));
    json_object_set_new(request, "fenced", json_boolean(options->fenced));
    json_object_set_new(request, "own_token", json_boolean(options->own_token));
    json_object_set_new(request, "renew", json_boolean(options->renew_ms != REDLOCK_NO_RENEWAL));
    json_object_set_new(request, "hold_at_least", json_integer(spec->hold_ms));
    if (label)
        json_object_set_new(request, "label", json_string(label));
    return request;
}

json_t *agent_adopt(const struct lock_spec *spec, const struct redlock_acquire_options *options, const char *text)
{
    json_t *request = request_of(spec, "adopt");

    json_object_set_new(request, "text", json_string(text));
    json_object_set_new(request, "renew", json_boolean(options->renew_ms != REDLOCK_NO_RENEWAL));
    json_object_set_new(request, "linger", json_integer(LINGER_MS));
    return request;
}

json_t *agent_release_token(const char *key, const char *token, int64_t slot)
{
    json_t *request = json_pack("{s:s, s:s, s:s}", "op", "release", "key", key, "token", token);

    if (slot >= 0)
        json_object_set_new(request, "slot", json_integer((json_int_t)slot));
    return request;
}

/* --- Answers ------------------------------------------------------------------------------------------------------ */

bool agent_is_ok(const json_t *answer)
{
    return json_is_true(json_object_get(answer, "ok"));
}

const char *agent_text(const json_t *words, const char *name)
{
    const char *text = json_string_value(json_object_get(words, name));

    return text ? text : "";
}

int64_t agent_number(const json_t *words, const char *name)
{
    const json_t *value = json_object_get(words, name);

    return json_is_string(value) ? strtoll(json_string_value(value), NULL, 10) : json_integer_value(value);
}

/* The library's number for the name; of the agent's own words 0. */
static int status_of(const char *name)
{
    for (int status = -1; status >= LEAST_STATUS; status--)
        if (strcmp(redlock_status_name(status), name) == 0)
            return status;
    return 0;
}

static enum redlock_vote vote_of(const char *name)
{
    for (int vote = 0; vote < 16; vote++)
        if (strcmp(redlock_vote_name((enum redlock_vote)vote), name) == 0)
            return (enum redlock_vote)vote;
    return REDLOCK_VOTE_NONE;
}

static void read_nodes(const json_t *answer, struct agent_result *ret)
{
    const json_t *masters = json_object_get(answer, "masters");

    ret->result.nodes = ret->nodes;
    for (size_t i = 0; i < json_array_size(masters) && i < REDLOCK_MAX_MASTERS; i++) {
        const json_t *master = json_array_get(masters, i);
        bool answered = json_object_get(master, "latency_us") != NULL;

        ret->nodes[i] = (struct redlock_node_result){.name = agent_text(master, "name"),
                                                     .vote = vote_of(agent_text(master, "vote")),
                                                     .detail = agent_text(master, "detail"),
                                                     .latency_us = answered ? agent_number(master, "latency_us") : -1};
        ret->result.n_nodes = i + 1;
    }
}

void agent_result_read(const json_t *answer, const char *why, struct agent_result *ret)
{
    struct redlock_result *result = &ret->result;

    *result = (struct redlock_result){.status = REDLOCK_E_SYSTEM, .why = why};
    if (!answer)
        return;
    result->why = agent_text(answer, "why");
    result->status = agent_is_ok(answer) ? REDLOCK_OK : status_of(agent_text(answer, "status"));
    if (!agent_is_ok(answer) && result->status == 0)
        result->status = REDLOCK_E_ARGUMENT;
    result->cause = status_of(agent_text(answer, "cause"));
    result->attempts = (uint32_t)agent_number(answer, "attempts");
    result->quorum = (uint32_t)agent_number(answer, "quorum");
    result->granted = (uint32_t)agent_number(answer, "votes");
    result->reachable = (uint32_t)agent_number(answer, "reachable");
    result->voting = (uint32_t)agent_number(answer, "voting");
    result->elapsed_us = agent_number(answer, "elapsed_us");
    result->remaining_ms = agent_number(answer, "remaining_us") / 1000;
    read_nodes(answer, ret);
}
