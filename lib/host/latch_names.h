/* The parties of a latch that have arrived: a set of names, in the order of their bytes. A name stays where it is in
 * memory, since results point at it. */
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
    const struct rl_latch_name **at; /* in order */
    struct rl_latch_name *store;     /* as they have come */
    size_t n;
    size_t room;
};

/* An empty set with room for so many names. false: out of memory; there is nothing to free. */
bool rl_latch_names_init(struct rl_latch_names *names, size_t room);
void rl_latch_names_fini(struct rl_latch_names *names);

/* Adds the name of a party, if it is not there already, and if there is room. */
void rl_latch_names_add(struct rl_latch_names *names, struct rl_slice name);

#endif
