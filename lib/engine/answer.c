/* What an answer means for the claim's vote is in votes/answer.c. */
#include "engine/answer.h"

#include <assert.h>

#include "engine/refresh.h"
#include "engine/states.h"
#include "votes/answer.h"
#include "votes/ask.h"
#include "votes/claim.h"
#include "votes/clocks.h"
#include "votes/epoch_check.h"

/* Does this answer belong to the lock's present or latest operation? Only then it is evidence for the result. */
static bool is_evidence(const struct rl_event *event)
{
    const struct rl_claim *claim = event->claim;

    if (!claim->lock || event->step == RL_STEP_RAISE)
        return false;
    if (rl_step_sets_ttl(event->step))
        return event->round == claim->round && !claim->rolling_back;
    return claim->lock->state == RL_LOCK_RELEASING;
}

/* Answers concern a held lock outside its operations, too: late grants, late extensions. */
static void check_deadline(struct rl_engine *engine, const struct rl_claim *claim, struct rl_instant now)
{
    if (claim->lock)
        rl_lock_check_deadline(engine, claim->lock, now);
}

/* rule 4.4: "Extension never resurrects a lock whose deadline has passed": the deadline is checked before the
 * answer counts. */
static void apply(struct rl_engine *engine, struct rl_event event)
{
    struct rl_claim *claim = event.claim;
    struct rl_lock *lock = claim->lock;
    struct rl_instant wakeup = lock ? rl_lock_wakeup(engine, lock) : RL_NEVER;
    bool evidence;

    check_deadline(engine, claim, event.now);
    rl_votes_answer(&engine->votes, &event);
    evidence = is_evidence(&event);
    if (evidence)
        rl_votes_note_evidence(&event);
    if (claim->lock && (evidence || event.step == RL_STEP_RAISE || event.step == RL_STEP_RELEASE))
        rl_lock_changed(engine, claim->lock, event.now);
    check_deadline(engine, claim, event.now);
    if (lock)
        rl_lock_tell_earlier(engine, lock, wakeup);
}

void rl_engine_reply(struct rl_engine *engine, const struct rl_event *event)
{
    rl_votes_note_end(&engine->votes, event);
    if (rl_epoch_check_needed(&engine->votes, event))
        rl_epoch_check_await(&engine->votes, event);
    else
        apply(engine, *event);
    rl_votes_settle(&engine->votes, event->claim);
}

void rl_answer_checked(struct rl_engine *engine, struct rl_instant now, unsigned node, enum rl_detail why_not)
{
    struct rl_event event = {.now = now};
    struct rl_list *cursor = NULL;

    while (rl_epoch_check_next(&engine->votes, &cursor, node, why_not, &event)) {
        apply(engine, event);
        rl_votes_settle(&engine->votes, event.claim);
    }
}

void rl_engine_epoch_checked(struct rl_engine *engine, struct rl_instant now, unsigned node, bool same_memory)
{
    rl_answer_checked(engine, now, node, same_memory ? RL_DETAIL_NONE : RL_DETAIL_MEMORY_LOST);
}

void rl_engine_note_unknown(struct rl_engine *engine, struct rl_instant now, struct rl_claim *claim, unsigned node)
{
    rl_votes_note_unknown(&engine->votes, now, claim, node);
}

bool rl_engine_notification_sent(const struct rl_claim *claim, const struct rl_notification *notification,
                                 struct rl_instant *ret_sent)
{
    if (notification->kind != RL_TOLD_GRANTED || !claim->lock || claim->rolling_back ||
        notification->round != claim->round)
        return false;
    *ret_sent = claim->lock->round_start;
    return true;
}

/* The master has certainly not carried out the latest refresh, so no answer will say whether what an earlier one was
 * granted is still there. */
static bool is_unreached(const struct rl_claim *claim, unsigned node)
{
    return claim->votes[node].answer == RL_FAILED;
}

