/* What is done to masters or to the leader, and undone. It may take a while; the clients are attended to meanwhile. */
#ifndef FAILOVER_INJECT_H
#define FAILOVER_INJECT_H

#include "run.h"

bool fo_run_get_ready(struct fo_run *run); /* before it: to whom it will be done, and what must be so by then */
bool fo_run_inject(struct fo_run *run);
bool fo_run_heal(struct fo_run *run);

#endif
