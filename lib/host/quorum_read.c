#include "host/quorum_read.h"

#include <stdlib.h>

#include "codec/classify.h"
#include "host/commands.h"
#include "host/host.h"
#include "host/trust/admission.h"

/* The read is kept until the transport has ended its commands, whose tags refer to it. */
static void free_if_over(struct rl_quorum_read *read)
{
    if (!read->ended || read->unanswered)
        return;
    rl_list_remove(&read->link);
    free(read);
}

/* The reader may end the read meanwhile, which is kept by the caller. */
static void fail(struct rl_quorum_read *read, unsigned node, enum rl_detail why)
{
    rl_tally_note(&read->tally, node, false);
    read->reader.failed(read->reader.ctx, node, why);
}

static bool send(struct rl_quorum_read *read, unsigned node)
{
    struct rl_host *host = read->host;
    struct rl_tag tag = {.owner = read, .sent = host->now, .step = RL_TAG_QUORUM_READ};

    rl_batch_flush(host); /* a key that is released in this turn is seen to be free */
    rl_bytes_clear(&host->scratch);
    if (!read->reader.command(read->reader.ctx, node) ||
        !rl_transport_send(&host->transport, node, &host->scratch, RL_SENDING_CLAIM, &tag))
        return false;
    host->counters.commands++;
    read->unanswered++;
    return true;
}

static bool may_ask(const struct rl_quorum_read *read, const struct rl_admission_status *status)
{
    return rl_admission_votes(status, read->host->now) ||
           (read->reader.scope == RL_ASK_ADMITTED && status->kind == RL_ADMISSION_QUARANTINED);
}

static void ask(struct rl_quorum_read *read, unsigned node)
{
    struct rl_host *host = read->host;
    struct rl_admission_status status = rl_trust_status(host, node, host->now);

    if (host->engine.votes.links[node] == RL_LINK_LATE)
        fail(read, node, RL_DETAIL_LATE);
    else if (host->engine.votes.links[node] != RL_LINK_READY)
        fail(read, node, RL_DETAIL_DOWN);
    else if (!may_ask(read, &status))
        fail(read, node, status.kind == RL_ADMISSION_QUARANTINED ? RL_DETAIL_QUARANTINED : RL_DETAIL_EXCLUDED);
    else if (!send(read, node))
        fail(read, node, RL_DETAIL_BACKLOG);
}

/* The commands that are unanswered keep the read; so does this one while the reader is called. */
static void end_one(struct rl_quorum_read *read)
{
    if (!read->ended)
        read->reader.changed(read->reader.ctx);
    read->unanswered--;
    free_if_over(read);
}

static void on_timer(struct rl_timer *timer, struct rl_instant now)
{
    struct rl_quorum_read *read = RL_CONTAINER_OF(timer, struct rl_quorum_read, timer);
    struct rl_host *host = read->host;

    read->unanswered++; /* it is kept, whatever has arrived */
    rl_transport_read_now(&host->transport);
    host->now = now;
    for (unsigned node = 0; node < read->tally.n_nodes; node++) {
        if (!rl_votes_joins(&host->engine.votes, node))
            read->unasked &= ~rl_bit(node);
        if (!read->ended && rl_tally_awaits(&read->tally, node) && !(read->unasked & rl_bit(node)))
            fail(read, node, RL_DETAIL_TIMEOUT);
    }
    end_one(read);
}

static void arm(struct rl_quorum_read *read)
{
    struct rl_host *host = read->host;

    rl_transport_arm(&host->transport, &read->timer,
                     rl_after(host->now, host->engine.votes.config.node_timeout));
}

bool rl_quorum_read_start(struct rl_host *host, const struct rl_quorum_reader *reader, struct rl_quorum_read **ret_read)
{
    struct rl_quorum_read *read = calloc(1, sizeof *read);

    *ret_read = read;
    if (!read)
        return false;
    read->host = host;
    read->reader = *reader;
    rl_tally_init(&read->tally, (unsigned)host->engine.votes.config.n_nodes,
                   (unsigned)host->engine.votes.config.quorum);
    rl_timer_init(&read->timer, on_timer);
    rl_list_append(&host->reads, &read->link);
    for (unsigned node = 0; node < read->tally.n_nodes; node++) {
        if (rl_votes_joins(&host->engine.votes, node))
            read->unasked |= rl_bit(node);
        else
            ask(read, node);
    }
    arm(read);
    reader->changed(reader->ctx);
    return true;
}

