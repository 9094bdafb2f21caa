/* What the files of the faults share. */
#ifndef SIM_FAULTS_PARTS_H
#define SIM_FAULTS_PARTS_H

#include "faults.h"

/* How long this one is to last. */
int64_t fault_length(struct world *world, enum fault fault);

/* --- faults_lasting.c --------------------------------------------------------------------------------------------- */

bool fault_lasts(enum fault fault);

/* --- faults_sudden.c ---------------------------------------------------------------------------------------------- */

/* A fault of the moment, at this target; a master may be down already, a client dead: then nothing happens. */
void fault_strike(struct world *world, enum fault fault, unsigned client, unsigned master);

#endif
