/* A held lock that gets another mode. */
#ifndef RL_ENGINE_CONVERT_H
#define RL_ENGINE_CONVERT_H

#include "engine/engine.h"

/* State HELD, before the deadline: lowers the mode of the hold, at once, and begins an extension that tells the
 * masters; until all of them know, every extension does. `kind` is the claim's, or the form of it that knows modes; the
 * mode is no stronger than it is. */
void rl_lock_lower(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, const struct rl_kind *kind,
                   enum rl_mode mode);

/* Both have claims of one owner under one key, `by` has just been acquired and is HELD, and no operation of `lock` is
 * pending. `lock` gets the claim of `by`, its own one is released, and `by` is IDLE. False: `lock` is not valid any
 * more, and only that has been noticed. There is no completion. */
bool rl_lock_replace(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, struct rl_lock *by);

#endif
