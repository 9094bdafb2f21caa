#include "host/answers.h"

#include "codec/classify.h"
#include "engine/answer.h"
#include "host/claims.h"
#include "host/commands.h"
#include "host/effects.h"
#include "host/host.h"
#include "host/notifications.h"
#include "host/trust/view.h"
#include "kinds/mutex.h"
#include "kinds/wait_queue.h"
#include "util/fetch.h"
#include "votes/answer.h"

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
    const struct rl_vote_report vote = {.lock = rl_host_owner(rl_host_claim_lock(claim)), .claim = claim,
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
        rl_trust_doubt(host, node, host->now);
    else if (answer.detail == RL_DETAIL_HANDED_OFF)
        note_contended(host, tag);
    rl_host_ended(host, node, tag, answer, rl_host_latency_us(tag, now));
}

void rl_host_replied(struct rl_host *host, unsigned node, const struct rl_tag *tag, const struct rl_reply *reply,
                     struct rl_instant now)
{
    const struct rl_claim *claim = tag->owner;
    struct rl_host_lock *lock = rl_host_claim_lock(claim);
    const struct rl_hooks *hooks = rl_hooks_of(lock);
    enum rl_step step = (enum rl_step)tag->step;
    struct rl_answer answer = rl_classify(claim->kind, step, reply);

    if (hooks->replied && (step == RL_STEP_CLAIM || step == RL_STEP_ENQUEUE))
        hooks->replied(lock, node, tag, reply);
    if (step == RL_STEP_ENQUEUE)
        rl_notifications_entry(host, node, tag, reply, now);
    rl_host_answered(host, node, tag, answer, now);
    if (answer.outcome == RL_QUEUED && hooks->told) {
        hooks->told(lock, RL_NO_SLOT);
        rl_host_run(host);
        rl_host_rearm(lock);
    }
}

/* The replies to what was written for many (batch.c): what each of them is told. */

static struct rl_tag single_tag(const struct rl_batch *batch, size_t i)
{
    return (struct rl_tag){.owner = batch->entries[i].claim, .sent = batch->sent, .round = batch->entries[i].round,
                              .step = (uint8_t)rl_batch_step(batch)};
}

/* An obstacle to several at once may be none to each of them: a key that the user may not touch, a proxy that wants the
 * keys of a command to lie together, an error of one in the middle, a command that this server does not have and that
 * single ones do without. Then each is asked for alone. */
static bool alone(struct rl_host *host, unsigned node, const struct rl_tag *single,
                  struct rl_answer answer)
{
    bool perhaps_only_together = answer.detail == RL_DETAIL_NOPERM || answer.detail == RL_DETAIL_CROSSSLOT ||
                                 answer.detail == RL_DETAIL_ERROR;

    if (!perhaps_only_together || !rl_repeat_alone(host, node, single))
        return false;
    if (answer.outcome == RL_UNKNOWN && rl_step_sets_ttl((enum rl_step)single->step))
        rl_engine_note_unknown(&host->engine, host->now, single->owner, node);
    return true;
}

/* One master less; who was the last of them gives it back. */
static void end_for_one(struct rl_host *host, struct rl_batch *batch)
{
    if (--batch->unanswered == 0)
        rl_batch_give_back(&host->batching, batch);
}

/* The claims of the entries some way ahead, and a bit less far the locks to which those lead. */
#define FETCH_CLAIM 8
#define FETCH_LOCK 4

static void fetch_ahead(const struct rl_host *host, const struct rl_batch *batch, size_t i)
{
    if (i + FETCH_CLAIM < batch->n)
        rl_fetch(batch->entries[i + FETCH_CLAIM].claim, rl_claim_body_size(host->engine.votes.config.n_nodes));
    if (i + FETCH_LOCK < batch->n && batch->entries[i + FETCH_LOCK].claim->lock)
        rl_fetch(batch->entries[i + FETCH_LOCK].claim->lock, sizeof(struct rl_lock));
}

static void answer_or_ask_alone(struct rl_host *host, unsigned node, const struct rl_tag *single,
                                struct rl_answer answer, struct rl_instant now)
{
    if (!alone(host, node, single, answer))
        rl_host_answered(host, node, single, answer, now);
}

/* Extensions and releases: a letter for each. */
static void letters_answered(struct rl_host *host, unsigned node, const struct rl_batch *batch,
                             const struct rl_reply *reply, struct rl_instant now)
{
    for (size_t i = 0; i < batch->n; i++) {
        struct rl_tag single = single_tag(batch, i);

        fetch_ahead(host, batch, i);
        answer_or_ask_alone(host, node, &single, rl_classify_many(rl_batch_step(batch), reply, i, batch->n), now);
    }
}

