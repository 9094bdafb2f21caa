/* The client keeps calls that are not in use: there are as many as operations were ever pending at once. */
#include "api/call.h"

#include <stdlib.h>
#include <string.h>

#include "api/handle.h"
#include "api/lock_state.h"

/* The notes on the wait queues come last. A waiter keeps its place when the list of masters changes, so there is room
 * for as many as there can be. */
static size_t lock_call_size(void)
{
    return offsetof(struct rl_lock_call, host.entry) + sizeof(struct rl_entry);
}

static struct rl_lock_call *borrow(struct redlock_client *client)
{
    struct rl_lock_call *call = client->spare_calls;

    if (call)
        client->spare_calls = call->next_spare;
    else
        call = malloc(lock_call_size());
    if (!call)
        return NULL;
    memset(call, 0, offsetof(struct rl_lock_call, host));
    return call;
}

bool rl_lock_call_begin(struct redlock_lock *lock, enum rl_op op, redlock_fn cb, void *user_data)
{
    struct rl_lock_call *call = borrow(rl_client_of(lock));

    if (!call)
        return false;
    rl_host_lend(&lock->host, &call->host);
    rl_call_begin(&call->call, op, lock->host.host->now, user_data);
    call->call.cb.lock = cb;
    return true;
}

void rl_lock_call_give_back(struct redlock_lock *lock)
{
    struct redlock_client *client = rl_client_of(lock);
    struct rl_lock_call *call = rl_lock_call_of(lock);

    lock->host.call = NULL;
    free(call->host.answers);
    free(call->why);
    call->next_spare = client->spare_calls;
    client->spare_calls = call;
}

void rl_calls_fini(struct redlock_client *client)
{
    while (client->spare_calls) {
        struct rl_lock_call *call = client->spare_calls;

        client->spare_calls = call->next_spare;
        free(call);
    }
}

struct rl_inner_releases {
    uint32_t capacity; /* for those that wait, and for all inner entries */
    uint32_t count;    /* those that wait, the oldest first */
    struct rl_call waiting[];
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

void rl_inner_releases_push(struct redlock_lock *lock, const struct rl_call *call)
{
    struct rl_inner_releases *inner_releases = lock->inner_releases;

    assert(inner_releases && inner_releases->count < inner_releases->capacity);
    inner_releases->waiting[inner_releases->count++] = *call;
}

bool rl_inner_releases_shift(struct redlock_lock *lock, struct rl_call *ret_call)
{
    struct rl_inner_releases *inner_releases = lock->inner_releases;

    if (!rl_inner_releases_count(lock))
        return false;
    *ret_call = inner_releases->waiting[0];
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
