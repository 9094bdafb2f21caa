/* Finds the mutex that belongs to a lock which the client has named in an event: a hash table of intrusive nodes. */
#ifndef RL_BLOCKING_HOLDERS_H
#define RL_BLOCKING_HOLDERS_H

#include <stddef.h>

struct rl_holder {
    const void *lock;
    struct rl_holder *next;
};

struct rl_holders {
    struct rl_holder **buckets;
    size_t mask;
    size_t count;
    struct rl_holder *few[8]; /* the first buckets: creation cannot fail */
};

void rl_holders_init(struct rl_holders *holders);
void rl_holders_fini(struct rl_holders *holders);
void rl_holders_add(struct rl_holders *holders, struct rl_holder *holder, const void *lock);
void rl_holders_remove(struct rl_holders *holders, struct rl_holder *holder);
struct rl_holder *rl_holders_find(const struct rl_holders *holders, const void *lock);

void rl_holders_each(const struct rl_holders *holders, void (*fn)(struct rl_holder *holder));

#endif
