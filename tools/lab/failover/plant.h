/* Faults planted into a copy of the client, to see that the referee finds them. They exist in the program that the
 * tests build with FAILOVER_PLANTS, and nowhere else; there $FAILOVER_PLANT names one. */
#ifndef FAILOVER_PLANT_H
#define FAILOVER_PLANT_H

#include <stdbool.h>
#include <stdint.h>

struct fo_worker;

enum fo_plant {
    FO_PLANT_NONE,
    FO_PLANT_DOUBLE,  /* "double": a refused contender for the leader lock believes that it holds it */
    FO_PLANT_REGRESS, /* "regress": every other token is told too small */
    FO_PLANT_FOREIGN, /* "foreign": a contender deletes the leader's key on a master */
    FO_PLANT_LEAK,    /* "leak": a key is set without a ttl, and nobody remembers it */
    FO_PLANT_UNGUARDED, /* "unguarded": the guard of --resource is not asked */
};

#ifdef FAILOVER_PLANTS
bool fo_planted(enum fo_plant plant);
uint64_t fo_plant_fence(uint64_t fence);
void fo_plant_at_leader(struct fo_worker *worker);  /* this client has just become the leader */
void fo_plant_at_refused(struct fo_worker *worker); /* ... or has not */
#else
static inline bool fo_planted(enum fo_plant plant)
{
    return false;
}

static inline uint64_t fo_plant_fence(uint64_t fence)
{
    return fence;
}

static inline void fo_plant_at_leader(struct fo_worker *worker)
{
}

static inline void fo_plant_at_refused(struct fo_worker *worker)
{
}
#endif

#endif
