/* The requests of an outcome, by phase and by bucket, and the outage. */
#ifndef FAILOVER_FIGURES_H
#define FAILOVER_FIGURES_H

#include "outcome.h"

/* Needs the course. False: no memory. */
bool fo_gather(struct fo_outcome *outcome, const struct fo_run *run);

#endif
