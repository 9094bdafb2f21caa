#include "blocking/holders.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FEW (sizeof((struct rl_holders *)0)->few / sizeof(struct rl_holder *))

void rl_holders_init(struct rl_holders *holders)
{
    memset(holders, 0, sizeof *holders);
    holders->buckets = holders->few;
    holders->mask = FEW - 1;
}

static void free_buckets(struct rl_holders *holders)
{
    if (holders->buckets != holders->few)
        free(holders->buckets);
}

void rl_holders_fini(struct rl_holders *holders)
{
    free_buckets(holders);
}

/* Addresses differ in their middle bits: a multiplication spreads them over the upper ones. */
static struct rl_holder **bucket_of(const struct rl_holders *holders, const void *lock)
{
    uint64_t hash = (uint64_t)(uintptr_t)lock * UINT64_C(0x9e3779b97f4a7c15);

    return &holders->buckets[(hash >> 32) & holders->mask];
}

static void insert(struct rl_holders *holders, struct rl_holder *holder)
{
    struct rl_holder **bucket = bucket_of(holders, holder->lock);

    holder->next = *bucket;
    *bucket = holder;
}

/* Without memory the chains just get longer. */
static void grow(struct rl_holders *holders)
{
    struct rl_holders larger = {.mask = holders->mask * 2 + 1, .count = holders->count};

    larger.buckets = calloc(larger.mask + 1, sizeof(struct rl_holder *));
    if (!larger.buckets)
        return;
    for (size_t i = 0; i <= holders->mask; i++) {
        for (struct rl_holder *at = holders->buckets[i], *next; at; at = next) {
            next = at->next;
            insert(&larger, at);
        }
    }
    free_buckets(holders);
    *holders = larger;
}

void rl_holders_add(struct rl_holders *holders, struct rl_holder *holder, const void *lock)
{
    if (holders->count > holders->mask)
        grow(holders);
    holder->lock = lock;
    insert(holders, holder);
    holders->count++;
}

void rl_holders_remove(struct rl_holders *holders, struct rl_holder *holder)
{
    struct rl_holder **at = bucket_of(holders, holder->lock);

    while (*at != holder)
        at = &(*at)->next;
    *at = holder->next;
    holders->count--;
}

struct rl_holder *rl_holders_find(const struct rl_holders *holders, const void *lock)
{
    struct rl_holder *at = *bucket_of(holders, lock);

    while (at && at->lock != lock)
        at = at->next;
    return at;
}

/* The function may remove what it is given. */
void rl_holders_each(const struct rl_holders *holders, void (*fn)(struct rl_holder *holder))
{
    for (size_t i = 0; i <= holders->mask; i++) {
        for (struct rl_holder *at = holders->buckets[i], *next; at; at = next) {
            next = at->next;
            fn(at);
        }
    }
}
