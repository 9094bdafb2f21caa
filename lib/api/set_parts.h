/* The parts of a set, in ascending order of their keys (family 4), and what may be added to them. */
#ifndef RL_API_SET_PARTS_H
#define RL_API_SET_PARTS_H

#include <stdbool.h>

#include "api/set_handle.h"

/* May anything be added to the set now? */
int rl_set_check_addition(struct redlock_set *set, const void *key, size_t key_size);

/* May so many parts of this key be added? `limit` is that of a semaphore; 0: the key is no semaphore's. */
int rl_set_check_room(const struct redlock_set *set, const void *key, size_t key_size, uint32_t n, uint32_t limit);

bool rl_set_has_key(const struct redlock_set *set, const void *key, size_t key_size);

/* Where a part of this key belongs. */
unsigned rl_set_place_for(const struct redlock_set *set, const void *key, size_t key_size);
void rl_set_insert(struct redlock_set *set, unsigned at, struct rl_set_member part);

#endif
