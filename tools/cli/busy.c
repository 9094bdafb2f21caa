#include "cli/busy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/redlock.h>
#include <redlock/semaphore.h>

#include "cli/agent_client.h"
#include "cli/agent_words.h"
#include "cli/term.h"
#include "cli/verdict.h"

/* The next word of REDLOCK_HELD, by which a `redlock run` tells its command of a lock that it runs under: "c151d314",
 * or "c151d314#3" of a permit. False: there is none. */
static bool next_held(const char **words, char ret_token[BUSY_TOKEN_SIZE], int64_t *ret_slot)
{
    const char *word = *words + strspn(*words, " ");
    size_t size = strcspn(word, " ");
    size_t token = strcspn(word, "# ");

    snprintf(ret_token, BUSY_TOKEN_SIZE, "%.*s", (int)token, word);
    *ret_slot = token < size ? atoll(word + token + 1) : -1;
    *words = word + size;
    return size > 0;
}

static const char *all_held(void)
{
    const char *words = getenv("REDLOCK_HELD");

    return words ? words : "";
}

static bool is_parents(const char *token)
{
    const char *words = all_held();
    char held[BUSY_TOKEN_SIZE];
    int64_t slot;

    while (next_held(&words, held, &slot))
        if (strcmp(held, token) == 0)
            return true;
    return false;
}

/* A client knows its own label, and no value of its own before it has the lock. */
static void take_queue(struct busy *busy, const struct redlock_look_result *result, const char *own)
{
    size_t length = own ? strlen(own) : 0;

    busy->n_waiting = result->n_waiting;
    for (size_t i = 0; i < result->n_waiters && busy->place == 0 && length > 0; i++) {
        const struct redlock_look_value *waiter = &result->waiters[i];

        if (waiter->value_size > length && waiter->value[waiter->value_size - length - 1] == ':' &&
            memcmp(waiter->value + waiter->value_size - length, own, length) == 0)
            busy->place = i + 1;
    }
}

static void take_holder(struct busy *busy, const struct redlock_look_value *holder)
{
    char token[REDLOCK_MAX_TOKEN_BYTES + 1];

    snprintf(token, sizeof token, "%.*s", (int)holder->value_size, holder->value);
    snprintf(busy->token, sizeof busy->token, "%.*s", BUSY_TOKEN_SIZE - 1, token);
    busy->parent = is_parents(busy->token);
    busy->label = label_of(token);
    busy->left_ms = holder->left_ms;
}

size_t busy_foreign(const struct redlock_look_result *result)
{
    size_t foreign = 0;

    for (size_t i = 0; i < result->n_nodes; i++)
        foreign += result->nodes[i].foreign;
    for (size_t i = 0; i < result->n_values; i++)
        if (!verdict_may_be_token(result->values[i].value, result->values[i].value_size, result->values[i].left_ms))
            foreign += result->values[i].masters;
    return foreign;
}

static void on_look(struct redlock_client *client, const struct redlock_look_result *result, void *data)
{
    struct busy *busy = data;
    const char *own = busy->own;

    *busy = (struct busy){.n_nodes = result->n_nodes, .own = own};
    take_queue(busy, result, own);
    busy->foreign = busy_foreign(result);
    busy->hopeless = result->n_nodes - busy->foreign < result->quorum;
    if (busy->hopeless)
        return;
    busy->n_holders = result->n_holders;
    if (result->n_holders > 0)
        take_holder(busy, &result->values[0]);
}

/* Of the holders of permits only a parent is told: any other may give its one back first. */
static void on_permit(struct redlock_client *client, const struct redlock_look_result *result, void *data)
{
    struct busy *busy = data;
    struct busy seen = *busy;

    busy->pending--;
    if (result->n_holders == 0 || busy->parent)
        return;
    take_holder(&seen, &result->values[0]);
    if (!seen.parent)
        return;
    seen.pending = busy->pending;
    seen.n_holders = 1;
    seen.permit = true;
    *busy = seen;
}

static void look_at_permits(struct busy *busy, struct redlock_client *client, const char *key, size_t size)
{
    const char *words = all_held();
    char held[BUSY_TOKEN_SIZE];
    char name[REDLOCK_MAX_KEY_BYTES + 1];
    int64_t slot;

    while (next_held(&words, held, &slot)) {
        int length = slot >= 0 ? snprintf(name, sizeof name, "%.*s#%lld", (int)size, key, (long long)slot) : 0;

        if (length > 0 && (size_t)length < sizeof name)
            busy->pending += redlock_look(client, name, (size_t)length, on_permit, busy) == REDLOCK_OK;
    }
}

