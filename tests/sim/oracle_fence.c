/* Fencing tokens (rule 1.2): unique, and larger than every token that had been handed out before.
 *
 * Those who share the key may have equal tokens, and that of the writer before them. A resource never compares readers
 * with each other: a token that is shared must not be smaller than a writer's, nor than any that was accepted before
 * its attempt began.
 *
 * "In the order of acquisition" is the order of acceptance. Acquisitions whose attempts overlap are in that order too,
 * since the quorum that is accepted holds its keys at that moment; only where steps of clocks let two hold at once, no
 * more is promised than this: larger than every token accepted before the attempt began. */
#include "client_host.h"
#include "engine/hold.h"
#include "world.h"

/* The largest token accepted before then: of all, or of exclusive holds only. */
static uint64_t largest_before(const struct fence_record *record, int64_t at, bool exclusive)
{
    uint32_t first = record->count > MAX_FENCES ? record->count - MAX_FENCES : 0;

    for (uint32_t i = record->count; i-- > first;) {
        if (record->latest[i % MAX_FENCES].at < at)
            return exclusive ? record->latest[i % MAX_FENCES].writer : record->latest[i % MAX_FENCES].largest;
    }
    return 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void check_unique(struct world *world, const struct fence_record *record, const struct box *box, uint64_t token)
{
    uint32_t first = record->count > MAX_FENCES ? record->count - MAX_FENCES : 0;

    for (uint32_t i = first; i < record->count; i++) {
        if (record->latest[i % MAX_FENCES].token == token && !record->latest[i % MAX_FENCES].shared)
            world_violation(world, "fencing", "%s has the token %llu, as another before", box->token,
                            (unsigned long long)token);
    }
}

void fence_on_accept(struct world *world, const struct client *client, const struct handle *handle)
{
    const struct box *box = handle_box(handle);
    struct fence_record *record = &world->fences[handle->key];
    uint64_t token = rl_claim_token(handle->host.core.claim);
    bool shared = rl_lock_mode(&handle->host.core) != RL_EXCLUSIVE;
    bool stepped = world->last_step > INT64_MIN / 2;
    int64_t now = client_true_now(client);
    uint64_t before = largest_before(record, stepped || shared ? box->begun : now, false);
    uint64_t largest = largest_before(record, INT64_MAX, false);
    uint64_t writer = largest_before(record, INT64_MAX, true);

    if (!box->fenced)
        return;
    if (shared && !stepped)
        before = larger(before, largest_before(record, now, true));
    world_count(world, COUNTER_FENCED);
    TRACE(world, name_of_handle(client, handle), "has the token %llu", (unsigned long long)token);
    if (token < before || (token == before && !shared))
        world_violation(world, "fencing", "%s has the token %llu, not above %llu", box->token,
                        (unsigned long long)token, (unsigned long long)before);
    if (!shared)
        check_unique(world, record, box, token);
    record->latest[record->count % MAX_FENCES].at = now;
    record->latest[record->count % MAX_FENCES].token = token;
    record->latest[record->count % MAX_FENCES].shared = shared;
    record->latest[record->count % MAX_FENCES].largest = larger(token, largest);
    record->latest[record->count % MAX_FENCES].writer = shared ? writer : larger(token, writer);
    record->count++;
}
