/* Permits: their kinds, and what masters say beside their votes: which other slots of the semaphore are free. */
#ifndef RL_KINDS_PERMIT_H
#define RL_KINDS_PERMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "kinds/command.h"

/* A permit of a semaphore: the mutex on the key of one slot, plain and with fencing tokens. */
extern const struct rl_kind rl_permit_kind;
extern const struct rl_kind rl_fenced_permit_kind;

/* The kind of a permit of which each slot is a lock of this kind, with or without fencing tokens; `kind` itself if it
 * is one. NULL: there are no permits of such locks. */
const struct rl_kind *rl_permit_form(const struct rl_kind *kind);

/* The mask that ends a reply to CLAIM or ENQUEUE of a permit: bit i says that candidate i has neither a holder nor
 * waiters. false: there is none. */
bool rl_permit_mask(const struct rl_reply *reply, uint32_t *ret_mask);

#endif
