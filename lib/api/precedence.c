/* The vote that decides, and goes first. A holder that has handed on what it could spare (core/spare.c) leaves the next in
 * line one vote short of a quorum: whichever of the others is released first makes the lock his.
 *
 * On masters elsewhere all of them are released at once: the first of several answers comes sooner than any chosen one.
 * Masters on this machine share its processors with each other and with the next holder's process, so that what is asked
 * of several at a time is in the way of the one that decides. There, one is released alone, and the others when it has
 * answered, or a few milliseconds later: the next holder does not need them yet, and hands them on when they come.
 *
 * In front of that RELEASE goes a question whose answer nobody needs. What Redis has to say at the end of a turn of its
 * loop it writes in the reverse of the order in which connections got something to be told: so the notification leaves
 * before the reply to the release that caused it. Where a server does otherwise no harm is done. */
#include "api/client.h"

/* What takes longer is not a matter of processors. */
#define NEAR_NS (500 * RL_NS_PER_US)

static const char question[] = "*1\r\n$4\r\nPING\r\n";

void rl_precedence_note_heir(const struct rl_claim *claim)
{
    struct rl_host_claim *host = rl_host_claim_of(claim);

    if (!claim->undoing && host->token.own.heirs < UINT8_MAX)
        host->token.own.heirs++;
}

static bool one_vote_is_missing(const struct redlock_client *client, const struct rl_claim *claim)
{
    return rl_host_claim_of(claim)->token.own.heirs + 1u >= client->engine.config.quorum;
}

bool rl_precedence_decide(const struct redlock_client *client, const struct rl_effect *effect, unsigned *ret_node)
{
    struct rl_span near = {NEAR_NS};

    if (effect->step != RL_STEP_RELEASE || !effect->claim->undoing || !one_vote_is_missing(client, effect->claim))
        return false;
    for (unsigned node = 0; node < client->engine.config.n_nodes; node++) {
        if ((effect->nodes & UINT32_C(1) << node) && rl_driver_is_near(client->driver, node, near)) {
            *ret_node = node;
            return true;
        }
    }
    return false;
}

void rl_precedence_ask(struct redlock_client *client, unsigned node)
{
    struct rl_ticket ticket = {.sent = client->now, .step = RL_TICKET_NOTHING};

    client->stats.commands +=
        rl_driver_send(client->driver, node, question, sizeof question - 1, RL_SENDING, &ticket);
}
