/* What masters say beside their votes for a permit: which other slots of the semaphore are free. */
#ifndef RL_KINDS_PERMIT_H
#define RL_KINDS_PERMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "votes/kind.h"

/* Takes the mask off a reply to CLAIM or ENQUEUE of a permit: bit i says that candidate i has neither a holder nor
 * waiters. What is left of the reply is what the kind's `answer` expects. A reply without a mask is made one that
 * nothing expects. false: there is no mask. */
bool rl_permit_take_mask(struct rl_reply *reply, uint32_t *ret_mask);

#endif
