/* One scenario, from fresh masters and clients to the last look for keys left behind. */
#ifndef FAILOVER_CONDUCT_H
#define FAILOVER_CONDUCT_H

#include "run.h"

/* options, scenario and progress have been set, all else is zero. False: run->why is a sentence. In any case
 * fo_conduct_fini() is due; before it, shared and course are what a report is made from. */
bool fo_conduct(struct fo_run *run);
void fo_conduct_fini(struct fo_run *run);

#endif
