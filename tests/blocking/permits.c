/* Permits of a semaphore, from any thread. */
#include <check.h>
#include <string.h>
#include <time.h>

#include "service_rig.h"

#define KEY "pool"
#define LIMIT 3
#define N_WORKERS 8
#define ROUNDS 6

static struct redlock_mutex *make(uint32_t limit)
{
    struct redlock_mutex *permit;

    ck_assert_int_eq(redlock_mutex_create_permit(world.service, KEY, strlen(KEY), limit, &permit), 0);
    return world_keep(permit);
}

static int32_t slot_of(struct redlock_mutex *permit)
{
    int32_t slot = -2;

    ck_assert_int_eq(redlock_mutex_slot(permit, &slot), 0);
    return slot;
}

GROUP(cases, "permits", world_three, world_close)

TEST(cases, permits_are_locked_and_unlocked_like_mutexes)
{
    struct redlock_mutex *permits[LIMIT + 1];

    for (unsigned i = 0; i <= LIMIT; i++)
        permits[i] = make(LIMIT);
    ck_assert_int_eq(slot_of(permits[0]), -1);
    for (unsigned i = 0; i < LIMIT; i++)
        ck_assert_int_eq(redlock_mutex_trylock(permits[i]), REDLOCK_OK);
    ck_assert_int_eq(slot_of(permits[0]) + slot_of(permits[1]) + slot_of(permits[2]), 0 + 1 + 2);
    ck_assert_int_eq(redlock_mutex_trylock(permits[LIMIT]), REDLOCK_HELD);
    ck_assert_int_eq(redlock_mutex_unlock(permits[1]), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_lock(permits[LIMIT], PATIENCE_MS), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_extend(permits[LIMIT], 30000, NULL), REDLOCK_OK);
}

TEST(cases, a_permit_is_released_by_its_token_and_slot)
{
    struct redlock_mutex *permit = make(LIMIT);
    struct redlock_mutex *other = make(LIMIT);
    char token[REDLOCK_MAX_TOKEN_BYTES + 1];
    char name[32];
    int32_t slot;

    ck_assert_int_eq(redlock_mutex_trylock(permit), REDLOCK_OK);
    slot = slot_of(permit);
    snprintf(name, sizeof name, KEY "#%d", (int)slot);
    ck_assert_int_eq(redlock_mutex_token(permit, token, sizeof token), 0);
    ck_assert_int_eq(redlock_mutex_detach(permit), 0);
    ck_assert_int_eq(redlock_mutex_release_token(other, token, NULL), REDLOCK_E_PERMITS);
    ck_assert_int_eq(redlock_mutex_release_permit(other, LIMIT, token, NULL), REDLOCK_E_PERMITS);
    ck_assert_int_eq(redlock_mutex_release_permit(other, (uint32_t)slot, token, NULL), REDLOCK_OK);
    world_wait_absent(name);
}

/* --- Many threads ------------------------------------------------------------------------------------------------- */

static atomic_int holders;
static atomic_int most;

static void note(int now)
{
    int seen = atomic_load(&most);

    while (now > seen && !atomic_compare_exchange_weak(&most, &seen, now))
        ;
}

static void *work(void *argument)
{
    struct redlock_mutex *permit = make(LIMIT);
    int *done = argument;

    for (unsigned round = 0; round < ROUNDS; round++) {
        if (redlock_mutex_lock(permit, PATIENCE_MS) != REDLOCK_OK)
            break;
        note(atomic_fetch_add(&holders, 1) + 1);
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL); /* others hold theirs meanwhile */
        atomic_fetch_sub(&holders, 1);
        if (redlock_mutex_unlock(permit) != REDLOCK_OK)
            break;
        ++*done;
    }
    return NULL;
}

TEST(cases, threads_never_hold_more_than_there_are)
{
    pthread_t threads[N_WORKERS];
    int done[N_WORKERS] = {0};

    for (unsigned i = 0; i < N_WORKERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &done[i]), 0);
    for (unsigned i = 0; i < N_WORKERS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert_int_eq(done[i], ROUNDS);
    }
    ck_assert_int_le(atomic_load(&most), LIMIT);
}

TEST(cases, what_is_wrong_is_told)
{
    struct redlock_mutex *permit = NULL;
    struct redlock_mutex *set;
    int32_t slot;

    ck_assert_int_eq(redlock_mutex_create_permit(world.service, "k", 1, 0, &permit), REDLOCK_E_PERMITS);
    ck_assert_int_eq(redlock_mutex_create_permit(world.service, "k", 1, REDLOCK_MAX_PERMITS + 1, &permit),
                     REDLOCK_E_PERMITS);
    ck_assert_int_eq(redlock_mutex_create_permit(NULL, "k", 1, 1, &permit), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_create_permit(world.service, NULL, 1, 1, &permit), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_create_permit(world.service, "k", 1, 1, NULL), REDLOCK_E_ARGUMENT);
    ck_assert_ptr_null(permit);
    ck_assert_int_eq(redlock_mutex_slot(NULL, &slot), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_release_permit(NULL, 0, "t", NULL), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_create_set(world.service, &set), 0);
    ck_assert_int_eq(redlock_mutex_slot(set, &slot), REDLOCK_E_SET);
    ck_assert_int_eq(redlock_mutex_release_permit(set, 0, "t", NULL), REDLOCK_E_SET);
    redlock_mutex_destroy(set);
    permit = make(1);
    ck_assert_int_eq(redlock_mutex_slot(permit, NULL), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_release_permit(permit, 0, NULL, NULL), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_release_permit(permit, UINT32_MAX, "t", NULL), REDLOCK_E_PERMITS);
}

SUITE_WITH_SERVER("permits")
