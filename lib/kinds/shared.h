/* The read-write lock: votes with a mode, plain and with fencing tokens (rules 9). */
#ifndef RL_KINDS_SHARED_H
#define RL_KINDS_SHARED_H

#include "votes/kind.h"

extern const struct rl_kind rl_shared_kind;
extern const struct rl_kind rl_fenced_shared_kind;

/* The kind of the same lock that knows modes, with or without fencing tokens; `kind` itself if it does. NULL: locks of
 * this kind are exclusive only. */
const struct rl_kind *rl_shared_form(const struct rl_kind *kind);

#endif
