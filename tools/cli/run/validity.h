/* How long the lock is proven to be held, as the wrapper, the guard and others are told. */
#ifndef CLI_RUN_VALIDITY_H
#define CLI_RUN_VALIDITY_H

#include "cli/clock.h"
#include "cli/run/keeper.h"

/* The end of the proven validity. */
struct instant run_read_valid_until(const struct run *run);

/* Sets the timer of the wrapper, which kills if the guard does not. */
void keeper_set_fallback(const struct keeper *keeper);

/* Looks at the lock's validity, and tells everybody if that has changed. Called after every turn of the loop: whatever
 * has moved the end of the validity has done so in one. */
void keeper_refresh(struct keeper *keeper);

#endif
