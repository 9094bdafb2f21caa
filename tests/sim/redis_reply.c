/* Replies of a simulated master. */
#include "redis.h"

#include <string.h>

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
