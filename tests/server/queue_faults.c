/* Waiting in the queue while clients and masters die. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "child_rig.h"
#include "program_rig.h"
#include "queue_rig.h"
#include "watch.h"

#define LEASE_MS 2000
#define SOON_NS INT64_C(100000000)

static struct waiter waiters[4];

static void open_five(void)
{
    queue_open();
    rig_open(&rig, 5);
}

static void open_durable(void)
{
    struct masters_options options = {.count = 5, .persistence = MASTERS_ALWAYS};

    queue_open();
    rig_start(&rig, &options);
    rig_connect(&rig);
}

/* --- Other processes ---------------------------------------------------------------------------------------------- */

static void on_child_held(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    if (result->status == REDLOCK_OK)
        (void)!write(*(int *)user_data, "h", 1);
}

/* A process that takes the key, or waits for it, and does nothing more; it says 'h' when it holds it. */
static pid_t fork_client(const char *key, uint32_t ttl_ms, int *ret_hears)
{
    struct redlock_acquire_options request = rig_request(ttl_ms, REDLOCK_FOREVER);
    int ends[2];
    pid_t pid;

    ck_assert_int_eq(pipe(ends), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        close(ends[0]);
        rig.base = event_base_new();
        request.max_hold_ms = 1; /* it is not renewed: what remains when it is killed is known */
        suite_any(redlock_acquire(rig_new_lock(rig_new_client(&rig), key), &request, on_child_held, &ends[1]));
        event_base_dispatch(rig.base);
        _exit(1);
    }
    close(ends[1]);
    *ret_hears = ends[0];
    return pid;
}

static void wait_held_elsewhere(int hears)
{
    char letter = 0;

    ck_assert_int_eq(read(hears, &letter, 1), 1);
    ck_assert_int_eq(letter, 'h');
    close(hears);
}

static bool one_waits(void *argument)
{
    for (size_t i = 0; i < rig.n; i++) {
        if (queue_length(&rig, i, argument) != 1)
            return false;
    }
    return true;
}

/* How late the one that waits gets the key of a holder that was killed: after the end of its ttl. */
static int64_t lateness_after_the_holder(const char *key)
{
    struct redlock_acquire_options request = queue_request();
    int hears;
    pid_t holder = fork_client(key, 3000, &hears);
    int64_t ends_ns = 0;

    wait_held_elsewhere(hears);
    waiter_take(&rig, &waiters[0], rig.client, key, &request);
    child_kill(holder);
    for (size_t i = 0; i < rig.n; i++) {
        int64_t end_ns = rig_pttl(&rig, i, key) * INT64_C(1000000);

        end_ns += watch_now_ns();
        ends_ns = end_ns > ends_ns ? end_ns : ends_ns;
    }
    waiter_wait_held(&waiters[0]);
    waiter_end(&waiters[0]);
    return waiters[0].held_at_ns - ends_ns;
}

/* The same of one that was killed while it was the next: after the end of its lease. */
static int64_t lateness_after_the_head(const char *key)
{
    struct redlock_acquire_options request = queue_request();
    struct redlock_lock *holder = rig_hold(&rig, key, 10000);
    int64_t killed_ns;
    int hears;
    pid_t head = fork_client(key, 10000, &hears);

    rig_wait(&rig, one_waits, (void *)(uintptr_t)key, "the head to be in the queue");
    waiter_take(&rig, &waiters[0], rig.client, key, &request);
    child_kill(head);
    killed_ns = watch_now_ns();
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    waiter_wait_held(&waiters[0]);
    waiter_end(&waiters[0]);
    close(hears);
    return waiters[0].held_at_ns - killed_ns - LEASE_MS * INT64_C(1000000);
}

/* A loaded machine may delay any wake-up: the best of several is what the library does. */
static void expect_soon(int64_t (*lateness)(const char *key))
{
    int64_t best_ns = INT64_MAX;

    for (int i = 0; i < RIG_LATE_ATTEMPTS && best_ns > SOON_NS; i++) {
        char key[16];
        int64_t late_ns;

        snprintf(key, sizeof key, "dead %d", i);
        late_ns = lateness(key);
        best_ns = late_ns < best_ns ? late_ns : best_ns;
    }
    ck_assert_int_le(best_ns, SOON_NS);
}

GROUP(clients, "clients", open_five, rig_end)

TEST(clients, when_the_holder_is_killed_the_next_one_holds_as_soon_as_the_ttl_is_over)
{
    expect_soon(lateness_after_the_holder);
}

TEST(clients, when_the_head_of_the_line_is_killed_the_next_one_holds_within_its_lease)
{
    expect_soon(lateness_after_the_head);
}

/* --- Masters ------------------------------------------------------------------------------------------------------ */

