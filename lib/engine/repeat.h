/* Whether a command whose script the master did not know may be sent once more. */
#ifndef RL_ENGINE_REPEAT_H
#define RL_ENGINE_REPEAT_H

#include "engine/engine.h"

/* May a command that was certainly not applied (NOSCRIPT) be written once more, behind all that was written since? An
 * extension may not once a later round has begun: the repetition would carry the ttl of that round, which this master's
 * bound does not reflect if that round was not sent to it. Nor may a claim, extension or repair behind a rollback, nor
 * a repair whose condition does not hold any more. If the answer is yes, the host must write the command. */
bool rl_engine_may_repeat(struct rl_engine *engine, struct rl_instant now, const struct rl_claim *claim,
                          enum rl_step step, uint32_t round, unsigned node);

#endif
