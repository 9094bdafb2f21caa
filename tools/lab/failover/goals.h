/* Whether an outcome has kept the limits of its scenario. */
#ifndef FAILOVER_GOALS_H
#define FAILOVER_GOALS_H

#include "outcome.h"

/* Needs all else. */
void fo_judge_goal(struct fo_outcome *outcome, const struct fo_options *options);

#endif
