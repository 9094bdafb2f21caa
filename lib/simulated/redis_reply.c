/* Replies of a simulated master, and what its commands have in common. */
#include <string.h>

#include "simulated/redis_commands.h"
#include "util/instant.h"

void reply_status(struct rl_reply *reply, const char *text)
{
    reply->root = (struct rl_reply_item){.type = RL_REPLY_STATUS, .text = {text, strlen(text)}};
    reply->n_elements = 0;
}

void reply_error(struct rl_reply *reply, const char *text)
{
    reply_status(reply, text);
    reply->root.type = RL_REPLY_ERROR;
}

void reply_integer(struct rl_reply *reply, int64_t value)
{
    reply->root = (struct rl_reply_item){.type = RL_REPLY_INTEGER, .integer = value};
    reply->n_elements = 0;
}

void reply_string(struct rl_reply *reply, const void *data, size_t size)
{
    reply->root = (struct rl_reply_item){.type = RL_REPLY_STRING, .text = {data, size}};
    reply->n_elements = 0;
}

void reply_nil(struct rl_reply *reply)
{
    reply->root = (struct rl_reply_item){.type = RL_REPLY_NIL};
    reply->n_elements = 0;
}

/* --- Commands ----------------------------------------------------------------------------------------------------- */

/* Words are upper case here; commands may be written either way. */
bool redis_word_is(struct rl_slice slice, const char *word)
{
    const char *at = slice.data;

    for (size_t i = 0; i < slice.size; i++) {
        if (!word[i] || (at[i] != word[i] && (at[i] & ~0x20) != word[i]))
            return false;
    }
    return !word[slice.size];
}

bool redis_parse_integer(struct rl_slice slice, int64_t *ret_value)
{
    const char *at = slice.data;
    int64_t value = 0;
    size_t i = slice.size > 0 && at[0] == '-' ? 1 : 0;

    if (i == slice.size || slice.size > 18)
        return false;
    for (; i < slice.size; i++) {
        if (at[i] < '0' || at[i] > '9')
            return false;
        value = 10 * value + (at[i] - '0');
    }
    *ret_value = at[0] == '-' ? -value : value;
    return true;
}

int64_t redis_now_ms(const struct redis_context *context)
{
    return context->now_ns / RL_NS_PER_MS;
}

struct entry *redis_lookup(struct redis_context *context, struct rl_slice key)
{
    return keyspace_lookup(context->keys, key.data, key.size, redis_now_ms(context));
}

void redis_remove(struct redis_context *context, struct entry *entry, const char *command)
{
    context->touch(context, entry, command);
    keyspace_remove(context->keys, entry);
}

void redis_full(struct rl_reply *reply)
{
    reply_error(reply, REDIS_FULL);
}
