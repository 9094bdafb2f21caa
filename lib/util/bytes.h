/* Bytes: a growable queue, to which one appends at the end and from whose front one consumes; and passwords that are
 * kept for a while. */
#ifndef RL_UTIL_BYTES_H
#define RL_UTIL_BYTES_H

#include <stdbool.h>
#include <stddef.h>

struct rl_bytes {
    unsigned char *data;
    size_t head;     /* first byte that is not consumed */
    size_t size;     /* end of the used part, counted from data */
    size_t capacity;
    bool secret;     /* something in it must not stay in memory: see rl_bytes_keep_secret() */
};

/* All zero is an empty queue. */
void rl_bytes_fini(struct rl_bytes *bytes);

static inline size_t rl_bytes_length(const struct rl_bytes *bytes)
{
    return bytes->size - bytes->head;
}

/* NULL where there has never been anything. */
static inline const unsigned char *rl_bytes_front(const struct rl_bytes *bytes)
{
    return bytes->data ? bytes->data + bytes->head : NULL;
}

/* Makes room for `more` bytes at the end; false if memory is short, with nothing changed. */
bool rl_bytes_reserve(struct rl_bytes *bytes, size_t more);

/* Appends; false if memory is short, with nothing changed. */
bool rl_bytes_append(struct rl_bytes *bytes, const void *data, size_t size);

/* Drops `size` bytes from the front; gives back a large empty buffer. */
void rl_bytes_consume(struct rl_bytes *bytes, size_t size);

/* A password is in the queue, or will be: until the queue is empty the next time, bytes are wiped as soon as they are
 * dropped or moved. */
static inline void rl_bytes_keep_secret(struct rl_bytes *bytes)
{
    bytes->secret = true;
}

/* Wipes a queue with a secret as a whole. It is none after that. */
void rl_bytes_wipe(struct rl_bytes *bytes);

/* Drops everything, keeps the memory. */
static inline void rl_bytes_clear(struct rl_bytes *bytes)
{
    if (bytes->secret)
        rl_bytes_wipe(bytes);
    bytes->head = 0;
    bytes->size = 0;
}

/* Memory for passwords that are kept for a while: pages of their own, which core dumps leave out, and which are wiped
 * before the system gets them back. */

/* Zeroed; NULL: no memory. */
char *rl_secret_create(size_t size);

/* A copy of a text; NULL: no memory. */
char *rl_secret_copy(const char *text);

/* Wipes it first. NULL is fine. */
void rl_secret_destroy(char *secret);

#endif
