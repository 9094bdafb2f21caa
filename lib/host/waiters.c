/* Waiting in line, on the host's side: who is called by the masters' notifications, and what they and the answers to
 * ENQUEUE tell beside the vote (engine/wait.c, protocol section 6).
 *
 * One connection to each master listens on one channel for all locks of the client; a notification names the value
 * that it is about. The values that have been in line are kept in a hash table, open addressing, without tombstones,
 * until no master can hold them any more. Without memory for it nothing is lost but time: what a notification would
 * have told is found out by the next refresh. */
#include "host/waiters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/host.h"
#include "host/trust/admission.h"
#include "util/hash.h"

/* --- The table -------------------------------------------------------------------------------------------------- */

#define SMALLEST_TABLE 64

static size_t home_of(const struct rl_waiters *waiters, const struct rl_claim *claim)
{
    const char *token = rl_host_token(claim);

    return (size_t)rl_hash(token, strlen(token)) & (waiters->size - 1);
}

static void put(struct rl_waiters *waiters, struct rl_claim *claim)
{
    size_t at = home_of(waiters, claim);

    while (waiters->table[at])
        at = (at + 1) & (waiters->size - 1);
    waiters->table[at] = claim;
}

/* Half of it stays empty. */
static bool make_room(struct rl_waiters *waiters)
{
    struct rl_waiters larger = *waiters;

    if (waiters->count < waiters->size / 2)
        return true;
    larger.size = waiters->size ? waiters->size * 2 : SMALLEST_TABLE;
    larger.table = calloc(larger.size, sizeof larger.table[0]);
    if (!larger.table)
        return false;
    for (size_t i = 0; i < waiters->size; i++) {
        if (waiters->table[i])
            put(&larger, waiters->table[i]);
    }
    free(waiters->table);
    waiters->table = larger.table;
    waiters->size = larger.size;
    return true;
}

/* Those behind the gap move up, but for those that are at home there already. */
static void close_gap(struct rl_waiters *waiters, size_t gap)
{
    size_t mask = waiters->size - 1;

    for (size_t at = (gap + 1) & mask; waiters->table[at]; at = (at + 1) & mask) {
        size_t home = home_of(waiters, waiters->table[at]);

        if (((at - home) & mask) < ((at - gap) & mask))
            continue;
        waiters->table[gap] = waiters->table[at];
        gap = at;
    }
    waiters->table[gap] = NULL;
}

struct rl_claim *rl_waiters_find(const struct rl_waiters *waiters, struct rl_slice value)
{
    size_t at;

    if (!waiters->count)
        return NULL;
    at = (size_t)rl_hash(value.data, value.size) & (waiters->size - 1);
    for (; waiters->table[at]; at = (at + 1) & (waiters->size - 1)) {
        const char *token = rl_host_token(waiters->table[at]);

        if (strlen(token) == value.size && memcmp(token, value.data, value.size) == 0)
            return waiters->table[at];
    }
    return NULL;
}

bool rl_waiters_enter(struct rl_host *host, struct rl_claim *claim)
{
    struct rl_waiters *waiters = &host->waiters;
    struct rl_host_claim *part = rl_host_claim_of(claim);
    bool first = !part->token.own.asked;

    part->token.own.asked = true;
    rl_contended_note(&host->contended, part->key, host->now);
    if (!waiters->listens)
        waiters->listens = rl_transport_listen(&host->transport, waiters->channel) == 0;
    if (part->token.own.in_queue || !make_room(waiters))
        return first;
    put(waiters, claim);
    waiters->count++;
    part->token.own.in_queue = true;
    return first;
}

void rl_waiters_leave(struct rl_host *host, struct rl_claim *claim)
{
    struct rl_waiters *waiters = &host->waiters;
    size_t at;

    if (!rl_host_claim_of(claim)->token.own.in_queue)
        return;
    for (at = home_of(waiters, claim); waiters->table[at] != claim; at = (at + 1) & (waiters->size - 1)) {
    }
    close_gap(waiters, at);
    waiters->count--;
    rl_host_claim_of(claim)->token.own.in_queue = false;
}

/* --- Life ------------------------------------------------------------------------------------------------------- */

void rl_waiters_init(struct rl_host *host)
{
    struct rl_slice prefix = rl_trust_prefix(host);
    char id[RL_UUID_SIZE];

    host->environment.make_uuid(host->environment.ctx, id);
    snprintf(host->waiters.channel, sizeof host->waiters.channel, "%.*s" RL_CHANNEL_NAME "%s", (int)prefix.size,
             (const char *)prefix.data, id);
}

void rl_waiters_fini(struct rl_host *host)
{
    free(host->waiters.table);
}
