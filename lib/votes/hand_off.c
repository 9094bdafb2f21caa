#include "votes/hand_off.h"

#include "util/mutant.h"
#include "votes/ledger.h"
#include "votes/may_ask.h"

/* protocol 6.4: the grant cannot be older than the refresh that the notification names, so it counts for as long as a
 * grant by that refresh itself. It counts only if that refresh is the latest, since a later one may have found the
 * grant expired; the answer to the later one says what is true. */
static bool counts(const struct rl_votes *votes, struct rl_instant now, const struct rl_claim *claim, unsigned node,
                   const struct rl_notification *notification)
{
    enum rl_detail why;

    if (notification->kind != RL_TOLD_GRANTED || (rl_claim_fence(claim) && !notification->fence))
        return false;
    return (notification->round == claim->round || RL_MUTANT(GRANT_FROM_LATER_REFRESH)) &&
           rl_may_claim(votes, node, now, &why);
}

bool rl_votes_hand_off(struct rl_votes *votes, struct rl_instant now, struct rl_claim *claim, unsigned node,
                       const struct rl_notification *notification)
{
    struct rl_slot *slot = &claim->slots[node];
    struct rl_answer answer = {RL_GRANTED, RL_DETAIL_NONE, notification->fence};

    if (!counts(votes, now, claim, node, notification))
        return false;
    slot->vote = RL_GRANTED;
    slot->answer = RL_GRANTED;
    slot->detail = RL_DETAIL_NONE;
    rl_ledger_grant(claim, node, RL_MUTANT(GRANT_FROM_ARRIVAL)
                                     ? rl_vote_bound(&votes->config.drift, now, claim->ttl_ms) : claim->round_bound);
    if (claim->kind->note)
        claim->kind->note(claim, RL_STEP_ENQUEUE, node, answer);
    votes->counters.hand_offs++;
    return true;
}