static void enqueues_answered(struct rl_host *host, unsigned node, const struct rl_batch *batch,
                               const struct rl_reply *reply, struct rl_instant now)
{
    struct rl_reply own;

    for (size_t i = 0; i < batch->n; i++) {
        struct rl_tag single = single_tag(batch, i);

        fetch_ahead(host, batch, i);
        rl_queue_reply_of(reply, i, batch->n, &own);
        rl_host_replied(host, node, &single, &own, now);
    }
}

/* Nothing was done for this one; nor will it be, if nobody waits for it any more. */
static void refresh_skipped(struct rl_host *host, unsigned node, const struct rl_tag *single)
{
    struct rl_answer nothing = {RL_FAILED, RL_DETAIL_BACKLOG, 0};

    if (!rl_repeat_alone(host, node, single))
        rl_host_ended(host, node, single, nothing, RL_NO_LATENCY);
}

static void refresh_answered(struct rl_host *host, unsigned node, const struct rl_tag *single,
                            const struct rl_reply *own, struct rl_instant now)
{
    const struct rl_claim *claim = single->owner;

    if (own->root.type == RL_REPLY_ERROR)
        answer_or_ask_alone(host, node, single, rl_classify(claim->kind, RL_STEP_ENQUEUE, own), now);
    else
        rl_host_replied(host, node, single, own, now);
}

static void refreshes_answered(struct rl_host *host, unsigned node, const struct rl_batch *batch,
                             const struct rl_reply *reply, struct rl_instant now)
{
    struct rl_refreshed kept[RL_BATCH_MAX];
    bool each = rl_queue_refreshed(reply, batch->n, kept);
    struct rl_reply own;

    for (size_t i = 0; i < batch->n; i++) {
        struct rl_tag single = single_tag(batch, i);

        fetch_ahead(host, batch, i);
        if (each && kept[i].alone) {
            refresh_skipped(host, node, &single);
            continue;
        }
        rl_queue_refreshed_reply(reply, each ? &kept[i] : NULL, batch->entries[i].ticket, &own);
        refresh_answered(host, node, &single, &own, now);
    }
}

/* What is being gathered goes in front of a repetition. */
static void flush(struct rl_host *host)
{
    if (rl_batch_flush(host)) /* which may end an attempt */
        rl_host_run(host);
}

void rl_batch_answered(struct rl_host *host, unsigned node, const struct rl_tag *tag,
                       const struct rl_reply *reply, struct rl_instant now)
{
    static void (*const answered[RL_BATCH_KINDS])(struct rl_host *host, unsigned node,
                                                  const struct rl_batch *batch, const struct rl_reply *reply,
                                                  struct rl_instant now) = {
        [RL_BATCH_ENQUEUES] = enqueues_answered,    [RL_BATCH_REFRESHES] = refreshes_answered,
        [RL_BATCH_EXTENSIONS] = letters_answered,   [RL_BATCH_RELEASES] = letters_answered,
        [RL_BATCH_ROLLBACKS] = letters_answered,
    };
    struct rl_batch *batch = tag->owner;

    if (rl_says_noscript(reply)) {
        flush(host);
        if (rl_batch_repeat(host, node, tag))
            return;
    }
    answered[batch->kind](host, node, batch, reply, now);
    end_for_one(host, batch);
}

void rl_batch_dropped(struct rl_host *host, unsigned node, const struct rl_tag *tag,
                      struct rl_answer answer)
{
    struct rl_batch *batch = tag->owner;

    for (size_t i = 0; i < batch->n; i++) {
        struct rl_tag single = single_tag(batch, i);

        rl_host_ended(host, node, &single, answer, RL_NO_LATENCY);
    }
    end_for_one(host, batch);
}

static bool repeat(struct rl_host *host, unsigned node, const struct rl_tag *tag, uint8_t flags)
{
    struct rl_tag again = *tag;

    flush(host);
    if ((tag->flags & flags) ||
        !rl_engine_may_repeat(&host->engine, host->now, tag->owner, (enum rl_step)tag->step, tag->round, node))
        return false;
    again.flags |= flags;
    again.sent = host->now;
    return rl_host_send_again(host, node, &again);
}

bool rl_repeat_with_text(struct rl_host *host, unsigned node, const struct rl_tag *tag)
{
    if (!repeat(host, node, tag, RL_COMMAND_REPEATED))
        return false;
    host->counters.script_reloads++;
    return true;
}

bool rl_repeat_alone(struct rl_host *host, unsigned node, const struct rl_tag *tag)
{
    return repeat(host, node, tag, RL_REPEAT_ALONE);
}

bool rl_repeat_in_full(struct rl_host *host, unsigned node, const struct rl_tag *tag, enum rl_outcome outcome)
{
    uint8_t deleted = outcome == RL_GRANTED ? RL_REPEAT_DELETED : 0;

    rl_contended_note(&host->contended, rl_host_wanted_key(tag->owner), host->now);
    return repeat(host, node, tag, RL_COMMAND_IN_FULL | deleted);
}
