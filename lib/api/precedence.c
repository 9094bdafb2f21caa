/* The vote that decides, and goes first. A holder that has handed on what it could spare (core/spare.c) leaves the next
 * in line one vote short of a quorum: whichever of the others is released first makes the lock his.
 *
 * On masters elsewhere all of them are released at once: the first of several answers comes sooner than any chosen one.
 * Masters on this machine share its processors with each other and with the next holder's process, so that what is
 * asked of several at a time is in the way of the one that decides. Where all are, one is released alone, and the
 * others when it has answered, or a few milliseconds later: the next holder does not need them yet, and hands them on
 * when they come.
 *
 * In front of that RELEASE goes a question whose answer nobody needs. What Redis has to say at the end of a turn of its
 * loop it writes in the reverse of the order in which connections got something to be told: so the notification leaves
 * before the reply to the release that caused it. Where a server does otherwise no harm is done. */
#include "api/client.h"

/* What takes longer is not a matter of processors. */
#define NEAR_NS RL_NS_PER_MS

static const char question[] = "*1\r\n$4\r\nPING\r\n";

void rl_precedence_note_heir(const struct rl_claim *claim)
{
    struct rl_host_claim *host = rl_host_claim_of(claim);

    if (!claim->undoing && host->token.own.heirs < UINT8_MAX)
        host->token.own.heirs++;
}

/* Votes that the next in line has. What was asked back since is released with the rest, and is none of them. */
static size_t count_handed_on(const struct rl_claim *claim)
{
    size_t heirs = rl_host_claim_of(claim)->token.own.heirs;
    size_t gone = 0;

    for (size_t node = 0; node < claim->n_nodes; node++)
        gone += claim->slots[node].undo == RL_UNDO_SETTLED;
    return gone < heirs ? gone : heirs;
}

bool rl_precedence_are_near(const struct redlock_client *client, uint32_t nodes)
{
    for (unsigned node = 0; node < client->engine.config.n_nodes; node++) {
        if ((nodes >> node & 1) && !rl_driver_is_near(client->driver, node, (struct rl_span){NEAR_NS}))
            return false;
    }
    return true;
}

bool rl_precedence_decide(const struct redlock_client *client, const struct rl_effect *effect, unsigned *ret_node)
{
    if (effect->step != RL_STEP_RELEASE || !effect->claim->undoing ||
        count_handed_on(effect->claim) + 1 < client->engine.config.quorum ||
        !rl_precedence_are_near(client, effect->nodes))
        return false;
    for (*ret_node = 0; !(effect->nodes >> *ret_node & 1); ++*ret_node) {
    }
    return true;
}

void rl_precedence_ask(struct redlock_client *client, unsigned node)
{
    struct rl_ticket ticket = {.sent = client->now, .step = RL_TICKET_NOTHING};

    client->stats.commands +=
        rl_driver_send(client->driver, node, question, sizeof question - 1, RL_SENDING, &ticket);
}
