#include "loop_rig.h"

#include <time.h>

#define US_PER_S INT64_C(1000000)

struct redlock_mutex *mutex;

void loop_open(void)
{
    world_open(3);
    mutex = world_new_mutex("key");
}

void loop_lock_and_unlock(void)
{
    ck_assert_int_eq(redlock_mutex_lock(mutex, PATIENCE_MS), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_OK);
}

int64_t loop_now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * US_PER_S + now.tv_nsec / 1000;
}
