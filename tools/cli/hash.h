/* A hash that tells whether two texts are the same; header only. */
#ifndef CLI_HASH_H
#define CLI_HASH_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a. */
static inline uint64_t cli_hash(const char *bytes, size_t size)
{
    uint64_t hash = 14695981039346656037u;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 1099511628211u;
    return hash;
}

#endif
