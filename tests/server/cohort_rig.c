#include "cohort_rig.h"

#include <check.h>

#include "watch.h"

struct redlock_client *other;
struct waiter first;
struct waiter waiters[COHORT];

void cohort_open(void)
{
    queue_open();
    rig_open(&rig, 5);
    other = rig_new_client(&rig);
}

void cohort_close(void)
{
    redlock_client_destroy(other);
    rig_close(&rig);
}

struct redlock_acquire_options cohort_request(void)
{
    struct redlock_acquire_options request = rig_request(COHORT_TTL_MS, REDLOCK_FOREVER);

    request.min_validity_ms = 25000;
    request.wait = REDLOCK_WAIT_FIFO;
    return request;
}

uint64_t cohort_passed_on(void)
{
    return watch_stats(rig.client).cohort_hand_offs;
}

struct line_request {
    const char *key;
    size_t n;
};

static bool is_as_long(void *argument)
{
    const struct line_request *request = argument;

    for (size_t node = 0; node < rig.n; node++) {
        if (queue_length(&rig, node, request->key) != request->n)
            return false;
    }
    return true;
}

void cohort_wait_in_queue(const char *key, size_t n)
{
    struct line_request request = {key, n};

    rig_wait(&rig, is_as_long, &request, "the cohort to be in the queue");
}

void cohort_join(const char *key, size_t n, const struct redlock_acquire_options *request)
{
    for (size_t i = 0; i < COHORT; i++)
        waiter_start(&rig, &waiters[i], rig.client, key, request);
    cohort_wait_in_queue(key, n + COHORT);
    rig_wait_quiet(&rig, rig.client);
}

void cohort_start(const char *key, const struct redlock_acquire_options *request)
{
    struct redlock_acquire_options usual = queue_request();

    waiter_start(&rig, &first, other, key, &usual);
    waiter_wait_held(&first);
    cohort_join(key, 0, request);
}

void cohort_destroy(void)
{
    for (size_t i = 0; i < COHORT; i++)
        redlock_lock_destroy(waiters[i].lock);
    redlock_lock_destroy(first.lock);
}

void cohort_serve_from(size_t next, const char *key)
{
    for (size_t i = next; i < COHORT; i++) {
        waiter_wait_held(&waiters[i]);
        waiter_leave(&waiters[i]);
    }
    queue_wait_gone(&rig, key);
}

void cohort_serve(const char *key)
{
    for (size_t i = 0; i < COHORT; i++) {
        waiter_wait_held(&waiters[i]);
        for (size_t j = i + 1; j < COHORT; j++)
            ck_assert_int_eq(redlock_remaining_ns(waiters[j].lock), 0);
        waiter_leave(&waiters[i]);
        ck_assert_int_eq(redlock_remaining_ns(waiters[i].lock), 0);
    }
    queue_wait_gone(&rig, key);
    rig_wait_no_claims(&rig, rig.client);
    for (size_t i = 1; i < COHORT; i++)
        ck_assert_uint_gt(waiters[i].turn, waiters[i - 1].turn);
}
