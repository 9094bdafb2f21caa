/* What happened to each master, who led when, and the times that follow from it. */
#ifndef FAILOVER_LANES_H
#define FAILOVER_LANES_H

#include "outcome.h"

bool fo_lanes(struct fo_outcome *outcome, const struct fo_run *run); /* false: no memory */
const char *fo_state_name(const struct fo_span *span);
void fo_times(struct fo_outcome *outcome, const struct fo_run *run);

#endif
