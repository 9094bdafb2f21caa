/* The client keeps attempts that are not in use: there are as many as operations were ever pending at once. */
#include "api/attempts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/handle.h"

void rl_pending_start(struct rl_pending *pending, enum rl_op op, struct rl_instant now, redlock_fn cb, void *user_data)
{
    assert(!pending->accepted);
    *pending = (struct rl_pending){.cb = cb, .user_data = user_data, .started = now, .op = (uint8_t)op,
                                   .accepted = true};
}

/* The notes on the wait queues come last, and there is room for those masters only that the client has. */
static size_t attempt_size(const struct redlock_client *client)
{
    const struct rl_entry *entry = NULL;

    return offsetof(struct rl_attempt, host.entry) + offsetof(struct rl_entry, seen) +
           client->host.engine.votes.config.n_nodes * sizeof entry->seen[0];
}

static struct rl_attempt *borrow(struct redlock_client *client)
{
    struct rl_attempt *attempt = client->spare_attempts;

    if (attempt)
        client->spare_attempts = attempt->next_spare;
    else
        attempt = malloc(attempt_size(client));
    if (!attempt)
        return NULL;
    memset(attempt, 0, offsetof(struct rl_attempt, host.entry));
    rl_list_init(&attempt->host.wait_list);
    return attempt;
}

bool rl_attempt_borrow(struct redlock_lock *lock, enum rl_op op, redlock_fn cb, void *user_data)
{
    struct rl_attempt *attempt = borrow(rl_client_of(lock));

    if (!attempt)
        return false;
    lock->host.call = &attempt->host;
    rl_pending_start(&attempt->pending, op, lock->host.host->now, cb, user_data);
    return true;
}

void rl_attempt_give_back(struct redlock_lock *lock)
{
    struct redlock_client *client = rl_client_of(lock);
    struct rl_attempt *attempt = rl_attempt_of(lock);

    lock->host.call = NULL;
    free(attempt->host.answers);
    free(attempt->why);
    attempt->next_spare = client->spare_attempts;
    client->spare_attempts = attempt;
}

void rl_attempts_fini(struct redlock_client *client)
{
    while (client->spare_attempts) {
        struct rl_attempt *attempt = client->spare_attempts;

        client->spare_attempts = attempt->next_spare;
        free(attempt);
    }
}

struct rl_inner_releases {
    uint32_t capacity; /* for those that wait, and for all inner entries */
    uint32_t count;    /* those that wait, the oldest first */
    struct rl_pending waiting[];
};

#define FIRST_CAPACITY 4

uint32_t rl_inner_releases_count(const struct redlock_lock *lock)
{
    return lock->inner_releases ? lock->inner_releases->count : 0;
}

int rl_inner_releases_reserve(struct redlock_lock *lock)
{
    struct rl_inner_releases *inner_releases = lock->inner_releases;
    uint32_t capacity = inner_releases ? inner_releases->capacity : 0;
    uint32_t needed = rl_inner_releases_count(lock) + lock->host.inner_entries;

    if (needed >= REDLOCK_MAX_DEPTH)
        return REDLOCK_E_DEPTH;
    if (needed <= capacity)
        return 0;
    capacity = capacity ? 2 * capacity : FIRST_CAPACITY;
    inner_releases = realloc(inner_releases, sizeof *inner_releases + capacity * sizeof inner_releases->waiting[0]);
    if (!inner_releases)
        return REDLOCK_E_NOMEM;
    if (!lock->inner_releases)
        inner_releases->count = 0;
    inner_releases->capacity = capacity;
    lock->inner_releases = inner_releases;
    return 0;
}

void rl_inner_releases_push(struct redlock_lock *lock, const struct rl_pending *pending)
{
    struct rl_inner_releases *inner_releases = lock->inner_releases;

    assert(inner_releases && inner_releases->count < inner_releases->capacity);
    inner_releases->waiting[inner_releases->count++] = *pending;
}

bool rl_inner_releases_shift(struct redlock_lock *lock, struct rl_pending *ret_pending)
{
    struct rl_inner_releases *inner_releases = lock->inner_releases;

    if (!rl_inner_releases_count(lock))
        return false;
    *ret_pending = inner_releases->waiting[0];
    inner_releases->count--;
    memmove(inner_releases->waiting, inner_releases->waiting + 1,
            inner_releases->count * sizeof inner_releases->waiting[0]);
    return true;
}

void rl_inner_releases_fini(struct redlock_lock *lock)
{
    free(lock->inner_releases);
    lock->inner_releases = NULL;
}
