/* What an answer means for the operation that waits for it. */
#ifndef RL_ENGINE_ANSWER_H
#define RL_ENGINE_ANSWER_H

#include "engine/engine.h"

/* The epoch check of this master has been answered (RL_DETAIL_NONE: by the same memory), or will not be. */
void rl_answer_checked(struct rl_engine *engine, struct rl_instant now, unsigned node, enum rl_detail why_not);

/* The end of one command. Each command handed out by RL_EFFECT_SEND must be ended exactly once; the claim, the step and
 * the round are those of the effect. */
void rl_engine_reply(struct rl_engine *engine, const struct rl_event *event);

/* A command that the host is about to repeat has the outcome UNKNOWN: the master may have carried it out, or may yet do
 * so. It is not ended by rl_engine_reply(), since the repetition will be. */
void rl_engine_note_unknown(struct rl_engine *engine, struct rl_instant now, struct rl_claim *claim, unsigned node);

/* The reply to an epoch check: was everything that this connection has answered so far done in the memory that was
 * admitted? If not, the host must give up the connection and have the master admitted anew. */
void rl_engine_epoch_checked(struct rl_engine *engine, struct rl_instant now, unsigned node, bool same_memory);

/* When the refresh was sent that a notification of a grant names: the master has written it after that, so its time is
 * a reading of the clock. Known of the latest refresh only, and until the rollback; false: it is not. */
bool rl_engine_notification_sent(const struct rl_claim *claim, const struct rl_notification *notification,
                                 struct rl_instant *ret_sent);

/* A notification from this master about this claim's value. Guarded hosts have compared its incarnation with the one
 * that was admitted, and its time with the master's clock. */
void rl_engine_notified(struct rl_engine *engine, struct rl_instant now, struct rl_claim *claim, unsigned node,
                        const struct rl_notification *notification);

#endif
