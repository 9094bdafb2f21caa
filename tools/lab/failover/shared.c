#include "shared.h"

#include "lab/load/process.h"

static size_t size_for(uint32_t clients)
{
    return sizeof(struct fo_shared) + clients * sizeof(struct fo_journal);
}

struct fo_shared *fo_shared_create(uint32_t clients)
{
    struct fo_shared *shared = load_map(size_for(clients));

    if (!shared)
        return NULL;
    shared->clients = clients;
    atomic_store(&shared->leader, FO_NOBODY);
    return shared;
}

void fo_shared_destroy(struct fo_shared *shared)
{
    if (shared)
        load_unmap(shared, size_for(shared->clients));
}

void fo_journal_add(struct fo_shared *shared, uint32_t client, struct fo_record record)
{
    struct fo_journal *journal = &shared->journals[client];
    uint32_t n = atomic_load_explicit(&journal->n, memory_order_relaxed);

    if (n == FO_JOURNAL_RECORDS) {
        atomic_store(&journal->full, true);
        return;
    }
    record.client = (uint8_t)client;
    journal->records[n] = record;
    atomic_store_explicit(&journal->n, n + 1, memory_order_release);
}

uint64_t fo_verdict_violations(const struct fo_verdict *verdict)
{
    return verdict->double_holds + verdict->fence_regressions + verdict->mixed_writes + verdict->foreign_releases +
           verdict->leaked_keys + verdict->stored[FO_GUARDED].late;
}

void fo_verdict_add(struct fo_verdict *into, const struct fo_verdict *more)
{
    into->double_holds += more->double_holds;
    into->fence_regressions += more->fence_regressions;
    into->mixed_writes += more->mixed_writes;
    into->foreign_releases += more->foreign_releases;
    into->leaked_keys += more->leaked_keys;
    into->late_acquired += more->late_acquired;
    into->late_refused += more->late_refused;
    into->late_landed += more->late_landed;
    into->late_mixed += more->late_mixed;
    into->acquired += more->acquired;
    into->writes += more->writes;
    into->probes += more->probes;
    for (int i = 0; i < FO_STORE_RECORDS; i++) {
        into->stored[i].n += more->stored[i].n;
        into->stored[i].late += more->stored[i].late;
    }
    into->guard_refused += more->guard_refused;
}