void rl_quorum_read_end(struct rl_quorum_read *read)
{
    if (!read)
        return;
    read->ended = true;
    rl_transport_disarm(&read->host->transport, &read->timer);
    free_if_over(read);
}

/* --- What the transport brings ---------------------------------------------------------------------------------- */

void rl_quorum_read_replied(struct rl_quorum_read *read, unsigned node, const struct rl_tag *tag,
                         const struct rl_reply *reply)
{
    enum rl_detail why;

    if (!read->ended && rl_tally_awaits(&read->tally, node)) {
        why = reply->root.type == RL_REPLY_ERROR
                  ? rl_classify_error(reply->root.text)
                  : read->reader.answered(read->reader.ctx, node, reply,
                                             rl_host_latency_us(tag, read->host->now));
        if (why == RL_DETAIL_NONE)
            rl_tally_note(&read->tally, node, true);
        else if (why == RL_DETAIL_MEMORY_LOST)
            read->unasked |= rl_bit(node); /* until it has said whether the list of masters has changed */
        else
            fail(read, node, why);
    }
    end_one(read);
}

void rl_quorum_read_dropped(struct rl_quorum_read *read, unsigned node)
{
    if (!read->ended && rl_tally_awaits(&read->tally, node))
        fail(read, node, RL_DETAIL_DISCONNECTED);
    end_one(read);
}

/* The first connection to this master has come, or has failed; or its greeting has ended. */
void rl_quorum_reads_link(struct rl_host *host, unsigned node)
{
    struct rl_list *next;

    for (struct rl_list *at = host->reads.next; at != &host->reads; at = next) {
        struct rl_quorum_read *read = RL_CONTAINER_OF(at, struct rl_quorum_read, link);

        next = at->next;
        if (read->ended || !(read->unasked & rl_bit(node)) || !rl_tally_awaits(&read->tally, node) ||
            rl_votes_joins(&host->engine.votes, node)) /* in its handshake, with which a greeting may end */
            continue;
        read->unasked &= ~rl_bit(node);
        ask(read, node);
        if (rl_tally_awaits(&read->tally, node))
            arm(read);
        read->reader.changed(read->reader.ctx);
    }
}

/* Masters that have left answer no more; new members are asked when their first connections have come. */
static void go_on(struct rl_quorum_read *read, uint32_t newcomers)
{
    const struct rl_votes *votes = &read->host->engine.votes;
    struct rl_tally former = read->tally;

    rl_tally_init(&read->tally, (unsigned)votes->config.n_nodes, (unsigned)votes->config.quorum);
    for (unsigned node = 0; node < read->tally.n_nodes; node++) {
        if (!(votes->members & rl_bit(node)))
            fail(read, node, RL_DETAIL_EXCLUDED);
        else if (newcomers & rl_bit(node))
            read->unasked |= rl_bit(node);
        else if (!rl_tally_awaits(&former, node))
            rl_tally_note(&read->tally, node, former.answered & rl_bit(node));
    }
    arm(read);
    read->reader.changed(read->reader.ctx);
}

void rl_quorum_reads_adopt(struct rl_host *host, uint32_t newcomers)
{
    struct rl_list *next;

    for (struct rl_list *at = host->reads.next; at != &host->reads; at = next) {
        struct rl_quorum_read *read = RL_CONTAINER_OF(at, struct rl_quorum_read, link);

        next = at->next;
        if (!read->ended)
            go_on(read, newcomers);
    }
}

void rl_quorum_reads_fini(struct rl_host *host)
{
    while (!rl_list_empty(&host->reads)) {
        struct rl_quorum_read *read = RL_CONTAINER_OF(host->reads.next, struct rl_quorum_read, link);

        rl_list_remove(&read->link);
        free(read);
    }
}
