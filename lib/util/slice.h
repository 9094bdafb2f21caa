/* Bytes of somebody else's; header only. */
#ifndef RL_UTIL_SLICE_H
#define RL_UTIL_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct rl_slice {
    const void *data;
    size_t size;
};

static inline struct rl_slice rl_slice_of(const char *text)
{
    return (struct rl_slice){text, strlen(text)};
}

/* An empty slice may have no data. */
static inline bool rl_slice_equals(struct rl_slice a, struct rl_slice b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static inline bool rl_slice_is(struct rl_slice slice, const char *word)
{
    return rl_slice_equals(slice, rl_slice_of(word));
}

#endif
