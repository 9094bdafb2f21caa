/* What masters know of a key. Tokens are not shown but for their beginnings: whoever has one can adopt or release the
 * lock. */
#include <string.h>

#include <redlock/look.h>
#include <redlock/members.h>

#include "agent/agent.h"
#include "agent/fields.h"
#include "cli/busy.h"
#include "cli/label.h"

enum { PREFIX = BUSY_TOKEN_SIZE - 1 };

static json_t *value_of(const struct redlock_look_value *value)
{
    char text[REDLOCK_LOOK_MAX_VALUE_BYTES + 1];
    struct label label;
    json_t *words;

    memcpy(text, value->value, value->value_size);
    text[value->value_size] = '\0';
    label = label_of(text);
    words = json_pack("{s:s, s:I, s:I}", "mode", redlock_mode_name(value->mode), "masters",
                      (json_int_t)value->masters, "left_ms", (json_int_t)value->left_ms);
    if (is_utf8(label.name, strlen(label.name)))
        json_object_set_new(words, "label", json_string(label.name));
    json_object_set_new(words, "token_prefix", json_stringn(text, strnlen(text, PREFIX)));
    if (label.asked_us != 0)
        json_object_set_new(words, "asked_us", json_integer(label.asked_us));
    if (value->fence != 0)
        json_object_set_new(words, "fence", number_text(value->fence));
    return words;
}

static json_t *values_of(const struct redlock_look_value *values, size_t n)
{
    json_t *array = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, value_of(&values[i]));
    return array;
}

static json_int_t count_members(struct redlock_client *client)
{
    struct redlock_view view = {0};

    redlock_client_view(client, &view, sizeof view);
    return (json_int_t)view.list.n;
}

static void on_look(struct redlock_client *client, const struct redlock_look_result *result, void *data)
{
    struct request *request = data;
    json_t *words = answer_ok(request->id);

    json_object_set_new(words, "verdict", json_string(redlock_look_verdict_name(result->verdict)));
    json_object_set_new(words, "holders", values_of(result->values, result->n_holders));
    json_object_set_new(words, "waiters", values_of(result->waiters, result->n_waiters));
    json_object_set_new(words, "waiting", json_integer((json_int_t)result->n_waiting));
    json_object_set_new(words, "answered", json_integer(result->answered));
    json_object_set_new(words, "quorum", json_integer(result->quorum));
    json_object_set_new(words, "members", json_integer(count_members(client)));
    json_object_set_new(words, "foreign", json_integer((json_int_t)busy_foreign(result)));
    answer(request->peer, words);
    request_end(request);
}

void op_look(struct peer *peer, int64_t id, json_t *words)
{
    const char *key = NULL;
    const struct field fields[] = {{"key", FIELD_TEXT, &key, true}, {0}};
    char why[FIELDS_WHY_SIZE];
    struct request *request = NULL;

    if (!fields_read(words, fields, why))
        answer_wrong(peer, id, why);
    else if (peer_may_use(peer, id, key))
        request = request_begin(peer, id, NULL);
    if (request)
        request_starts(request, redlock_look(peer->agent->client, key, strlen(key), on_look, request));
}
