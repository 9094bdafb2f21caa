#include "votes/answer.h"

#include <assert.h>

#include "votes/ask.h"
#include "votes/claim.h"
#include "votes/clocks.h"
#include "votes/extension.h"
#include "votes/rollback.h"

static struct rl_vote *vote_of(const struct rl_event *event)
{
    return &event->claim->votes[event->node];
}

/* Once the rollback has begun, no answer brings the vote back (rule 2.9: "the release is already behind it on the
 * same connection"). */
static void claim_answered(struct rl_votes *votes, const struct rl_event *event)
{
    struct rl_claim *claim = event->claim;
    struct rl_vote *vote = vote_of(event);
    enum rl_outcome outcome = event->answer.outcome;

    vote->outcome = (uint8_t)outcome;
    if (outcome == RL_REFUSED || outcome == RL_FAILED)
        rl_rollback_waive(vote);
    if (outcome != RL_GRANTED)
        return;
    if (claim->rolling_back)
        votes->counters.late_grants++;
    else if (rl_event_is_latest(event))
        rl_ledger_grant(claim, event->node, claim->round_bound);
}

/* A repair that was not carried out leaves what may have been there before, so the rollback must be sent in any
 * case. */
static void repair_answered(struct rl_votes *votes, const struct rl_event *event)
{
    struct rl_claim *claim = event->claim;
    enum rl_outcome outcome = event->answer.outcome;

    vote_of(event)->outcome = outcome == RL_GRANTED ? RL_GRANTED : RL_UNKNOWN;
    if (outcome == RL_GRANTED || outcome == RL_REFUSED)
        claim->newcomers &= ~rl_bit(event->node);
    if (outcome == RL_UNKNOWN)
        rl_extension_note_unresolved(claim, event->node);
    if (outcome == RL_REFUSED)
        rl_ledger_revoke(claim, event->node);
    if (outcome != RL_GRANTED)
        return;
    votes->counters.repairs++;
    rl_extension_granted(votes, event);
}

/* All that this answer says is that the value may be there. */
static void note_possible(struct rl_vote *vote)
{
    if (vote->outcome == RL_PENDING)
        vote->outcome = RL_UNKNOWN;
}

/* If a notification has told of a grant in this round (the vote has the round's bound), then the master answered
 * "queued" before it. A grant of an earlier round is over when the master answers "queued". Where this round failed, an
 * earlier one may have set the value all the same. */
static void enqueue_answered(struct rl_votes *votes, const struct rl_event *event)
{
    struct rl_claim *claim = event->claim;
    struct rl_vote *vote = vote_of(event);
    enum rl_outcome outcome = event->answer.outcome;
    bool granted_since = vote->outcome == RL_GRANTED && vote->bound.ns == claim->round_bound.ns;

    votes->counters.late_grants += claim->rolling_back && outcome == RL_GRANTED;
    if (event->round != claim->round || outcome == RL_UNKNOWN) {
        note_possible(vote);
    } else if (outcome == RL_GRANTED) {
        vote->outcome = RL_GRANTED;
        if (!claim->rolling_back)
            rl_ledger_grant(claim, event->node, claim->round_bound);
    } else if (outcome == RL_QUEUED && !granted_since) {
        vote->outcome = RL_QUEUED;
        rl_ledger_revoke(claim, event->node);
    } else if (vote->outcome == RL_PENDING && event->round == 0) {
        vote->outcome = (uint8_t)outcome;
        rl_rollback_waive(vote);
    } else {
        note_possible(vote);
    }
}

static void apply(struct rl_votes *votes, const struct rl_event *event)
{
    switch (event->step) {
    case RL_STEP_CLAIM:
        claim_answered(votes, event);
        break;
    case RL_STEP_ENQUEUE:
        enqueue_answered(votes, event);
        break;
    case RL_STEP_EXTEND:
        rl_extension_answered(votes, event);
        break;
    case RL_STEP_REPAIR:
        repair_answered(votes, event);
        break;
    case RL_STEP_RELEASE:
    case RL_STEP_ROLLBACK:
        rl_rollback_answered(event);
        break;
    case RL_STEP_RAISE: /* the kind has noted it */
    case RL_STEP_COUNT:
        break;
    }
}

