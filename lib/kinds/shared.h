/* The read-write lock: which kind it is. */
#ifndef RL_KINDS_SHARED_H
#define RL_KINDS_SHARED_H

struct rl_kind;

/* The kind of the same lock that knows modes, with or without fencing tokens; `kind` itself if it does. NULL: locks of
 * this kind are exclusive only. */
const struct rl_kind *rl_shared_form(const struct rl_kind *kind);

#endif
