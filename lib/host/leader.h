/* Who leads, as far as a look at the key tells an observer (family 8): a hint. */
#ifndef RL_HOST_LEADER_H
#define RL_HOST_LEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/options.h>

#include "util/slice.h"
#include "votes/kind.h"

struct rl_leader {
    bool present;
    uint64_t term; /* 0: not known */
    size_t label_size;
    char label[REDLOCK_MAX_LABEL_BYTES];
};

/* A look whose verdict is EXCLUSIVE tells of this holder, with the counter of fencing tokens on which its masters
 * agree. */
void rl_leader_see(struct rl_leader *leader, enum rl_mode mode, struct rl_slice value, uint64_t counter);

bool rl_leader_is(const struct rl_leader *leader, const struct rl_leader *other);

#endif
