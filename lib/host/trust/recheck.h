/* Masters are looked at again from time to time: one that votes, since its settings may be changed; an excluded one, so
 * that mending it is enough; one in quarantine, so that an operator's word for it is noticed. */
#ifndef RL_HOST_TRUST_RECHECK_H
#define RL_HOST_TRUST_RECHECK_H

#include "host/transport.h"
#include "util/wheel.h"
#include "votes/admission_status.h"

struct rl_host;

#define RL_RECHECK_MS 10000
#define RL_RECHECK_QUARANTINED_MS 1000

/* When a master with this status is looked at again; RL_NEVER: it is not. */
static inline struct rl_instant rl_trust_recheck_at(const struct rl_admission_status *status, struct rl_instant now)
{
    if (status->fault == RL_FAULT_CLOCK_SLOW)
        return rl_after(now, rl_ms(RL_RECHECK_QUARANTINED_MS));
    if (status->kind == RL_ADMISSION_EXCLUDED || (status->kind == RL_ADMISSION_VOTES && status->epoch_checked))
        return rl_after(now, rl_ms(RL_RECHECK_MS));
    if (status->kind == RL_ADMISSION_QUARANTINED)
        return rl_earlier(status->until, rl_after(now, rl_ms(RL_RECHECK_QUARANTINED_MS)));
    return RL_NEVER;
}

/* That time has come; `timer` is the one of the master's struct rl_trust_node. */
void rl_trust_recheck(struct rl_timer *timer, struct rl_instant now);

/* One that votes: the answer of a setting; behind the last one JOIN is asked. */
void rl_trust_recheck_setting(struct rl_host *host, unsigned node, const struct rl_tag *tag,
                              const struct rl_reply *reply, struct rl_instant now);

/* The answer of JOIN. */
void rl_trust_recheck_join(struct rl_host *host, unsigned node, const struct rl_tag *tag,
                           const struct rl_reply *reply, struct rl_instant now);

#endif
