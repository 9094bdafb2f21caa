#include "worker.h"

#include <stdarg.h>
#include <stdio.h>

#include "counter.h"
#include "lab/load/message.h"
#include "locker.h"
#include "plant.h"
#include "resource.h"

void fo_worker_fail(struct fo_worker *worker, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    load_fail(worker->control, worker->shared->errors[worker->client], FO_ERROR_SIZE, format, args);
    va_end(args);
}

/* A master's silence is noticed early, and a silent connection given up soon: an outage is to be short. */
void fo_worker_options(const struct fo_options *options, const struct cli_tls *tls, const char *prefix,
                       struct redlock_options *ret_options)
{
    redlock_options_init(ret_options);
    cli_tls_apply(tls, ret_options);
    ret_options->client_name = "redlock-lab-failover";
    ret_options->key_prefix = prefix;
    ret_options->max_ttl_ms = options->max_ttl_ms;
    ret_options->node_timeout_ms = 200;
    ret_options->connect_timeout_ms = 500;
    ret_options->stall_timeout_ms = 1000;
}

/* --- What every holder writes down -------------------------------------------------------------------------------- */

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
    snprintf(record.token, sizeof record.token, "%s", type->token(lock));
    fo_journal_add(lock->locker->worker->shared, lock->locker->worker->client, record);
}

/* Validity is asked for behind the write: what is left then was there during it. A token of an engine that was refused
 * has done its work, whatever its holder believed; whether tokens grow is seen at the acquisitions. */
void fo_note_write(const struct fo_lock *lock, uint64_t fence, uint32_t count)
{
    const struct fo_worker *worker = lock->locker->worker;
    struct fo_shared *shared = worker->shared;
    enum fo_write what = fo_counter_write(&shared->cells[lock->key], shared->token_base, fence, count);
    bool valid = lock->locker->type->remaining_ns(lock) > 0 && !(what == FO_STALE && worker->options->engine);

    if (what == FO_TAKEN)
        atomic_fetch_add(&shared->taken[worker->client], 1);
    fo_journal_add(shared, worker->client,
                   (struct fo_record){.kind = FO_WRITTEN,
                                      .key = lock->key,
                                      .at_ns = fo_now_ns(),
                                      .fence = fence,
                                      .count = count,
                                      .detail = (uint8_t)what,
                                      .status = valid});
}

/* Holders follow each other as their tokens do, or else as their acquisitions. No guard lets pass what has no token. */
void fo_note_stored(const struct fo_lock *lock, uint64_t fence, int64_t since_ns)
{
    struct fo_worker *worker = lock->locker->worker;

    for (int i = fence ? FO_GUARDED : FO_UNGUARDED; worker->store && i < FO_STORE_RECORDS; i++)
        switch (fo_store_write(worker->store, (enum fo_store_record)i, fence, fence ? fence : (uint64_t)since_ns)) {
        case FO_STORE_TOOK:
            atomic_fetch_add(&worker->shared->stored[i], 1);
            break;
        case FO_STORE_REFUSED:
            atomic_fetch_add(&worker->shared->guard_refused, 1);
            break;
        case FO_STORE_BROKE:
            fo_worker_fail(worker, "the store of --resource does not take a write");
            return;
        }
}
