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

/* A master's clock has been set forward (rule 6.2): what becomes of the votes that there are. */

/* The master's clock has been set forward (rule 6.2): its new votes do not count for max_ttl. The host then calls
 * rl_lock_clock_stepped() for every lock. Answers whose epoch check has not come may be from before the step or from
 * after it, so they do not count. */
void rl_engine_clock_stepped(struct rl_engine *engine, struct rl_instant now, unsigned node,
                             const struct rl_clock_move *move);

/* After rl_engine_clock_stepped(), for every lock: its votes of that master end earlier by `step`, the most that the
 * clock can have been set forward by. */
void rl_lock_clock_stepped(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, unsigned node,
                           struct rl_span step);

/* Our own clock stood still, for that long at most: answers that are still to come, to what was sent before, count for
 * as much less. */
void rl_lock_own_clock_stood(struct rl_lock *lock, struct rl_span most);

/* Whether a command whose script the master did not know may be sent once more. */

/* May a command that was certainly not applied (NOSCRIPT) be written once more, behind all that was written since? An
 * extension may not once a later round has begun: the repetition would carry the ttl of that round, which this master's
 * bound does not reflect if that round was not sent to it. Nor may a claim, extension or repair behind a rollback, nor
 * a repair whose condition does not hold any more. If the answer is yes, the host must write the command. */
bool rl_engine_may_repeat(struct rl_engine *engine, struct rl_instant now, const struct rl_claim *claim,
                          enum rl_step step, uint32_t round, unsigned node);

#endif
