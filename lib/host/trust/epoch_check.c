/* The epoch check: two questions behind the commands of each loop turn. Their answers show that those commands were
 * carried out in the memory that was admitted, and what the master's clock showed then. The check costs two commands
 * for each master and turn, no allocation, and no formatting. */
#include "host/trust/epoch_check.h"

#include <stdio.h>

#include "codec/text.h"
#include "engine/answer.h"
#include "host/host.h"
#include "host/commands.h"
#include "host/trust/node_clock.h"
#include "host/trust/view.h"

/* --- Questions -------------------------------------------------------------------------------------------------- */

static bool send_question(struct rl_host *host, unsigned node, const struct rl_bytes *question,
                          enum rl_tag_step step, struct rl_instant sent)
{
    struct rl_tag tag = {.sent = sent, .step = (uint8_t)step};
    bool accepted = rl_transport_send(&host->transport, node, question, RL_SENDING, &tag);

    host->counters.commands += accepted;
    return accepted;
}

/* Nothing that has been written would ever count without its check. Where there is no connection the failure does no
 * harm: nothing has been written either. */
void rl_trust_ask_epoch(struct rl_host *host, unsigned node, struct rl_instant sent)
{
    const struct rl_trust *trust = &host->trust;

    if (!send_question(host, node, &trust->memory_question, RL_TAG_EPOCH_MARKER, sent) ||
        !send_question(host, node, &trust->clock_question, RL_TAG_EPOCH_CLOCK, sent))
        rl_transport_fail(&host->transport, node, "no memory to ask for its marker");
}

void rl_trust_check_epoch(struct rl_host *host)
{
    uint32_t nodes = rl_engine_take_unchecked(&host->engine);
    struct rl_instant sent;

    if (!nodes)
        return;
    sent = rl_host_read_clock(host);
    for (unsigned node = 0; node < host->engine.votes.config.n_nodes; node++) {
        if (nodes & rl_bit(node))
            rl_trust_ask_epoch(host, node, sent);
    }
}

/* --- Answers ---------------------------------------------------------------------------------------------------- */

void rl_trust_take_marker(struct rl_host *host, unsigned node, const struct rl_reply *reply)
{
    struct rl_trust_node *known = &host->trust.nodes[node];

    known->same_memory = rl_reply_item_is(&reply->root, known->report.incarnation);
    known->other_incarnation = !known->same_memory && reply->root.type == RL_REPLY_STRING;
    if (known->same_memory)
        return;
    if (reply->root.type == RL_REPLY_ERROR)
        snprintf(known->why, sizeof known->why, "its marker cannot be read: %.*s", (int)reply->root.text.size,
                 (const char *)reply->root.text.data);
    else
        snprintf(known->why, sizeof known->why, "its memory is not the one that was admitted");
}

static bool take_number(const struct rl_reply_item *item, uint32_t limit, uint32_t *ret_number)
{
    const char *begin = item->text.data;

    return item->type == RL_REPLY_STRING && item->text.size &&
           rl_text_number((struct rl_text){begin, begin + item->text.size}, limit, ret_number);
}

/* TIME answers seconds and microseconds. */
static bool take_time(const struct rl_reply *reply, int64_t *ret_us)
{
    uint32_t s;
    uint32_t us;

    if (reply->root.type != RL_REPLY_ARRAY || reply->n_elements != 2 ||
        !take_number(&reply->elements[0], UINT32_MAX, &s) || !take_number(&reply->elements[1], 999999, &us))
        return false;
    *ret_us = INT64_C(1000000) * s + us;
    return true;
}

/* A step of the clock comes before the result of the check: votes that the step makes worthless must not count. */
void rl_trust_take_time(struct rl_host *host, unsigned node, struct rl_instant sent, const struct rl_reply *reply,
                        struct rl_instant now)
{
    struct rl_trust_node *known = &host->trust.nodes[node];
    int64_t node_us = 0;

    if (take_time(reply, &node_us)) {
        rl_trust_read_clock(host, node, node_us, sent, now);
    } else if (known->same_memory) {
        known->same_memory = false;
        snprintf(known->why, sizeof known->why, "its clock cannot be read");
    }
    if (known->greeting)
        known->same_memory = false; /* it was asked by the list before */
    host->sink->verified(host, node);
    rl_engine_epoch_checked(&host->engine, now, node, known->same_memory);
    if (known->same_memory || known->greeting)
        return;
    /* A new list is a new incarnation of the same memory: JOIN tells. */
    if (known->other_incarnation)
        rl_trust_doubt(host, node, now);
    else
        rl_transport_fail(&host->transport, node, known->why);
}
