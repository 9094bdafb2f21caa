/* What every holder writes down, in the order in which the referee relies on it. */
#include <stdio.h>
#include <string.h>

#include "client.h"
#include "counter.h"
#include "plant.h"

void fo_key_name(uint32_t key, char ret_name[FO_KEY_SIZE])
{
    if (key == FO_LEADER_KEY)
        snprintf(ret_name, FO_KEY_SIZE, "leader");
    else
        snprintf(ret_name, FO_KEY_SIZE, "job-%03u", key);
}

static uint32_t granted_by(const struct redlock_result *result)
{
    uint32_t mask = 0;

    for (size_t i = 0; i < result->n_nodes; i++)
        if (result->nodes[i].vote == REDLOCK_VOTE_GRANTED)
            mask |= UINT32_C(1) << i;
    return mask;
}

/* The clock is read before the rest: a validity that is told too short is safe. */
void fo_note_acquired(struct fo_seat *seat, uint32_t key, const struct redlock_lock *lock,
                      const struct redlock_result *result)
{
    struct fo_record record = {.kind = FO_ACQUIRED, .key = key, .at_ns = fo_now_ns()};
    int64_t remaining_ns = redlock_remaining_ns(lock);

    record.until_ns = record.at_ns + remaining_ns;
    record.fence = fo_plant_fence(redlock_lock_fence(lock));
    record.nodes = granted_by(result);
    snprintf(record.token, sizeof(record.token), "%s", redlock_lock_token(lock));
    fo_journal_add(seat->shared, seat->client, record);
}

/* Validity is asked for behind the write: what is left then was there during it. */
void fo_note_write(struct fo_seat *seat, uint32_t key, const struct redlock_lock *lock, uint64_t fence, uint32_t count)
{
    struct fo_shared *shared = seat->shared;
    enum fo_write what = fo_counter_write(&shared->cells[key], shared->token_base, fence, count);
    bool valid = redlock_remaining_ns(lock) > 0;

    if (what == FO_TAKEN)
        atomic_fetch_add(&shared->taken[seat->client], 1);
    fo_journal_add(shared, seat->client,
                   (struct fo_record){.kind = FO_WRITTEN,
                                      .key = key,
                                      .at_ns = fo_now_ns(),
                                      .fence = fence,
                                      .detail = (uint8_t)what,
                                      .status = valid});
}
