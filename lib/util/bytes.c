#include "util/bytes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SMALLEST_CAPACITY 512

/* An empty queue keeps a buffer up to this size for the next burst. */
#define KEPT_CAPACITY (128 * 1024)

/* Wipes the bytes between two places counted from data. */
static void wipe(struct rl_bytes *bytes, size_t from, size_t to)
{
    if (bytes->secret && to > from)
        explicit_bzero(bytes->data + from, to - from);
}

void rl_bytes_wipe(struct rl_bytes *bytes)
{
    wipe(bytes, 0, bytes->size);
    bytes->secret = false;
}

void rl_bytes_fini(struct rl_bytes *bytes)
{
    wipe(bytes, 0, bytes->size);
    free(bytes->data);
    *bytes = (struct rl_bytes){0};
}

/* Doubling makes appending constant in time on average. */
static size_t grown_capacity(size_t capacity, size_t wanted)
{
    size_t doubled = capacity < SMALLEST_CAPACITY ? SMALLEST_CAPACITY : capacity * 2;

    return doubled < wanted ? wanted : doubled;
}

static bool move_to_larger(struct rl_bytes *bytes, size_t wanted)
{
    size_t length = rl_bytes_length(bytes);
    size_t capacity = grown_capacity(bytes->capacity, wanted);
    unsigned char *data = malloc(capacity);

    if (!data)
        return false;
    if (length)
        memcpy(data, rl_bytes_front(bytes), length);
    wipe(bytes, 0, bytes->size);
    free(bytes->data);
    *bytes = (struct rl_bytes){
        .data = data, .head = 0, .size = length, .capacity = capacity, .secret = bytes->secret};
    return true;
}

static void slide_to_start(struct rl_bytes *bytes)
{
    size_t length = rl_bytes_length(bytes);

    memmove(bytes->data, bytes->data + bytes->head, length);
    wipe(bytes, length, bytes->size);
    bytes->head = 0;
    bytes->size = length;
}

bool rl_bytes_reserve(struct rl_bytes *bytes, size_t more)
{
    size_t length = rl_bytes_length(bytes);

    if (more <= bytes->capacity - bytes->size)
        return true;
    if (more > SIZE_MAX / 4 - length)
        return false;
    /* Sliding pays only if the consumed part is at least as long as what must be moved: otherwise a slow reader
     * would cost a move of the whole queue for each small append. */
    if (length + more <= bytes->capacity && bytes->head >= length) {
        slide_to_start(bytes);
        return true;
    }
    return move_to_larger(bytes, length + more);
}

bool rl_bytes_append(struct rl_bytes *bytes, const void *data, size_t size)
{
    if (!size)
        return true;
    if (!rl_bytes_reserve(bytes, size))
        return false;
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
    return true;
}

void rl_bytes_consume(struct rl_bytes *bytes, size_t size)
{
    wipe(bytes, bytes->head, bytes->head + size);
    bytes->head += size;
    if (bytes->head < bytes->size)
        return;
    if (bytes->capacity > KEPT_CAPACITY)
        rl_bytes_fini(bytes);
    else
        rl_bytes_clear(bytes);
}

/* In front of the bytes; as long as the strictest alignment. */
struct header {
    size_t mapped;
    _Alignas(16) char bytes[];
};

char *rl_secret_create(size_t size)
{
    size_t mapped = offsetof(struct header, bytes) + size;
    struct header *header = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (header == MAP_FAILED)
        return NULL;
    madvise(header, mapped, MADV_DONTDUMP); /* a system that cannot leaves it in its dumps */
    header->mapped = mapped;
    return header->bytes;
}

char *rl_secret_copy(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = rl_secret_create(size);

    if (copy)
        memcpy(copy, text, size);
    return copy;
}

void rl_secret_destroy(char *secret)
{
    struct header *header;
    size_t mapped;

    if (!secret)
        return;
    header = (struct header *)(void *)(secret - offsetof(struct header, bytes));
    mapped = header->mapped;
    explicit_bzero(header, mapped);
    munmap(header, mapped);
}
