/* Without memory, descriptors or threads: the allocations of a run are counted, then the i-th fails, for every i.
 *
 * The library is linked statically, with --wrap for whatever it takes from the system; hiredis, which has no hook in
 * its older versions, fails at its two allocating functions; libevent's allocations are hooked in a pass of their own.
 * Whatever fails: no crash, no leak (with the address sanitizer), each accepted operation calls back once, and when
 * memory is there again the same client locks again. */
#include <stdio.h>
#include <string.h>

#include "shortage.h"
#include "world.h"

/* --- The run ------------------------------------------------------------------------------------------------- */

static bool is_shortage(int status)
{
    return status == REDLOCK_E_NOMEM || status == REDLOCK_E_SYSTEM;
}

/* An operation that is accepted must call back; one that is not must say why. */
static void await(int status, const struct outcome *outcome)
{
    if (status == 0)
        world_wait_outcome(outcome);
    else
        ck_assert_msg(is_shortage(status) || status == REDLOCK_E_NOT_HELD, "%s", redlock_status_name(status));
    ck_assert_uint_eq(outcome->calls, status == 0);
}

static void acquire(struct redlock_lock *lock)
{
    struct redlock_acquire_options wish;
    struct outcome outcome = {0};

    redlock_acquire_options_init(&wish);
    wish.timeout_ms = 40;
    wish.retry_delay_ms = wish.retry_jitter_ms = 2;
    await(redlock_acquire(lock, &wish, outcome_record, &outcome), &outcome);
}

static void extend(struct redlock_lock *lock)
{
    struct outcome outcome = {0};

    await(redlock_extend(lock, 0, outcome_record, &outcome), &outcome);
}

static void release(struct redlock_lock *lock)
{
    struct outcome outcome = {0};

    await(redlock_release(lock, outcome_record, &outcome), &outcome);
}

static void release_token(struct redlock_lock *lock, const char *token)
{
    struct outcome outcome = {0};

    await(redlock_release_token(lock, token, outcome_record, &outcome), &outcome);
}

static struct redlock_lock *make_lock(const char *key)
{
    struct redlock_lock *lock = NULL;
    int status = redlock_lock_create(world.client, key, strlen(key), &lock);

    ck_assert_msg(status == 0 || is_shortage(status), "%s", redlock_status_name(status));
    ck_assert((status == 0) == (lock != NULL));
    return lock;
}

/* Acquire, extend, release, contend, lose a master. */
static void use_client(void)
{
    struct redlock_lock *lock = make_lock("free"), *taken = make_lock("taken");

    if (lock) {
        acquire(lock);
        extend(lock);
        release(lock);
    }
    if (taken)
        acquire(taken);
    toy_hang_up(world.toys[0]);
    if (lock)
        acquire(lock);
    if (taken)
        release_token(taken, "somebody else's");
    redlock_lock_destroy(lock);
    redlock_lock_destroy(taken);
}

#define CROWD 24

/* So many and so long that every buffer has to grow. */
static void use_client_at_once(void)
{
    struct outcome outcomes[CROWD] = {{0}};
    struct redlock_lock *locks[CROWD];
    int statuses[CROWD];
    char key[REDLOCK_MAX_KEY_BYTES + 1];

    memset(key, 'k', sizeof(key));
    for (size_t i = 0; i < CROWD; i++) {
        snprintf(key + sizeof(key) - 4, 4, "%03zu", i);
        locks[i] = make_lock(key);
        statuses[i] =
            locks[i] ? redlock_acquire(locks[i], NULL, outcome_record, &outcomes[i]) : REDLOCK_E_NOMEM;
    }
    for (size_t i = 0; i < CROWD; i++)
        await(statuses[i], &outcomes[i]);
    for (size_t i = 0; i < CROWD; i++)
        redlock_lock_destroy(locks[i]);
}

static unsigned shutdowns;

static void on_shutdown(struct redlock_client *client, int status, void *user_data)
{
    (void)client;
    (void)status;
    (void)user_data;
    shutdowns++;
}

static bool has_shut_down(void *argument)
{
    (void)argument;
    return shutdowns > 0;
}

/* There is memory again. */
static void expect_recovery(void)
{
    struct redlock_stats stats;

    for (size_t i = 0; i < world.n; i++)
        world_wait_link(world.client, i, REDLOCK_LINK_READY);
    world_hold(world.client, "after");
    shutdowns = 0;
    ck_assert_int_eq(redlock_client_shutdown(world.client, 10000, on_shutdown, NULL), 0);
    world_wait(has_shut_down, NULL, "the end of the shutdown");
    world_wait_clean(world.client);
    ck_assert_int_eq(redlock_client_stats(world.client, &stats, sizeof(stats)), 0);
    ck_assert_uint_eq(stats.claims, 0);
}

static void expect_clean_masters(void)
{
    for (size_t i = 0; i < world.n; i++) {
        ck_assert_uint_eq(toy_count(world.toys[i]), i > 0);
        toy_forget(world.toys[i]);
    }
}

