/* The replies to what was written for many (batch.c): what each of them is told. */
#include "host/batch_answers.h"

#include "codec/classify.h"
#include "engine/answer.h"
#include "host/answers.h"
#include "host/host.h"
#include "host/repeat.h"
#include "kinds/wait_queue.h"
#include "util/fetch.h"
#include "util/mutant.h"

static struct rl_tag single_tag(const struct rl_batch *batch, size_t i)
{
    return (struct rl_tag){.owner = batch->entries[i].claim, .sent = batch->sent, .round = batch->entries[i].round,
                              .step = (uint8_t)rl_batch_step(batch)};
}

/* What keeps several from being asked for together may be no obstacle to each of them: a key that the user may not
 * touch, a proxy that wants the keys of a command to lie together, an error of one in the middle, a command that this
 * server does not have and that single ones do without. Then each is asked for alone. */
static bool alone(struct rl_host *host, unsigned node, const struct rl_tag *single,
                  struct rl_answer answer)
{
    bool perhaps_only_together = answer.detail == RL_DETAIL_NOPERM || answer.detail == RL_DETAIL_CROSSSLOT ||
                                 answer.detail == RL_DETAIL_ERROR;

    if (!perhaps_only_together || !rl_repeat_alone(host, node, single))
        return false;
    if (answer.outcome == RL_UNKNOWN)
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

static void extensions_answered(struct rl_host *host, unsigned node, const struct rl_batch *batch,
                                const struct rl_reply *reply, struct rl_instant now)
{
    for (size_t i = 0; i < batch->n; i++) {
        struct rl_tag single = single_tag(batch, i);

        fetch_ahead(host, batch, i);
        answer_or_ask_alone(host, node, &single,
                            rl_classify_many(reply, RL_MUTANT(EXTENDED_AS_ONE) ? 0 : i, batch->n), now);
    }
}

static void enqueues_answered(struct rl_host *host, unsigned node, const struct rl_batch *batch,
                               const struct rl_reply *reply, struct rl_instant now)
{
    struct rl_reply own;

    for (size_t i = 0; i < batch->n; i++) {
        struct rl_tag single = single_tag(batch, i);

        fetch_ahead(host, batch, i);
        rl_queue_reply_of(reply, RL_MUTANT(JOINED_AS_ONE) ? 0 : i, batch->n, &own);
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

/* The next command for many is sent with the script's text. */
static void note_unknown(struct rl_host *host, unsigned node, const struct rl_batch *batch,
                         const struct rl_reply *reply)
{
    if (reply->root.type == RL_REPLY_ERROR && rl_classify_error(reply->root.text) == RL_DETAIL_NOSCRIPT)
        host->batching.unknown_to[batch->kind] |= rl_bit(node);
}

void rl_batch_answered(struct rl_host *host, unsigned node, const struct rl_tag *tag,
                       const struct rl_reply *reply, struct rl_instant now)
{
    static void (*const answered[RL_BATCH_KINDS])(struct rl_host *host, unsigned node,
                                                  const struct rl_batch *batch, const struct rl_reply *reply,
                                                  struct rl_instant now) = {
        [RL_BATCH_EXTENSIONS] = extensions_answered,
        [RL_BATCH_ENQUEUES] = enqueues_answered,
        [RL_BATCH_REFRESHES] = refreshes_answered,
    };
    struct rl_batch *batch = tag->owner;

    note_unknown(host, node, batch, reply);
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
