/* What every holder writes down, in the order in which the referee relies on it. */
#include <stdio.h>

#include "client.h"
#include "counter.h"
#include "locker.h"
#include "plant.h"

void fo_key_name(uint32_t key, char ret_name[FO_KEY_SIZE])
{
    if (key == FO_LEADER_KEY)
        snprintf(ret_name, FO_KEY_SIZE, "leader");
    else
        snprintf(ret_name, FO_KEY_SIZE, "job-%03u", key);
}

/* The clock is read before the rest: a validity that is told too short is safe. */
void fo_note_acquired(const struct fo_lock *lock, const struct fo_grant *grant)
{
    const struct fo_locker_type *type = lock->locker->type;
    struct fo_record record = {.kind = FO_ACQUIRED, .key = lock->key, .at_ns = fo_now_ns()};

    record.until_ns = record.at_ns + type->remaining_ns(lock);
    record.fence = fo_plant_fence(type->fence(lock));
    record.nodes = grant->nodes;
    snprintf(record.token, sizeof(record.token), "%s", type->token(lock));
    fo_journal_add(lock->locker->seat->shared, lock->locker->seat->client, record);
}

/* Validity is asked for behind the write: what is left then was there during it. A token of an engine that was refused
 * has done its work, whatever its holder believed; whether tokens grow is seen at the acquisitions. */
void fo_note_write(const struct fo_lock *lock, uint64_t fence, uint32_t count)
{
    const struct fo_seat *seat = lock->locker->seat;
    struct fo_shared *shared = seat->shared;
    enum fo_write what = fo_counter_write(&shared->cells[lock->key], shared->token_base, fence, count);
    bool valid = lock->locker->type->remaining_ns(lock) > 0 && !(what == FO_STALE && seat->options->engine);

    if (what == FO_TAKEN)
        atomic_fetch_add(&shared->taken[seat->client], 1);
    fo_journal_add(shared, seat->client,
                   (struct fo_record){.kind = FO_WRITTEN,
                                      .key = lock->key,
                                      .at_ns = fo_now_ns(),
                                      .fence = fence,
                                      .count = count,
                                      .detail = (uint8_t)what,
                                      .status = valid});
}
