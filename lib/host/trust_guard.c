/* The guard: two questions behind the commands of each loop turn. Their answers show that those commands were carried
 * out in the memory that was judged, and what the master's clock showed then. It costs two commands for each master and
 * turn, no allocation, and no formatting. */
#include <stdio.h>
#include <string.h>

#include "api/client.h"
#include "codec/text.h"

/* --- Questions -------------------------------------------------------------------------------------------------- */

static bool send_question(struct redlock_client *client, unsigned node, const struct rl_bytes *question,
                          enum rl_ticket_step step, struct rl_instant sent)
{
    struct rl_ticket ticket = {.sent = sent, .step = (uint8_t)step};
    bool accepted = rl_driver_send(client->driver, node, rl_bytes_front(question), rl_bytes_length(question),
                                   RL_SENDING, &ticket);

    client->stats.commands += accepted;
    return accepted;
}

/* Without its guard nothing that has been written would ever count. Where there is no connection the failure does no
 * harm: nothing has been written either. */
void rl_trust_ask(struct redlock_client *client, unsigned node, struct rl_instant sent)
{
    const struct rl_trust *trust = &client->trust;

    if (!send_question(client, node, &trust->memory_question, RL_TICKET_GUARD_MEMORY, sent) ||
        !send_question(client, node, &trust->clock_question, RL_TICKET_GUARD_CLOCK, sent))
        rl_driver_fail_node(client->driver, node, "no memory to ask for its marker");
}

void rl_trust_guard(struct redlock_client *client)
{
    uint32_t nodes = rl_engine_take_unguarded(&client->engine);
    struct rl_instant sent;

    if (!nodes)
        return;
    sent = rl_client_read_clock(client);
    for (unsigned node = 0; node < client->engine.votes.config.n_nodes; node++) {
        if (nodes & (UINT32_C(1) << node))
            rl_trust_ask(client, node, sent);
    }
}

/* --- Answers ---------------------------------------------------------------------------------------------------- */

static bool is_text(const struct rl_reply *reply, const char *text)
{
    return reply->root.type == RL_REPLY_STRING && reply->root.text.size == strlen(text) &&
           memcmp(reply->root.text.data, text, strlen(text)) == 0;
}

static void note_memory(struct rl_trust_node *known, const struct rl_reply *reply)
{
    known->same_memory = is_text(reply, known->report.incarnation);
    if (known->same_memory)
        return;
    if (reply->root.type == RL_REPLY_ERROR)
        snprintf(known->why, sizeof known->why, "its marker cannot be read: %.*s", (int)reply->root.text.size,
                 (const char *)reply->root.text.data);
    else
        snprintf(known->why, sizeof known->why, "its memory is not the one that was judged");
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

static void tell_lock_proved(struct redlock_client *client, unsigned node, struct redlock_lock *lock)
{
    rl_observe_validity(client, lock);
    if (rl_observes(client, REDLOCK_EVENT_PROVED))
        rl_observe(client, &(struct redlock_event){.type = REDLOCK_EVENT_PROVED, .node = (int)node, .lock = lock});
}

/* The proof may be that the answer has lost its worth, too. */
static void tell_proved(struct redlock_client *client, unsigned node)
{
    struct rl_list *unproved = &client->engine.votes.unproved;

    for (struct rl_list *at = unproved->next; at != unproved && client->options.on_event; at = at->next) {
        struct rl_claim *claim = RL_CONTAINER_OF(at, struct rl_claim, link);

        if (claim->lock && (claim->unproved >> node & 1))
            tell_lock_proved(client, node, RL_CONTAINER_OF(claim->lock, struct redlock_lock, core));
    }
}

/* The guard's last reply. The step of a clock comes before the proof: what it overshadows must not count. */
static void end_guard(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket,
                      const struct rl_reply *reply, struct rl_instant now)
{
    struct rl_trust_node *known = &client->trust.nodes[node];
    int64_t node_us = 0;

    if (take_time(reply, &node_us)) {
        rl_trust_read_clock(client, node, node_us, ticket->sent, now);
    } else if (known->same_memory) {
        known->same_memory = false;
        snprintf(known->why, sizeof known->why, "its clock cannot be read");
    }
    tell_proved(client, node);
    rl_engine_proof(&client->engine, now, node, known->same_memory);
    if (!known->same_memory)
        rl_driver_fail_node(client->driver, node, known->why);
}

void rl_trust_reply(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket,
                    const struct rl_reply *reply, struct rl_instant now)
{
    if (ticket->step == RL_TICKET_GUARD_MEMORY)
        note_memory(&client->trust.nodes[node], reply);
    else if (ticket->step == RL_TICKET_GUARD_CLOCK)
        end_guard(client, node, ticket, reply, now);
    else if (ticket->step == RL_TICKET_LOOK_SETTING)
        rl_trust_look_setting(client, node, ticket, reply, now);
    else if (ticket->step == RL_TICKET_LOOK_JOIN)
        rl_trust_look_join(client, node, ticket, reply, now);
}