/* True: something has changed. With a grant the master also says that no lower ticket waited there. */
static bool take_notification(struct rl_engine *engine, struct rl_instant now, struct rl_claim *claim, unsigned node,
                              const struct rl_notification *notification)
{
    struct rl_lock *lock = claim->lock;
    bool waiting = lock->state == RL_LOCK_WAITING;

    if (notification->kind == RL_TOLD_LOWER && waiting) {
        lock->acquisition.request->entry->lower |= rl_bit(node);
        return true;
    }
    if (notification->kind == RL_TOLD_LOOK || notification->kind == RL_TOLD_FIRST) {
        rl_lock_ask_again(engine, lock, now, node);
        return false;
    }
    if (!rl_votes_hand_off(&engine->votes, now, claim, node, notification)) {
        if (notification->kind == RL_TOLD_GRANTED && is_unreached(claim, node))
            rl_lock_ask_again(engine, lock, now, node);
        return false;
    }
    if (waiting)
        lock->acquisition.request->entry->lower &= ~rl_bit(node);
    return true;
}

void rl_engine_notified(struct rl_engine *engine, struct rl_instant now, struct rl_claim *claim, unsigned node,
                        const struct rl_notification *notification)
{
    struct rl_lock *lock = claim->lock;
    struct rl_instant wakeup;

    if (!lock || claim->rolling_back)
        return; /* the rollback comes behind the grant */
    wakeup = rl_lock_wakeup(engine, lock);
    check_deadline(engine, claim, now);
    if (claim->rolling_back || !take_notification(engine, now, claim, node, notification))
        return;
    rl_lock_changed(engine, lock, now);
    check_deadline(engine, claim, now);
    rl_lock_tell_earlier(engine, lock, wakeup);
}

/* A master's clock has been set forward (rule 6.2): what becomes of the votes that there are. */

void rl_engine_clock_stepped(struct rl_engine *engine, struct rl_instant now, unsigned node,
                             const struct rl_clock_move *move)
{
    assert(node < engine->votes.config.n_nodes);
    rl_note_clock_step(&engine->votes, now, node, move);
    rl_answer_checked(engine, now, node, RL_DETAIL_QUARANTINED);
}

void rl_lock_clock_stepped(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, unsigned node,
                           struct rl_span step)
{
    struct rl_instant bound;

    if (!lock->claim)
        return;
    if (node >= lock->claim->n_nodes) /* it has come since the claim was made */
        return;
    bound = lock->claim->votes[node].bound;
    if (bound.ns == RL_LONG_AGO.ns)
        return;
    bound = rl_until(now, bound).ns > step.ns ? rl_after(bound, (struct rl_span){-step.ns}) : RL_LONG_AGO;
    rl_ledger_set(lock->claim, node, bound);
    if (rl_lock_is_held(lock))
        lock->hold.stepped = true;
    rl_lock_check_deadline(engine, lock, now);
}

void rl_lock_own_clock_stood(struct rl_lock *lock, struct rl_span most)
{
    struct rl_claim *claim = lock->claim;

    if (!claim || claim->round_bound.ns == RL_LONG_AGO.ns)
        return;
    claim->round_bound = rl_after(claim->round_bound, (struct rl_span){-most.ns});
}

/* Whether a command whose script the master did not know may be sent once more. A claim without a lock has been
 * replaced by one for a new list of masters, or let go: nothing sets its value any more, since that may be released
 * already. */

bool rl_engine_may_repeat(struct rl_engine *engine, struct rl_instant now, const struct rl_claim *claim,
                          enum rl_step step, uint32_t round, unsigned node)
{
    struct rl_votes *votes = &engine->votes;
    bool latest = round == claim->round && claim->lock && !claim->rolling_back;

    if (rl_step_sets_ttl(step) && !latest)
        return false;
    if (step == RL_STEP_ENQUEUE && (!claim->lock || claim->lock->state != RL_LOCK_WAITING))
        return false;
    if (step == RL_STEP_REPAIR && !rl_may_repair(votes, claim, node, now))
        return false;
    if (step != RL_STEP_ENQUEUE)
        votes->unchecked |= rl_bit(node);
    return true;
}
