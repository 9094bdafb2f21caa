/* A hash for tables of our own, of keys and values that nobody can choose against us; header only. */
#ifndef RL_UTIL_HASH_H
#define RL_UTIL_HASH_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a. */
static inline uint64_t rl_hash(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t sum = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < size; i++)
        sum = (sum ^ at[i]) * UINT64_C(1099511628211);
    return sum ^ sum >> 32;
}

/* Different addresses have different hashes. There are two multiplications, because after one the low bits of addresses
 * of 32 bits at equal distances would follow a pattern. */
static inline uint64_t rl_hash_address(const void *address)
{
    uint64_t sum = (uint64_t)(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15);

    sum = (sum ^ sum >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ sum >> 32;
}

#endif
