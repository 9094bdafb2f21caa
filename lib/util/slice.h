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
static inline bool rl_slice_is(struct rl_slice slice, const char *word)
{
    return slice.size == strlen(word) && (slice.size == 0 || memcmp(slice.data, word, slice.size) == 0);
}

#endif