/* rules 6.2 and 6.4: new votes of a master whose clock is wrong do not count. */
static bool is_from_doubted_clock(const struct rl_votes *votes, const struct rl_event *event)
{
    return (event->step == RL_STEP_CLAIM || event->step == RL_STEP_ENQUEUE) &&
           event->answer.outcome == RL_GRANTED && !event->claim->rolling_back &&
           rl_clock_doubted(votes, event->node, event->now);
}

void rl_votes_answer(struct rl_votes *votes, struct rl_event *event)
{
    struct rl_claim *claim = event->claim;

    if (is_from_doubted_clock(votes, event))
        event->answer = (struct rl_answer){RL_UNKNOWN, RL_DETAIL_QUARANTINED, 0};
    if (claim->kind->note)
        claim->kind->note(claim, event->step, event->node, event->answer);
    apply(votes, event);
}

/* A master answers in order, so after an answer to the latest round none to an earlier one is outstanding. */
void rl_votes_note_end(const struct rl_votes *votes, const struct rl_event *event)
{
    struct rl_claim *claim = event->claim;
    enum rl_outcome outcome = event->answer.outcome;

    assert(event->node < claim->n_nodes && claim->in_flight > 0);
    claim->in_flight--;
    if ((event->step == RL_STEP_EXTEND || event->step == RL_STEP_REPAIR) && event->round == claim->round)
        claim->unanswered &= ~rl_bit(event->node);
    if (!claim->in_flight)
        claim->unanswered = 0;
    if (rl_step_sets_ttl(event->step) && (outcome == RL_GRANTED || outcome == RL_QUEUED || outcome == RL_UNKNOWN))
        rl_rollback_prolong(votes, claim, event->now);
}

void rl_votes_note_unknown(const struct rl_votes *votes, struct rl_instant now, struct rl_claim *claim, unsigned node)
{
    assert(node < claim->n_nodes);
    rl_rollback_prolong(votes, claim, now);
    rl_extension_note_unresolved(claim, node);
}

/* A vote whose repair the verdict waits for (extension.c) stays PENDING until the repair has been answered. After the
 * verdict a repair that fails changes nothing: "missing" says more. */
void rl_votes_note_evidence(const struct rl_event *event)
{
    struct rl_claim *claim = event->claim;
    struct rl_vote *vote = vote_of(event);
    bool decides = claim->repairing & rl_bit(event->node);
    bool granted = event->answer.outcome == RL_GRANTED;

    vote->latency_us = event->latency_us;
    if (event->step == RL_STEP_EXTEND && decides)
        return;
    if (event->step == RL_STEP_REPAIR && !decides && !granted)
        return;
    if (event->step == RL_STEP_ENQUEUE && vote->outcome == RL_GRANTED && !granted)
        return; /* a notification was faster than this answer */
    claim->repairing &= ~rl_bit(event->node);
    vote->answer = (uint8_t)event->answer.outcome;
    vote->detail = (uint8_t)event->answer.detail;
}

/* rule 7.3: the grant cannot be older than the refresh that the notification names, so it counts for as long as a
 * grant by that refresh itself. It counts only if that refresh is the latest, since a later one may have found the
 * grant expired; the answer to the later one says what is true. */
static bool counts(const struct rl_votes *votes, struct rl_instant now, const struct rl_claim *claim, unsigned node,
                   const struct rl_notification *notification)
{
    enum rl_detail why;

    if (notification->kind != RL_TOLD_GRANTED || (rl_claim_fence(claim) && !notification->fence))
        return false;
    return notification->round == claim->round && rl_may_claim(votes, node, now, &why);
}

bool rl_votes_hand_off(struct rl_votes *votes, struct rl_instant now, struct rl_claim *claim, unsigned node,
                       const struct rl_notification *notification)
{
    struct rl_vote *vote = &claim->votes[node];
    struct rl_answer answer = {RL_GRANTED, RL_DETAIL_NONE, notification->fence};

    if (!counts(votes, now, claim, node, notification))
        return false;
    vote->outcome = RL_GRANTED;
    vote->answer = RL_GRANTED;
    vote->detail = RL_DETAIL_NONE;
    rl_ledger_grant(claim, node, claim->round_bound);
    if (claim->kind->note)
        claim->kind->note(claim, RL_STEP_ENQUEUE, node, answer);
    votes->counters.hand_offs++;
    return true;
}
