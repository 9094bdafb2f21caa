/* Claims in the wait queue, on the host's side: the masters' notifications name them by their values (engine/wait.c,
 * protocol section 6).
 *
 * One connection to each master listens on one channel for all locks of the client; a notification names the value
 * that it is about. A value that has been in the wait queue is found until no master can hold it any more. */
#include "host/waiters.h"

#include <stdio.h>
#include <string.h>

#include "host/host.h"
#include "host/trust/admission.h"
#include "util/hash.h"

static struct rl_claim *claim_at(struct rl_table_node *node)
{
    return (struct rl_claim *)(RL_CONTAINER_OF(node, struct rl_host_claim, waiter) + 1);
}

struct rl_claim *rl_waiters_find(const struct rl_waiters *waiters, struct rl_slice value)
{
    struct rl_table_node *node = rl_table_find(&waiters->claims, rl_hash(value.data, value.size));

    for (; node; node = rl_table_find_next(node)) {
        if (rl_slice_is(value, rl_host_token(claim_at(node))))
            return claim_at(node);
    }
    return NULL;
}

void rl_waiters_listen(struct rl_host *host)
{
    struct rl_waiters *waiters = &host->waiters;

    if (!waiters->listens)
        waiters->listens = rl_transport_listen(&host->transport, waiters->channel) == 0;
}

bool rl_waiters_enter(struct rl_host *host, struct rl_claim *claim)
{
    struct rl_waiters *waiters = &host->waiters;
    struct rl_host_claim *part = rl_host_claim_of(claim);
    const char *token = rl_host_token(claim);

    rl_contended_note(&host->contended, rl_host_wanted_key(claim), host->now);
    rl_waiters_listen(host);
    if (part->token.own.in_queue)
        return false;
    part->token.own.in_queue = true;
    rl_table_add(&waiters->claims, &part->waiter, rl_hash(token, strlen(token)));
    return true;
}

void rl_waiters_leave(struct rl_host *host, struct rl_claim *claim)
{
    struct rl_host_claim *part = rl_host_claim_of(claim);

    if (part->token.own.in_queue)
        rl_table_remove(&host->waiters.claims, &part->waiter);
    part->token.own.in_queue = false;
}

/* --- Life ------------------------------------------------------------------------------------------------------- */

void rl_waiters_init(struct rl_host *host)
{
    struct rl_slice prefix = rl_trust_prefix(host);
    char id[RL_UUID_SIZE];

    rl_table_init(&host->waiters.claims);
    host->environment.make_uuid(host->environment.ctx, id);
    snprintf(host->waiters.channel, sizeof host->waiters.channel, "%.*s" RL_CHANNEL_NAME "%s", (int)prefix.size,
             (const char *)prefix.data, id);
}

void rl_waiters_fini(struct rl_host *host)
{
    rl_table_fini(&host->waiters.claims);
}
