/* The mutex with fencing tokens (protocol section 4): claims are granted by a script that also counts. */
#ifndef RL_KINDS_FENCED_H
#define RL_KINDS_FENCED_H

#include "votes/kind.h"

extern const struct rl_kind rl_fenced_kind;

#endif
