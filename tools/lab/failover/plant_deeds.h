/* The planted faults that are deeds, see plant.h. Nothing in the program that is shipped. */
#ifndef FAILOVER_PLANT_DEEDS_H
#define FAILOVER_PLANT_DEEDS_H

#include "client.h"

#ifdef FAILOVER_PLANTS
void fo_plant_at_leader(struct fo_seat *seat);  /* this client has just become the leader */
void fo_plant_at_refused(struct fo_seat *seat); /* ... or has not */
#else
static inline void fo_plant_at_leader(struct fo_seat *seat)
{
    (void)seat;
}

static inline void fo_plant_at_refused(struct fo_seat *seat)
{
    (void)seat;
}
#endif

#endif
