/* Some of the parts of a set of locks (set_order.h), by their numbers. */
#ifndef RL_ENGINE_PARTS_H
#define RL_ENGINE_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#define RL_SET_MAX_PARTS 96

struct rl_parts {
    uint32_t words[RL_SET_MAX_PARTS / 32]; /* bit i % 32 of word i / 32 stands for part i */
};

static inline bool rl_parts_has(struct rl_parts parts, unsigned part)
{
    return parts.words[part / 32] >> part % 32 & 1u;
}

static inline void rl_parts_add(struct rl_parts *parts, unsigned part)
{
    parts->words[part / 32] |= UINT32_C(1) << part % 32;
}

static inline void rl_parts_remove(struct rl_parts *parts, unsigned part)
{
    parts->words[part / 32] &= ~(UINT32_C(1) << part % 32);
}

static inline bool rl_parts_any(struct rl_parts parts)
{
    uint32_t any = 0;

    for (unsigned i = 0; i < RL_SET_MAX_PARTS / 32; i++)
        any |= parts.words[i];
    return any != 0;
}

/* The parts below n. */
static inline struct rl_parts rl_parts_below(unsigned n)
{
    struct rl_parts parts = {{0}};

    for (unsigned i = 0; i < n; i++)
        rl_parts_add(&parts, i);
    return parts;
}

#endif
