#include "util/secret.h"

#include <string.h>
#include <sys/mman.h>

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