static void create_client(unsigned first, unsigned burst)
{
    int status;

    shortage.count = 0;
    shortage.first = first;
    shortage.burst = burst;
    shortage.armed = true;
    status = redlock_client_create(world.base, world.urls, world.n, &world.options, &world.client, NULL);
    ck_assert_msg(status == 0 || is_shortage(status), "%s", redlock_status_name(status));
    ck_assert((status == 0) == (world.client != NULL));
}

static void run(unsigned first, unsigned burst)
{
    toy_set(world.toys[1], "taken", "somebody");
    toy_set(world.toys[2], "taken", "somebody");
    create_client(first, burst);
    if (world.client) {
        use_client();
        use_client_at_once();
        shortage.armed = false;
        expect_recovery();
    }
    shortage.armed = false;
    redlock_client_destroy(world.client);
    world.client = NULL;
    world_steps(2);
    expect_clean_masters();
}

static void fail_each(unsigned burst)
{
    unsigned first = 1;

    do
        run(first, burst);
    while (shortage.count >= first++);
    ck_assert_uint_gt(first, 50); /* the hooks are in place */
}

/* Destroyed in the middle, and nobody to come back to: what a master keeps, it keeps for its ttl. */
static void run_into_destroy(unsigned first, unsigned turns)
{
    struct outcome outcome = {0};
    struct redlock_lock *lock;
    unsigned accepted;

    create_client(first, 1000);
    if (!world.client)
        return;
    lock = make_lock("key");
    accepted = lock && redlock_acquire(lock, NULL, outcome_record, &outcome) == 0;
    world_steps(turns);
    redlock_client_destroy(world.client);
    shortage.armed = false;
    world.client = NULL;
    ck_assert_uint_eq(outcome.calls, accepted);
    world_steps(2);
    for (size_t i = 0; i < world.n; i++)
        toy_forget(world.toys[i]);
}

START_TEST(the_client_may_be_destroyed_without_memory)
{
    for (unsigned first = 1; first <= 120; first++) {
        for (unsigned turns = 0; turns < 8; turns++)
            run_into_destroy(first, turns);
    }
}
END_TEST

static void set_options(void)
{
    world.options.backoff_min_ms = 1;
    world.options.backoff_max_ms = 2;
    world.options.node_timeout_ms = 20;
    world.options.connect_timeout_ms = 500;
    world.options.stall_timeout_ms = 500;
}

static void open_three(void)
{
    world_open(3);
    set_options();
}

static void close_world(void)
{
    world_close();
}

START_TEST(any_one_allocation_of_the_library_may_fail)
{
    fail_each(1);
}
END_TEST

START_TEST(any_ten_allocations_of_the_library_may_fail)
{
    fail_each(10);
}
END_TEST

/* libevent takes its functions before its first allocation. */
static void open_three_with_events_that_fail(void)
{
    shortage_hook_libevent();
    open_three();
}

START_TEST(any_one_allocation_of_libevent_or_the_library_may_fail)
{
    fail_each(1);
}
END_TEST

START_TEST(any_four_allocations_of_libevent_or_the_library_may_fail)
{
    fail_each(4);
}
END_TEST

/* --- Names --------------------------------------------------------------------------------------------------- */

static bool has_tried(void *argument)
{
    struct redlock_node_stats stats;

    ck_assert_int_eq(redlock_client_node_stats(argument, 0, &stats, sizeof(stats)), 0);
    return stats.disconnects >= 3;
}

/* Port 1 is nobody's: the point is the thread, its descriptor, and what comes after. */
static void look_up(unsigned first)
{
    const char *url = "redis://localhost:1";
    struct redlock_client *client = NULL;
    int status;

    shortage.count = 0;
    shortage.first = first;
    shortage.burst = 1;
    shortage.armed = true;
    status = redlock_client_create(world.base, &url, 1, &world.options, &client, NULL);
    ck_assert(status == 0 || is_shortage(status));
    if (client)
        world_wait(has_tried, client, "attempts to connect");
    redlock_client_destroy(client);
    shortage.armed = false;
}

START_TEST(a_lookup_may_lack_memory_descriptors_or_a_thread)
{
    for (unsigned first = 1; first <= 40; first++)
        look_up(first);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("oom");
    TCase *library = suite_add_case(suite, "library", open_three, close_world);
    TCase *both = suite_add_case(suite, "library and libevent", open_three_with_events_that_fail, close_world);

    tcase_add_test(library, any_one_allocation_of_the_library_may_fail);
    tcase_add_test(library, any_ten_allocations_of_the_library_may_fail);
    tcase_add_test(library, the_client_may_be_destroyed_without_memory);
    tcase_add_test(library, a_lookup_may_lack_memory_descriptors_or_a_thread);
    tcase_add_test(both, any_one_allocation_of_libevent_or_the_library_may_fail);
    tcase_add_test(both, the_client_may_be_destroyed_without_memory);
    tcase_add_test(both, any_four_allocations_of_libevent_or_the_library_may_fail);
    return suite_run(suite);
}
