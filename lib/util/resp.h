/* A server's reply as data: what the codec reads from the wire (codec/reply.h), and what kinds give a meaning to
 * (votes/kind.h). Arrays are flattened to one level. Header only: votes and engine use it too. */
#ifndef RL_UTIL_RESP_H
#define RL_UTIL_RESP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/slice.h"

enum rl_reply_type {
    RL_REPLY_NIL,
    RL_REPLY_STATUS,
    RL_REPLY_STRING,
    RL_REPLY_INTEGER,
    RL_REPLY_ERROR,
    RL_REPLY_ARRAY,
};

#define RL_REPLY_MAX_ELEMENTS 24

struct rl_reply_item {
    enum rl_reply_type type; /* of an element: never RL_REPLY_ARRAY */
    int64_t integer;
    struct rl_slice text; /* borrowed from the reader, until the next reply */
};

struct rl_reply {
    struct rl_reply_item root; /* type RL_REPLY_ARRAY: see elements */
    size_t n_elements;
    struct rl_reply_item elements[RL_REPLY_MAX_ELEMENTS];
};

static inline bool rl_reply_is_status(const struct rl_reply *reply, const char *text)
{
    return reply->root.type == RL_REPLY_STATUS && rl_slice_is(reply->root.text, text);
}

/* Is it a bulk string of exactly these characters? */
static inline bool rl_reply_item_is(const struct rl_reply_item *item, const char *text)
{
    return item->type == RL_REPLY_STRING && rl_slice_is(item->text, text);
}

/* An array of so many integers. */
static inline bool rl_reply_is_integers(const struct rl_reply *reply, size_t n)
{
    if (reply->root.type != RL_REPLY_ARRAY || reply->n_elements != n)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (reply->elements[i].type != RL_REPLY_INTEGER)
            return false;
    }
    return true;
}

#endif
