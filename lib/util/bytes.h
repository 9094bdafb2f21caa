/* A growable byte queue: append at the end, consume from the front. */
#ifndef RL_UTIL_BYTES_H
#define RL_UTIL_BYTES_H

#include <stdbool.h>
#include <stddef.h>

struct rl_bytes {
    unsigned char *data;
    size_t head;     /* first byte that is not consumed */
    size_t size;     /* end of the used part, counted from data */
    size_t capacity;
};

/* All zero is an empty queue. */
void rl_bytes_fini(struct rl_bytes *bytes);

static inline size_t rl_bytes_length(const struct rl_bytes *bytes)
{
    return bytes->size - bytes->head;
}

static inline const unsigned char *rl_bytes_front(const struct rl_bytes *bytes)
{
    return bytes->data + bytes->head;
}

/* Makes room for `more` bytes at the end; false if memory is short, with nothing changed. */
bool rl_bytes_reserve(struct rl_bytes *bytes, size_t more);

/* Appends; false if memory is short, with nothing changed. */
bool rl_bytes_append(struct rl_bytes *bytes, const void *data, size_t size);

/* Drops `size` bytes from the front; gives back a large empty buffer. */
void rl_bytes_consume(struct rl_bytes *bytes, size_t size);

/* Drops everything, keeps the memory. */
static inline void rl_bytes_clear(struct rl_bytes *bytes)
{
    bytes->head = 0;
    bytes->size = 0;
}

#endif
