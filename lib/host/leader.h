/* Who leads, as far as a look at the key or a leader itself tells an observer (family 8): a hint. */
#ifndef RL_HOST_LEADER_H
#define RL_HOST_LEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/options.h>

#include "host/names.h"
#include "util/slice.h"
#include "votes/kind.h"

struct rl_host;
struct rl_key;

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

/* On which channel the leaders of this key tell of themselves. */
#define RL_LEADER_CHANNEL_BYTES (REDLOCK_MAX_KEY_BYTES + sizeof RL_LEADER_NAME)
struct rl_slice rl_leader_channel(const struct rl_host *host, const struct rl_key *key,
                                  unsigned char buffer[RL_LEADER_CHANNEL_BYTES]);

/* Tells all masters that can be told now, once. A label that is empty is none. */
void rl_leader_announce(struct rl_host *host, const struct rl_key *key, uint64_t term, struct rl_slice label);

/* Reads what a leader tells: TERM, or TERM LABEL. false: it is something else. */
bool rl_leader_said(struct rl_slice payload, struct rl_leader *ret_leader);

#endif