void busy_look(struct busy *busy, struct redlock_lock *lock)
{
    struct redlock_client *client = redlock_lock_client(lock);
    size_t size;
    const char *key = redlock_lock_key(lock, &size);

    if (busy->pending > 0)
        return;
    *busy = (struct busy){.own = busy->own};
    if (redlock_lock_limit(lock) != 0)
        look_at_permits(busy, client, key, size);
    else
        busy->pending = redlock_look(client, key, size, on_look, busy) == REDLOCK_OK;
}

static void on_agents_look(const json_t *answer, void *data)
{
    struct busy *busy = data;
    const json_t *holders = json_object_get(answer, "holders");
    const json_t *first = json_array_get(holders, 0);

    *busy = (struct busy){.own = busy->own, .n_nodes = (size_t)agent_number(answer, "members"),
                          .foreign = (size_t)agent_number(answer, "foreign")};
    busy->hopeless = busy->n_nodes - busy->foreign < (size_t)agent_number(answer, "quorum");
    busy->n_holders = busy->hopeless ? 0 : json_array_size(holders);
    if (busy->n_holders == 0)
        return;
    snprintf(busy->token, sizeof busy->token, "%s", agent_text(first, "token_prefix"));
    busy->parent = is_parents(busy->token);
    snprintf(busy->label.name, sizeof busy->label.name, "%s", agent_text(first, "label"));
    busy->label.asked_us = agent_number(first, "asked_us");
    busy->left_ms = agent_number(first, "left_ms");
}

void busy_look_by_agent(struct busy *busy, struct agent_client *agent, const char *key)
{
    if (busy->pending > 0)
        return;
    *busy = (struct busy){.own = busy->own, .pending = agent_client_is_connected(agent)};
    if (busy->pending > 0)
        agent_client_ask(agent, json_pack("{s:s, s:s}", "op", "look", "key", key), on_agents_look, busy);
}

const char *busy_text(const struct busy *busy, char buffer[BUSY_TEXT_SIZE])
{
    const char *nobody = busy->label.strange ? "another library's client, or another program,"
                                             : "a client without a label";
    const char *name = busy->label.name[0] != '\0' ? busy->label.name : nobody;
    char ago[LABEL_AGO_SIZE], left[24], others[48] = "";

    buffer[0] = '\0';
    if (busy->hopeless)
        snprintf(buffer, BUSY_TEXT_SIZE, VERDICT_FOREIGN_TEXT, busy->foreign, busy->n_nodes);
    if (busy->n_holders == 0)
        return buffer;
    if (busy->n_holders > 1)
        snprintf(others, sizeof others, " and %zu more", busy->n_holders - 1);
    label_ago(busy->label.asked_us, ago);
    snprintf(buffer, BUSY_TEXT_SIZE, "%s%s (%s)%s %s %s%s%s, for at most %s unless it is renewed",
             busy->parent ? "the 'redlock run' that this command was started under, " : "", name, busy->token,
             others, busy->n_holders > 1 ? "share" : "has", busy->permit ? "one of them" : "it",
             *ago != '-' ? ", asked for it " : "",
             *ago != '-' ? ago : "", term_time(busy->left_ms * 1000, left, sizeof left));
    return buffer;
}

const char *busy_waiting_text(const struct busy *busy, char buffer[BUSY_TEXT_SIZE])
{
    size_t length = strlen(busy_text(busy, buffer));

    if (busy->place > 0)
        length += (size_t)snprintf(buffer + length, BUSY_TEXT_SIZE - length, "%splace %zu of %llu in the queue",
                                   length > 0 ? "; " : "", busy->place, (unsigned long long)busy->n_waiting);
    if (busy->parent)
        snprintf(buffer + length, BUSY_TEXT_SIZE - length, "; that waits for the end of this command");
    return buffer;
}

void busy_json(struct cli_json *json, const struct busy *busy)
{
    if (busy->hopeless)
        cli_json_int(json, "foreign", (int64_t)busy->foreign);
    if (busy->n_holders == 0)
        return;
    cli_json_begin(json, "held_by", '[');
    cli_json_begin(json, NULL, '{');
    cli_json_string(json, "token_prefix", busy->token);
    label_json(json, &busy->label);
    cli_json_int(json, "pttl_ms", busy->left_ms);
    if (busy->parent)
        cli_json_bool(json, "parent", true);
    cli_json_end(json, '}');
    cli_json_end(json, ']');
    if (busy->place > 0) {
        cli_json_int(json, "queue_place", (int64_t)busy->place);
        cli_json_int(json, "queue_length", (int64_t)busy->n_waiting);
    }
}
