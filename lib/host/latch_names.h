/* The parties of a latch that have arrived: a set of names, in the order of their bytes. */
#ifndef RL_HOST_LATCH_NAMES_H
#define RL_HOST_LATCH_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "kinds/latch.h"
#include "util/slice.h"

struct rl_latch_name {
    unsigned char size;
    char text[RL_LATCH_PARTY_BYTES + 1]; /* ends with a 0 */
};

struct rl_latch_names {
    struct rl_latch_name *at;
    size_t n;
    size_t room;
};

/* An empty set with room for so many names. false: out of memory; there is nothing to free. */
bool rl_latch_names_init(struct rl_latch_names *names, size_t room);
void rl_latch_names_fini(struct rl_latch_names *names);

/* Adds the name of a party, if it is not there already, and if there is room. */
void rl_latch_names_add(struct rl_latch_names *names, struct rl_slice name);

#endif
