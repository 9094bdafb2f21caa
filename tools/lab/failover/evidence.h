/* The clues of an outcome, if there is anything to be explained. */
#ifndef FAILOVER_EVIDENCE_H
#define FAILOVER_EVIDENCE_H

#include "outcome.h"

bool fo_evidence(struct fo_outcome *outcome, const struct fo_run *run); /* false: no memory */

#endif
