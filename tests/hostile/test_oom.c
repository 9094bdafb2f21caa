/* Without memory, descriptors or threads: the allocations of a run are counted, then the i-th fails, for every i.
 *
 * The library is linked statically, with --wrap for whatever it takes from the system; hiredis, which has no hook in
 * its older versions, fails at its two allocating functions; libevent's allocations are hooked in a pass of their own.
 * Whatever fails: no crash, no leak (with the address sanitizer), each accepted operation calls back once, and when
 * memory is there again the same client locks again. Here the classic profile; test_oom_guarded.c has the other one. */
#include <limits.h>
#include <redlock/metrics.h>
#include <stdio.h>
#include <string.h>

#include "oom_rig.h"

/* --- The run ------------------------------------------------------------------------------------------------- */

static void acquire(struct redlock_lock *lock)
{
    struct redlock_acquire_options request;
    struct outcome outcome = {0};

    oom_request(&request);
    oom_await(redlock_acquire(lock, &request, outcome_record, &outcome), &outcome);
}

static void extend(struct redlock_lock *lock)
{
    struct outcome outcome = {0};

    oom_await(redlock_extend(lock, 0, outcome_record, &outcome), &outcome);
}

/* So deep that the memory for it grows twice. An entry that was refused for want of memory is none. */
static void enter_and_leave(struct redlock_lock *lock)
{
    struct outcome outcome = {0};
    uint32_t depth = redlock_lock_depth(lock);
    unsigned entered = 0;

    for (unsigned i = 0; depth && i < 10; i++) {
        int status = redlock_reenter(lock, 0);

        ck_assert_msg(status == 0 || status == REDLOCK_E_NOMEM, "%s", redlock_status_name(status));
        entered += status == 0;
        ck_assert_uint_eq(redlock_lock_depth(lock), depth + entered);
    }
    for (unsigned i = 0; i < entered; i++)
        ck_assert_int_eq(redlock_release(lock, outcome_record, &outcome), 0);
    if (entered)
        world_wait_outcome(&outcome);
    ck_assert_uint_eq(outcome.calls, entered);
}

static void release_token(struct redlock_lock *lock, const char *token)
{
    struct outcome outcome = {0};

    oom_await(redlock_release_token(lock, token, outcome_record, &outcome), &outcome);
}

/* Acquire, extend, release, contend, lose a master. */
static void use_one_by_one(void)
{
    struct redlock_lock *lock = oom_lock("free"), *taken = oom_lock("taken");

    if (lock) {
        acquire(lock);
        enter_and_leave(lock);
        extend(lock);
        oom_release(lock);
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

#define N_LOCKS 24

/* So many and so long that every buffer has to grow. */
static void use_at_once(void)
{
    struct outcome outcomes[N_LOCKS] = {{0}};
    struct redlock_lock *locks[N_LOCKS];
    int statuses[N_LOCKS];
    char key[REDLOCK_MAX_KEY_BYTES + 1];

    memset(key, 'k', sizeof key);
    for (size_t i = 0; i < N_LOCKS; i++) {
        snprintf(key + sizeof key - 4, 4, "%03zu", i);
        locks[i] = oom_lock(key);
        statuses[i] =
            locks[i] ? redlock_acquire(locks[i], NULL, outcome_record, &outcomes[i]) : REDLOCK_E_NOMEM;
    }
    for (size_t i = 0; i < N_LOCKS; i++)
        oom_await(statuses[i], &outcomes[i]);
    for (size_t i = 0; i < N_LOCKS; i++)
        redlock_lock_destroy(locks[i]);
}

static void prepare(void)
{
    toy_set(world.toys[1], "taken", "somebody");
    toy_set(world.toys[2], "taken", "somebody");
}

static void use_client(void)
{
    use_one_by_one();
    use_at_once();
}

static const struct oom_scenario scenario = {prepare, use_client};

static void open_three_with_events_that_fail(void)
{
    oom_open_with_libevent(REDLOCK_PROFILE_CLASSIC);
}

GROUP(library, "library", oom_open_classic, world_close)
GROUP(both, "library and libevent", open_three_with_events_that_fail, world_close)

TEST(library, any_one_allocation_of_the_library_may_fail)
{
    oom_fail_each(&scenario, 1);
}

TEST(library, any_ten_allocations_of_the_library_may_fail)
{
    oom_fail_each(&scenario, 10);
}

TEST(library, the_client_may_be_destroyed_without_memory)
{
    oom_destroy_each(NULL);
}

TEST(both, any_one_allocation_of_libevent_or_the_library_may_fail)
{
    oom_fail_each(&scenario, 1);
}

TEST(both, any_four_allocations_of_libevent_or_the_library_may_fail)
{
    oom_fail_each(&scenario, 4);
}

/* --- Credentials ------------------------------------------------------------------------------------------------ */

/* Without memory there is no answer, and the library asks again. */
static void on_credentials(struct redlock_credentials_request *request,
                           const struct redlock_credentials_wanted *wanted, void *user_data)
{
    struct redlock_credentials credentials;
    int status;

    redlock_credentials_init(&credentials);
    credentials.user = "user";
    credentials.password = "password";
    credentials.good_for_ms = 1;
    status = redlock_credentials_answer(request, &credentials);
    ck_assert_msg(status == 0 || oom_is_shortage(status), "%s", redlock_status_name(status));
    if (status < 0)
        ck_assert_int_eq(redlock_credentials_fail(request, redlock_strerror(status)), 0);
}

static void open_three_that_ask(void)
{
    oom_open_classic();
    world.options.on_credentials = on_credentials;
}

static void open_three_with_events_that_fail_and_ask(void)
{
    open_three_with_events_that_fail();
    world.options.on_credentials = on_credentials;
}

GROUP(asking, "credentials", open_three_that_ask, world_close)
GROUP(asking_both, "credentials and libevent", open_three_with_events_that_fail_and_ask, world_close)

/* --- Names --------------------------------------------------------------------------------------------------- */

static bool has_tried(void *argument)
{
    struct redlock_node_stats stats;

    ck_assert_int_eq(redlock_client_node_stats(argument, 0, &stats, sizeof stats), 0);
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
    ck_assert(status == 0 || oom_is_shortage(status));
    if (client)
        world_wait(has_tried, client, "attempts to connect");
    redlock_client_destroy(client);
    shortage.armed = false;
}

TEST(library, a_lookup_may_lack_memory_descriptors_or_a_thread)
{
    for (unsigned first = 1; first <= 40; first++)
        look_up(first);
}

/* A page of statistics is wanted most when something runs short. */
TEST(library, metrics_are_written_without_memory)
{
    static char page[32768];

    world_connect();
    shortage = (struct shortage){.armed = true, .first = 1, .burst = UINT_MAX};
    ck_assert_int_gt(redlock_client_metrics(world.client, NULL, 0, page, sizeof page), 0);
    shortage.armed = false;
    ck_assert_uint_eq(shortage.count, 0);
}

TEST_AGAIN(asking, any_one_allocation_of_the_library_may_fail)
TEST_AGAIN(asking, the_client_may_be_destroyed_without_memory)
TEST_AGAIN(asking_both, any_one_allocation_of_libevent_or_the_library_may_fail)
TEST_AGAIN(both, the_client_may_be_destroyed_without_memory)

SUITE("oom")
