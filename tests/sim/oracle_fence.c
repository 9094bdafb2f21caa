/* Fencing tokens (protocol G2): unique, and larger than every token that had been handed out before.
 *
 * "In the order of acquisition" is the order of acceptance. Acquisitions whose attempts overlap are in that order too,
 * since the quorum that is accepted holds its keys at that moment; only where steps of clocks let two hold at once, no
 * more is promised than this: larger than every token accepted before the attempt began. */
#include "world.h"

/* The largest token accepted before then. */
static uint64_t largest_before(const struct fence_record *record, int64_t at)
{
    uint32_t first = record->count > MAX_FENCES ? record->count - MAX_FENCES : 0;

    for (uint32_t i = record->count; i-- > first;) {
        if (record->latest[i % MAX_FENCES].at < at)
            return record->latest[i % MAX_FENCES].largest;
    }
    return 0;
}

static void check_unique(struct world *world, const struct fence_record *record, const struct box *box, uint64_t token)
{
    uint32_t first = record->count > MAX_FENCES ? record->count - MAX_FENCES : 0;

    for (uint32_t i = first; i < record->count; i++) {
        if (record->latest[i % MAX_FENCES].token == token)
            world_violation(world, "fencing", "%s has the token %llu, as another before", box->token,
                            (unsigned long long)token);
    }
}

void fence_on_accept(struct world *world, const struct client *client, const struct handle *handle)
{
    const struct box *box = handle_box(handle);
    struct fence_record *record = &world->fences[handle->key];
    uint64_t token = rl_claim_token(handle->host.core.claim);
    bool stepped = world->last_step > INT64_MIN / 2;
    int64_t now = client_true_now(client);
    uint64_t before = largest_before(record, stepped ? box->begun : now);
    uint64_t largest = largest_before(record, INT64_MAX);

    if (!box->fenced)
        return;
    world_count(world, COUNTER_FENCED);
    TRACE(world, name_of_handle(client, handle), "has the token %llu", (unsigned long long)token);
    if (token <= before)
        world_violation(world, "fencing", "%s has the token %llu, not above %llu", box->token,
                        (unsigned long long)token, (unsigned long long)before);
    check_unique(world, record, box, token);
    record->latest[record->count % MAX_FENCES].at = now;
    record->latest[record->count % MAX_FENCES].token = token;
    record->latest[record->count % MAX_FENCES].largest = token > largest ? token : largest;
    record->count++;
}