/* One at a time and in order, as without faults. */
static void serve(struct redlock_lock *holder, size_t n)
{
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    for (unsigned i = 0; i < n; i++) {
        waiter_wait_held(&waiters[i]);
        ck_assert_uint_eq(waiters[i].turn, i + 1);
        for (unsigned j = i + 1; j < n; j++)
            ck_assert_uint_eq(waiters[j].outcome.calls, 0);
        waiter_leave(&waiters[i]);
    }
}

GROUP(masters, "masters", open_five, rig_end)

TESTS(masters, masters_that_are_killed_meanwhile_change_nothing, 1, 3)
{
    struct redlock_lock *holder = rig_hold(&rig, "kill", 10000);

    queue_fill(&rig, waiters, 4, "kill");
    for (size_t i = 0; i < (size_t)_i; i++)
        ck_assert(masters_kill(rig.masters, i));
    serve(holder, 4);
    queue_wait_gone(&rig, "kill");
}

TESTS(masters, masters_that_hang_meanwhile_change_nothing, 1, 3)
{
    struct redlock_lock *holder = rig_hold(&rig, "hang", 10000);

    queue_fill(&rig, waiters, 4, "hang");
    for (size_t i = 0; i < (size_t)_i; i++)
        ck_assert(masters_hang(rig.masters, i));
    serve(holder, 4);
    for (size_t i = 0; i < (size_t)_i; i++)
        ck_assert(masters_resume(rig.masters, i));
    queue_wait_gone(&rig, "hang");
}

/* In the guarded profile they do not vote for a while; the others are enough. */
TEST(masters, masters_that_are_restarted_meanwhile_change_nothing)
{
    struct redlock_lock *holder = rig_hold(&rig, "restart", 10000);

    queue_fill(&rig, waiters, 4, "restart");
    for (size_t i = 0; i < 2; i++) {
        rig_kill_master(&rig, i);
        ck_assert(masters_restart(rig.masters, i));
    }
    for (size_t i = 0; i < 2; i++)
        rig_wait_link(&rig, rig.client, i, REDLOCK_LINK_READY);
    serve(holder, 4);
    queue_wait_gone(&rig, "restart");
}

/* A place in the queue that lasts while a loaded machine starts masters: its lease is twice the validity wanted. */
#define LONG_LEASE_MS 16000

static void fill_lasting_queue(size_t n, const char *key)
{
    struct redlock_acquire_options request = rig_request(60000, REDLOCK_FOREVER);

    request.min_validity_ms = LONG_LEASE_MS / 2;
    for (size_t i = 0; i < n; i++)
        waiter_take(&rig, &waiters[i], rig.client, key, &request);
}

GROUP(durable, "durable masters", open_durable, rig_end)

TEST(durable, the_order_is_kept_when_durable_masters_are_restarted_one_after_the_other)
{
    struct redlock_lock *holder = rig_hold(&rig, "roll", 60000);

    fill_lasting_queue(3, "roll");
    for (size_t i = 0; i < 5; i++) {
        rig_kill_master(&rig, i);
        ck_assert(masters_restart(rig.masters, i));
        rig_wait_vote(&rig, rig.client, i);
        for (size_t j = 0; j < 3; j++)
            waiter_wait_in_queue(&waiters[j], 5);
    }
    serve(holder, 3);
    queue_wait_gone(&rig, "roll");
}

/* Nobody can be asked when the refreshes are due. */
TEST(durable, the_order_is_kept_when_all_durable_masters_are_away_for_less_than_a_lease)
{
    struct redlock_lock *holder = rig_hold(&rig, "away", 60000);

    fill_lasting_queue(3, "away");
    for (size_t i = 0; i < 5; i++)
        rig_kill_master(&rig, i);
    rig_run_for(&rig, LONG_LEASE_MS / 4 + 500);
    for (size_t i = 0; i < 5; i++)
        ck_assert(masters_restart(rig.masters, i));
    serve(holder, 3);
    queue_wait_gone(&rig, "away");
}

/* --- Notifications ------------------------------------------------------------------------------------------------ */

GROUP(notifications, "notifications", open_five, rig_end)

TEST(notifications, listening_connections_that_are_killed_come_back_and_nobody_is_forgotten)
{
    struct redlock_lock *holder = rig_hold(&rig, "killed", 10000);

    queue_fill(&rig, waiters, 4, "killed");
    rig_do_all(&rig, "CLIENT", "KILL", "TYPE", "pubsub", NULL);
    serve(holder, 4);
}

/* The user may do anything but listen, or tell. */
TESTS(notifications, without_the_right_to_notify_each_turn_comes_by_a_refresh, 0, 2)
{
    static const char *const commands[] = {"-subscribe", "-publish"};
    struct redlock_lock *holder;

    rig_do_all(&rig, "ACL", "SETUSER", "default", commands[_i], NULL);
    holder = rig_hold(&rig, "mute", 10000);
    queue_fill(&rig, waiters, 2, "mute");
    serve(holder, 2);
    ck_assert_uint_eq(watch_stats(rig.client).hand_offs, 0);
    queue_wait_gone(&rig, "mute");
}

SUITE_WITH_SERVER("queue_faults")
