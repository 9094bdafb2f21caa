/* Memory that will be needed soon is asked for ahead of time. With very many locks most of what a renewal costs is the
 * wait for memory that is in no cache. A hint: without effect where the compiler knows no such thing. */
#ifndef RL_UTIL_FETCH_H
#define RL_UTIL_FETCH_H

#include <stddef.h>

#define RL_CACHE_LINE 64

static inline void rl_fetch(const void *memory, size_t size)
{
#ifdef __GNUC__
    for (size_t at = 0; at < size; at += RL_CACHE_LINE)
        __builtin_prefetch((const char *)memory + at);
#else
#endif
}

#endif
