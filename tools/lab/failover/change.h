/* The operator of a scenario, who changes the list of masters while clients lock. */
#ifndef FAILOVER_CHANGE_H
#define FAILOVER_CHANGE_H

#include "run.h"

/* Changes it, and attends to the clients until the last list has stood. What each list has is in the marks. */
bool fo_change(struct fo_run *run);

#endif
