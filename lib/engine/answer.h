/* What an answer means for the operation that waits for it. */
#ifndef RL_ENGINE_ANSWER_H
#define RL_ENGINE_ANSWER_H

#include "engine/engine.h"

/* The epoch check of this master has been answered (RL_DETAIL_NONE: by the same memory), or will not be. */
void rl_answer_checked(struct rl_engine *engine, struct rl_instant now, unsigned node, enum rl_detail why_not);

#endif
