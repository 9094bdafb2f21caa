/* The lock of a client that knows nothing of the wait queue. */
#ifndef SIM_FOREIGN_H
#define SIM_FOREIGN_H

#include "votes/kind.h"

/* SET NX PX and DELIFEQ, without fencing tokens. */
extern const struct rl_kind foreign_kind;

#endif
