/* What is published of a lock's validity is never more than the client itself would say, whatever happens to the keys
 * on the masters; and it follows soon.
 *
 * The client's clock may be some microseconds ahead, which are the noise of its readings (lib/util/clock.h); a
 * validity falls back by one interval of renewal at least. */
#include <check.h>
#include <stdlib.h>

#include "service_rig.h"

#define NOISE_NS INT64_C(1000000)
#define RENEW_MS 5

/* The client's own handle, as the events name it. */
static struct redlock_lock *inner;

static void note_lock(const struct redlock_event *event, void *user_data)
{
    if (event->type == REDLOCK_EVENT_ATTEMPT)
        inner = event->lock;
}

static void hook(struct redlock_options *options, void *data)
{
    options->on_event = note_lock;
}

static void open_five(void)
{
    world_open_with(5, hook, NULL);
}

struct look {
    struct redlock_mutex *mutex;
    int64_t published_ns;
    int64_t own_ns;
};

/* Between two turns of the loop, before anything is published anew. The client is asked first. */
static void take_a_look(struct redlock_client *client, void *user_data)
{
    struct look *look = user_data;

    look->own_ns = redlock_remaining_ns(inner);
    look->published_ns = redlock_mutex_remaining_ns(look->mutex);
}

static void disturb(unsigned *seed)
{
    size_t node = (size_t)rand_r(seed) % world.rig.n;

    switch (rand_r(seed) % 3) {
    case 0:
        rig_do(&world.rig, node, "DEL", "key", NULL);
        break;
    case 1:
        rig_occupy(&world.rig, node, "key");
        break;
    default:
        rig_do(&world.rig, node, "PEXPIRE", "key", "1", NULL);
    }
}

static int64_t compare(struct redlock_mutex *mutex)
{
    struct look look = {.mutex = mutex};

    ck_assert_int_eq(redlock_service_run(world.service, take_a_look, &look), 0);
    ck_assert_msg(look.published_ns <= look.own_ns + NOISE_NS, "published %lld, own %lld", (long long)look.published_ns,
                  (long long)look.own_ns);
    return look.own_ns;
}

/* Each round: a lock with quick renewals, and one disturbance after the other until it is lost. */
static void one_round(struct redlock_mutex *mutex, unsigned *seed)
{
    struct redlock_acquire_options request = rig_request(1000, PATIENCE_MS);

    request.renew_ms = RENEW_MS;
    for (size_t i = 0; i < world.rig.n; i++)
        rig_do(&world.rig, i, "DEL", "key", NULL);
    ck_assert_int_eq(redlock_mutex_acquire(mutex, &request, NULL), REDLOCK_OK);
    for (int i = 0; i < 12 && redlock_mutex_remaining_ns(mutex) > 0; i++) {
        disturb(seed);
        for (int j = 0; j < 100; j++)
            compare(mutex);
    }
    redlock_mutex_unlock(mutex);
}

GROUP(five, "validity", open_five, world_close)

TEST(five, the_published_validity_is_never_longer_than_the_clients)
{
    struct redlock_mutex *mutex = world_new_mutex("key");
    unsigned seed = 1;

    for (int i = 0; i < 30; i++)
        one_round(mutex, &seed);
}

static bool has_renewals(void *argument)
{
    return world_stats(world.service).renewals >= *(uint64_t *)argument;
}

static void wait_for_renewals(uint64_t more)
{
    uint64_t n = world_stats(world.service).renewals + more;

    world_wait(has_renewals, &n, "renewals");
}

static bool is_quiet(void *argument)
{
    for (size_t i = 0; i < world.rig.n; i++) {
        struct redlock_node_stats stats;

        ck_assert_int_eq(redlock_service_node_stats(world.service, i, &stats, sizeof stats), 0);
        if (stats.pending > 0)
            return false;
    }
    return true;
}

/* Two masters have not seen the renewals of the last second: when a third one is found to have given the key away, the
 * validity falls back to what those two have granted. No renewal comes through meanwhile, and nothing has ended. */
TEST(five, a_validity_that_falls_back_is_published_at_once)
{
    struct redlock_mutex *mutex = world_new_mutex("key");
    struct redlock_acquire_options request = rig_request(20000, PATIENCE_MS);

    request.renew_ms = 100;
    ck_assert_int_eq(redlock_mutex_acquire(mutex, &request, NULL), REDLOCK_OK);
    world_wait(is_quiet, NULL, "the votes of all masters");
    rig_hang_masters(&world.rig, 3);
    wait_for_renewals(15);
    ck_assert_int_gt(redlock_mutex_remaining_ms(mutex), 19000);
    rig_occupy(&world.rig, 4, "key");
    while (compare(mutex) > INT64_C(18900000000))
        continue;
    ck_assert_int_gt(redlock_mutex_remaining_ms(mutex), 10000);
    rig_resume_masters(&world.rig, 3);
}

TEST(five, a_renewal_is_published_soon)
{
    struct redlock_mutex *mutex = world_new_mutex("key");
    struct redlock_acquire_options request = rig_request(10000, PATIENCE_MS);
    int64_t least_ms = INT64_MAX;

    request.renew_ms = 50;
    ck_assert_int_eq(redlock_mutex_acquire(mutex, &request, NULL), REDLOCK_OK);
    for (int64_t end_ms = rig_now_ms() + 700; rig_now_ms() < end_ms;) {
        int64_t left_ms = redlock_mutex_remaining_ms(mutex);

        least_ms = left_ms < least_ms ? left_ms : least_ms;
    }
    ck_assert_uint_ge(world_stats(world.service).renewals, 2);
    ck_assert_int_gt(redlock_mutex_remaining_ms(mutex), 10000 - 700 - 102);
    ck_assert_int_gt(least_ms, 0);
}

SUITE_WITH_SERVER("validity")
