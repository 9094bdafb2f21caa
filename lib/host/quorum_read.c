#include "host/quorum_read.h"

#include <stdlib.h>

#include "codec/classify.h"
#include "host/commands.h"
#include "host/host.h"
#include "host/trust/admission.h"
#include "util/mutant.h"

/* The question is kept until the transport has ended its commands, whose tags refer to it. */
static void free_if_over(struct rl_question *question)
{
    if (!question->ended || question->unanswered)
        return;
    rl_list_remove(&question->link);
    free(question);
}

/* The asker may end the question meanwhile, which is kept by the caller. */
static void fail(struct rl_question *question, unsigned node, enum rl_detail why)
{
    rl_gather_note(&question->gather, node, false);
    question->asker.failed(question->asker.ctx, node, why);
}

static bool send(struct rl_question *question, unsigned node)
{
    struct rl_host *host = question->host;
    struct rl_tag tag = {.owner = question, .sent = host->now, .step = RL_TAG_QUESTION};

    rl_bytes_clear(&host->scratch);
    if (!question->asker.command(question->asker.ctx, node) ||
        !rl_transport_send(&host->transport, node, &host->scratch, RL_SENDING_CLAIM, &tag))
        return false;
    host->counters.commands++;
    question->unanswered++;
    return true;
}

static bool may_ask(const struct rl_question *question, const struct rl_admission_status *status)
{
    return rl_admission_votes(status, question->host->now) ||
           (question->asker.scope == RL_ASK_ADMITTED && status->kind == RL_ADMISSION_QUARANTINED);
}

static void ask(struct rl_question *question, unsigned node)
{
    struct rl_host *host = question->host;
    struct rl_admission_status status = rl_trust_status(host, node, host->now);

    if (host->engine.votes.links[node] == RL_LINK_LATE)
        fail(question, node, RL_DETAIL_LATE);
    else if (host->engine.votes.links[node] != RL_LINK_READY)
        fail(question, node, RL_DETAIL_DOWN);
    else if (!may_ask(question, &status))
        fail(question, node, status.kind == RL_ADMISSION_QUARANTINED ? RL_DETAIL_QUARANTINED : RL_DETAIL_EXCLUDED);
    else if (!send(question, node))
        fail(question, node, RL_DETAIL_BACKLOG);
}

/* The commands that are unanswered keep the question; so does this one while the asker is called. */
static void end_one(struct rl_question *question)
{
    if (!question->ended)
        question->asker.changed(question->asker.ctx);
    question->unanswered--;
    free_if_over(question);
}

static void on_timer(struct rl_timer *timer, struct rl_instant now)
{
    struct rl_question *question = RL_CONTAINER_OF(timer, struct rl_question, timer);
    struct rl_host *host = question->host;

    question->unanswered++; /* it is kept, whatever has arrived */
    rl_transport_read_now(&host->transport);
    host->now = now;
    for (unsigned node = 0; node < question->gather.n_nodes; node++) {
        if (!question->ended && rl_gather_awaits(&question->gather, node) && !RL_MUTANT(LOOK_WITHOUT_END) &&
            !(question->unasked & rl_bit(node)))
            fail(question, node, RL_DETAIL_TIMEOUT);
    }
    end_one(question);
}

static void arm(struct rl_question *question)
{
    struct rl_host *host = question->host;

    rl_transport_arm(&host->transport, &question->timer,
                     rl_after(host->now, host->engine.votes.config.node_timeout));
}

bool rl_question_ask(struct rl_host *host, const struct rl_question_asker *asker, struct rl_question **ret_question)
{
    struct rl_question *question = calloc(1, sizeof *question);

    *ret_question = question;
    if (!question)
        return false;
    question->host = host;
    question->asker = *asker;
    rl_gather_init(&question->gather, (unsigned)host->engine.votes.config.n_nodes,
                   (unsigned)host->engine.votes.config.quorum);
    rl_timer_init(&question->timer, on_timer);
    rl_list_append(&host->questions, &question->link);
    for (unsigned node = 0; node < question->gather.n_nodes; node++) {
        if (host->engine.votes.links[node] == RL_LINK_JOINING)
            question->unasked |= rl_bit(node);
        else
            ask(question, node);
    }
    arm(question);
    asker->changed(asker->ctx);
    return true;
}

void rl_question_end(struct rl_question *question)
{
    if (!question)
        return;
    question->ended = true;
    rl_transport_disarm(&question->host->transport, &question->timer);
    free_if_over(question);
}

/* --- What the transport brings ---------------------------------------------------------------------------------- */

void rl_question_replied(struct rl_question *question, unsigned node, const struct rl_tag *tag,
                         const struct rl_reply *reply)
{
    enum rl_detail why;

    if (!question->ended && rl_gather_awaits(&question->gather, node)) {
        why = reply->root.type == RL_REPLY_ERROR
                  ? rl_classify_error(reply->root.text)
                  : question->asker.answered(question->asker.ctx, node, reply,
                                             rl_host_latency_us(tag, question->host->now));
        if (why == RL_DETAIL_NONE)
            rl_gather_note(&question->gather, node, true);
        else
            fail(question, node, why);
    }
    end_one(question);
}

void rl_question_dropped(struct rl_question *question, unsigned node)
{
    if (!question->ended && rl_gather_awaits(&question->gather, node))
        fail(question, node, RL_DETAIL_DISCONNECTED);
    end_one(question);
}

/* The first connection to this master has come, or has failed. */
void rl_questions_link(struct rl_host *host, unsigned node)
{
    struct rl_list *next;

    for (struct rl_list *at = host->questions.next; at != &host->questions; at = next) {
        struct rl_question *question = RL_CONTAINER_OF(at, struct rl_question, link);

        next = at->next;
        if (question->ended || !(question->unasked & rl_bit(node)))
            continue;
        question->unasked &= ~rl_bit(node);
        ask(question, node);
        arm(question);
        question->asker.changed(question->asker.ctx);
    }
}

void rl_questions_fini(struct rl_host *host)
{
    while (!rl_list_empty(&host->questions)) {
        struct rl_question *question = RL_CONTAINER_OF(host->questions.next, struct rl_question, link);

        rl_list_remove(&question->link);
        free(question);
    }
}
