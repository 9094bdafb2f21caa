#include "host/answers.h"

#include "codec/classify.h"
#include "engine/answer.h"
#include "host/effects.h"
#include "host/fencing_counter.h"
#include "host/host.h"
#include "host/notifications.h"
#include "host/repeat.h"
#include "host/upgrade.h"
#include "kinds/release.h"
#include "util/mutant.h"

static void note_contended(struct rl_host *host, const struct rl_tag *tag)
{
    rl_contended_note(&host->contended, rl_host_wanted_key(tag->owner), host->now);
}

static void count_vote(struct rl_host_votes *votes, enum rl_outcome outcome)
{
    votes->granted += outcome == RL_GRANTED;
    votes->refused += outcome == RL_REFUSED;
    votes->failed += outcome == RL_FAILED;
    votes->unknown += outcome == RL_UNKNOWN;
    votes->queued += outcome == RL_QUEUED;
}

void rl_host_ended(struct rl_host *host, unsigned node, const struct rl_tag *tag, struct rl_answer answer,
                   uint32_t latency_us)
{
    struct rl_claim *claim = tag->owner;
    const struct rl_vote vote = {.lock = rl_host_owner(rl_host_claim_lock(claim)), .claim = claim,
                                 .step = (enum rl_step)tag->step, .answer = answer, .latency_us = latency_us};
    const struct rl_event event = {host->now, claim, vote.step, tag->round, node, answer, latency_us};

    if (vote.step == RL_STEP_CLAIM || vote.step == RL_STEP_ENQUEUE)
        count_vote(&host->votes[node], answer.outcome);
    host->sink->vote(host, node, &vote);
    rl_engine_reply(&host->engine, &event);
    rl_host_run(host);
}

/* A server that says READONLY is no master any more. Its connection is made anew, so that it is evaluated; but not
 * where that is no help, in the classic profile and without the rights for it. */
static void reconnect_to_recheck(struct rl_host *host, unsigned node)
{
    if (host->engine.votes.admissions[node].epoch_checked)
        rl_transport_fail(&host->transport, node, "it is read-only: no master any more");
}

void rl_host_answered(struct rl_host *host, unsigned node, const struct rl_tag *tag, struct rl_answer answer,
                      struct rl_instant now)
{
    bool releases = tag->step == RL_STEP_RELEASE || tag->step == RL_STEP_ROLLBACK;

    if (answer.fence)
        rl_counter_note(tag->owner, answer.fence);
    if (RL_MUTANT(NOSCRIPT_MEANS_MISSING) && answer.detail == RL_DETAIL_NOSCRIPT)
        answer = (struct rl_answer){RL_REFUSED, RL_DETAIL_MISSING, 0};
    if (RL_MUTANT(OTHERS_WAIT_MEANS_DONE) && answer.detail == RL_DETAIL_OTHERS_WAIT)
        answer = (struct rl_answer){RL_GRANTED, RL_DETAIL_NONE, 0};
    if (answer.detail == RL_DETAIL_NOSCRIPT && rl_repeat_with_text(host, node, tag))
        return;
    if (releases && answer.detail == RL_DETAIL_OTHERS_WAIT && rl_repeat_in_full(host, node, tag, answer.outcome))
        return;
    if (releases)
        answer = rl_release_repeated(answer, tag->flags & RL_REPEAT_DELETED);
    if (answer.detail == RL_DETAIL_PROTOCOL)
        rl_transport_fail(&host->transport, node, "a reply that does not fit its command");
    else if (answer.detail == RL_DETAIL_READONLY)
        reconnect_to_recheck(host, node);
    else if (answer.detail == RL_DETAIL_MEMORY_LOST)
        rl_transport_fail(&host->transport, node, "its memory is not the one that was admitted");
    else if (answer.detail == RL_DETAIL_HANDED_OFF)
        note_contended(host, tag);
    rl_host_ended(host, node, tag, answer, rl_host_latency_us(tag, now));
}

/* The mask that ends the reply is the host's, the rest is what a mutex is told. A waiter may move to a slot that masks
 * show to be free. */
static void permit_replied(struct rl_host *host, unsigned node, const struct rl_tag *tag, struct rl_reply reply,
                           struct rl_instant now)
{
    const struct rl_claim *claim = tag->owner;
    struct rl_host_lock *lock = rl_host_claim_lock(claim);
    enum rl_step step = (enum rl_step)tag->step;
    struct rl_answer answer;

    rl_permits_replied(node, tag, &reply);
    if (step == RL_STEP_ENQUEUE)
        rl_notifications_entry(host, node, tag, &reply, now);
    answer = rl_classify(claim->kind, step, &reply);
    rl_host_answered(host, node, tag, answer, now);
    if (!lock || answer.outcome != RL_QUEUED)
        return;
    rl_permits_look(lock);
    rl_host_run(host);
    rl_host_rearm(lock);
}

void rl_host_replied(struct rl_host *host, unsigned node, const struct rl_tag *tag, const struct rl_reply *reply,
                     struct rl_instant now)
{
    const struct rl_claim *claim = tag->owner;
    enum rl_step step = (enum rl_step)tag->step;

    if ((claim->kind->can & RL_SLOTS) && (step == RL_STEP_CLAIM || step == RL_STEP_ENQUEUE)) {
        permit_replied(host, node, tag, *reply, now);
        return;
    }
    if (step == RL_STEP_ENQUEUE)
        rl_notifications_entry(host, node, tag, reply, now);
    rl_host_answered(host, node, tag, rl_classify(claim->kind, step, reply), now);
}
