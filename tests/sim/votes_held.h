/* What masters hold under the keys of locks: one value as a string, or votes in a sorted set
 * (kinds/scripts/votes.lua). */
#ifndef SIM_VOTES_HELD_H
#define SIM_VOTES_HELD_H

#include <stdbool.h>
#include <stdint.h>

struct box;
struct entry;
struct member;
struct world;

/* With the planted bug READERS_APART, shared votes are under a key with this in front. */
#define READERS_NAME "readers:"

/* The true instant at which this master's vote for the value ends, if nothing else happens; INT64_MIN: it has none. */
int64_t vote_gone(struct world *world, const struct box *box, unsigned master);

/* Whose vote, or whose entry in a wait queue, this member is; NULL: nobody's. */
struct box *box_of_member(const struct world *world, const struct member *member);

/* Calls `see` for each vote in the sets of this master, with the true instant at which it ends. */
void votes_each(struct world *world, unsigned master,
                void (*see)(struct world *world, struct box *box, unsigned master, int64_t gone));

#endif
