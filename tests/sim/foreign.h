#ifndef SIM_FOREIGN_H
#define SIM_FOREIGN_H

#include "votes/kind.h"

/* SET NX PX and DELIFEQ, without fencing tokens. */
extern const struct rl_kind foreign_kind;

#endif
