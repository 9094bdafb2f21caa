/* Semaphores while masters and clients fail: never more than K permits, and those that are free are to be had. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <redlock/semaphore.h>

#include "child_rig.h"
#include "program_rig.h"
#include "watch.h"

#define KEY "pool"
#define TTL_MS 10000
#define MASKS_OF_5 32
#define MOST 8

static struct redlock_lock *permits[MOST];
static struct outcome outcomes[MOST];

static void open_three(void)
{
    memset(outcomes, 0, sizeof outcomes);
    rig_open_with(&rig, 3, 0, rig_tune_for_rivals);
}

static void open_five(void)
{
    memset(outcomes, 0, sizeof outcomes);
    rig_open_with(&rig, 5, 0, rig_tune_for_rivals);
}

static struct redlock_lock *permit_of(struct redlock_client *client, uint32_t limit)
{
    struct redlock_lock *permit;

    ck_assert_int_eq(redlock_permit_create(client, KEY, strlen(KEY), limit, &permit), 0);
    return permit;
}

static struct outcome try_permit(uint32_t limit)
{
    struct redlock_acquire_options request = rig_request(TTL_MS, 0);

    return rig_acquire(&rig, permit_of(rig.client, limit), &request);
}

static void hold(size_t n, uint32_t limit, const struct redlock_acquire_options *request)
{
    for (size_t i = 0; i < n; i++) {
        permits[i] = permit_of(rig.client, limit);
        rig_expect_acquire(&rig, permits[i], request, REDLOCK_OK);
    }
}

static void hold_all(size_t n)
{
    struct redlock_acquire_options request = rig_request(TTL_MS, 0);

    hold(n, (uint32_t)n, &request);
}

static void wait_in_queue(struct redlock_lock *permit, struct outcome *outcome)
{
    struct redlock_acquire_options request = rig_request(TTL_MS, REDLOCK_FOREVER);

    ck_assert_int_eq(redlock_acquire(permit, &request, outcome_record, outcome), 0);
}

static const char *slot_name(const struct redlock_lock *permit)
{
    static char name[32];

    snprintf(name, sizeof name, KEY "#%d", (int)redlock_lock_slot(permit));
    return name;
}

static bool waits(void *argument)
{
    return redlock_state(argument) == REDLOCK_STATE_WAITING;
}

/* --- Masters ------------------------------------------------------------------------------------------------------ */

GROUP(five, "five masters", open_five, rig_end)

TESTS(five, a_quorum_of_masters_is_enough_and_no_less, 0, MASKS_OF_5)
{
    size_t dead = rig_kill_masters(&rig, (unsigned)_i);
    struct outcome outcome;

    for (unsigned n = 0; n < 2; n++) {
        outcome = try_permit(2);
        outcome_expect(&outcome, dead <= 2 ? REDLOCK_OK : REDLOCK_NO_QUORUM);
    }
    outcome = try_permit(2);
    outcome_expect(&outcome, dead <= 2 ? REDLOCK_HELD : REDLOCK_NO_QUORUM);
}

TESTS(five, a_hung_minority_stops_nobody, 0, RIG_MINORITIES_OF_5)
{
    struct redlock_lock *waiter = permit_of(rig_further_client(&rig), 2);

    hold_all(2);
    rig_hang_masters(&rig, rig_minority_of_5(_i));
    wait_in_queue(waiter, &outcomes[0]);
    rig_wait(&rig, waits, waiter, "a waiter");
    ck_assert_int_eq(redlock_release(permits[1], NULL, NULL), 0);
    rig_wait_outcome(&rig, &outcomes[0]);
    outcome_expect(&outcomes[0], REDLOCK_OK);
    rig_resume_masters(&rig, rig_minority_of_5(_i));
}

GROUP(cases, "semaphore_faults", open_three, rig_end)

/* Its client has been refused everywhere, and the hung master has not confirmed the rollbacks. */
TEST(cases, a_freed_permit_is_found_where_rollbacks_are_pending)
{
    struct redlock_client *client = rig_further_client(&rig);
    struct redlock_acquire_options once = rig_request(TTL_MS, 0);
    struct redlock_acquire_options patient = rig_request(TTL_MS, TTL_MS / 2);

    hold_all(MOST);
    for (size_t i = 0; i < MOST; i++)
        rig_wait_count(&rig, slot_name(permits[i]), 3);
    ck_assert(masters_hang(rig.masters, 1));
    for (size_t i = 0; i < 2 * MOST; i++) {
        rig_expect_acquire(&rig, permit_of(client, MOST), &once, REDLOCK_HELD);
    }
    rig_expect_release(&rig, permits[0], REDLOCK_OK);
    rig_expect_acquire(&rig, permit_of(client, MOST), &patient, REDLOCK_OK);
    ck_assert(masters_resume(rig.masters, 1));
}

/* Renewed so often that a vote that was lost comes back soon. */
static void hold_renewed(void)
{
    struct redlock_acquire_options request = rig_request(TTL_MS, 0);

    request.renew_ms = 50;
    hold(2, 2, &request);
}

static void wait_on_all(void)
{
    for (size_t i = 0; i < 2; i++)
        rig_wait_count(&rig, slot_name(permits[i]), rig.n);
}

static void expect_held(void)
{
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(redlock_state(permits[i]), REDLOCK_STATE_HELD);
}

/* Whoever came between a flush and the repair would find the slots free there. Its vote would count for nothing, but
 * those of the holders would be lost. */
static void lose(size_t node, enum rig_loss how)
{
    rig_lose_memory(&rig, node, how);
    if (how == RIG_FLUSHED)
        wait_on_all();
}

/* It has lost all votes, and may not vote for anybody else; it gets them back from their holders. */
TESTS(cases, permits_survive_the_loss_of_a_masters_memory, 0, 3 * RIG_LOSSES)
{
    struct outcome outcome;

    hold_renewed();
    wait_on_all();
    lose((size_t)_i % 3, (enum rig_loss)(_i / 3));
    outcome = try_permit(2);
    outcome_expect(&outcome, REDLOCK_HELD);
    wait_on_all();
    outcome = try_permit(2);
    outcome_expect(&outcome, REDLOCK_HELD);
    expect_held();
}

/* The more masters have forgotten, the fewer may vote; permits that are held stay held. */
TESTS(cases, permits_survive_while_one_master_after_the_other_forgets, 0, RIG_LOSSES)
{
    hold_renewed();
    wait_on_all();
    for (size_t i = 0; i < 3; i++) {
        struct outcome outcome;

        lose(i, (enum rig_loss)_i);
        outcome = try_permit(2);
        outcome_expect(&outcome, i == 0 ? REDLOCK_HELD : REDLOCK_NO_QUORUM);
        wait_on_all();
    }
    expect_held();
}

/* Nobody gives it its votes back meanwhile. */
TESTS(cases, a_master_that_was_flushed_gives_no_permit, 0, 3)
{
    struct redlock_acquire_options request = rig_lease(TTL_MS, 0);
    struct outcome outcome;

    hold(2, 2, &request);
    rig_do(&rig, (size_t)_i, "FLUSHALL", NULL);
    outcome = try_permit(2);
    outcome_expect(&outcome, REDLOCK_HELD);
    outcome = try_permit(3);
    outcome_expect(&outcome, REDLOCK_OK);
    expect_held();
}

TEST(cases, full_masters_give_no_permits_and_keep_those_that_are_held)
{
    struct outcome outcome;

    hold_all(2);
    rig_do_all(&rig, "CONFIG", "SET", "maxmemory", "1", NULL);
    outcome = try_permit(3);
    ck_assert_int_ne(outcome.status, REDLOCK_OK);
    outcome = rig_expect_extend(&rig, permits[0], 0, REDLOCK_OK);
    outcome = rig_expect_release(&rig, permits[1], REDLOCK_OK);
    rig_do_all(&rig, "CONFIG", "SET", "maxmemory", "0", NULL);
    outcome = try_permit(2);
    outcome_expect(&outcome, REDLOCK_OK);
}

/* --- Names that are taken ----------------------------------------------------------------------------------------- */

TEST(cases, a_foreign_key_takes_a_slot_and_no_more)
{
    struct outcome outcome;

    rig_do_all(&rig, "RPUSH", KEY "#1", "not ours", NULL);
    for (unsigned i = 0; i < 2; i++) {
        outcome = try_permit(3);
        outcome_expect(&outcome, REDLOCK_OK);
    }
    outcome = try_permit(3);
    outcome_expect(&outcome, REDLOCK_HELD);
    ck_assert_uint_eq(masters_count_key(rig.masters, KEY "#1"), 3);
}

/* Nobody can be told of other slots then: waiters find them by themselves. */
TEST(cases, a_directory_that_is_taken_stops_nobody)
{
    struct redlock_lock *waiter = permit_of(rig_further_client(&rig), 2);

    rig_do_all(&rig, "SET", "redlock:permits:" KEY, "not ours", NULL);
    rig_do_all(&rig, "SET", "redlock:permit-waiters:" KEY, "not ours", NULL);
    hold_all(2);
    wait_in_queue(waiter, &outcomes[0]);
    rig_wait(&rig, waits, waiter, "a waiter");
    ck_assert_int_eq(redlock_release(permits[0], NULL, NULL), 0);
    rig_wait_outcome(&rig, &outcomes[0]);
    outcome_expect(&outcomes[0], REDLOCK_OK);
}

/* --- Processes ---------------------------------------------------------------------------------------------------- */

enum { N_PROCESSES = 3, HANDLES = 3, LIMIT = 4, ROUNDS = 12 };

struct shared {
    atomic_int holders;
    atomic_int most;
};

struct task {
    struct redlock_lock *permit;
    struct shared *shared;
    unsigned left;
    unsigned *running;
};

static void on_held(struct redlock_lock *permit, const struct redlock_result *result, void *user_data);

static void begin(struct task *task)
{
    struct redlock_acquire_options request = rig_request(TTL_MS, REDLOCK_FOREVER);

    if (task->left-- == 0)
        --*task->running;
    else if (redlock_acquire(task->permit, &request, on_held, task) != 0)
        _exit(3);
}

static void on_free(struct redlock_lock *permit, const struct redlock_result *result, void *user_data)
{
    begin(user_data);
}

static void let_go(evutil_socket_t fd, short what, void *user_data)
{
    struct task *task = user_data;

    atomic_fetch_sub(&task->shared->holders, 1);
    if (redlock_release(task->permit, on_free, task) != 0)
        _exit(5);
}

/* For a moment, so that others hold theirs meanwhile. */
static void on_held(struct redlock_lock *permit, const struct redlock_result *result, void *user_data)
{
    const struct timeval moment = {0, 2000};
    struct task *task = user_data;
    int now = atomic_fetch_add(&task->shared->holders, 1) + 1;

    if (result->status != REDLOCK_OK)
        _exit(4);
    if (now > atomic_load(&task->shared->most))
        atomic_store(&task->shared->most, now);
    if (event_base_once(rig.base, -1, EV_TIMEOUT, let_go, task, &moment) != 0)
        _exit(6);
}

static int take_and_give(struct rig *child, void *argument)
{
    struct task tasks[HANDLES];
    unsigned running = HANDLES;

    for (size_t i = 0; i < HANDLES; i++) {
        tasks[i] = (struct task){permit_of(child->client, LIMIT), argument, ROUNDS, &running};
        begin(&tasks[i]);
    }
    while (running)
        event_base_loop(child->base, EVLOOP_ONCE);
    return 0;
}

TEST(cases, rivals_never_hold_more_than_there_are)
{
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t children[N_PROCESSES];

    ck_assert_ptr_ne(shared, MAP_FAILED);
    for (size_t i = 0; i < N_PROCESSES; i++)
        children[i] = child_start(&rig, take_and_give, shared);
    for (size_t i = 0; i < N_PROCESSES; i++)
        rig_wait_child(&rig, children[i]);
    ck_assert_int_le(atomic_load(&shared->most), LIMIT);
    ck_assert_int_gt(atomic_load(&shared->most), 0);
    munmap(shared, sizeof *shared);
}

static int hold_and_stay(struct rig *child, void *unused)
{
    struct redlock_acquire_options request = rig_request(1000, REDLOCK_FOREVER);
    struct outcome outcome = rig_acquire(child, permit_of(child->client, 2), &request);

    return outcome.status == REDLOCK_OK ? child_stay(child) : 1;
}

static int wait_and_stay(struct rig *child, void *unused)
{
    struct redlock_lock *permit = permit_of(child->client, 2);
    struct redlock_acquire_options request = rig_request(1000, REDLOCK_FOREVER);
    struct outcome outcome = {0};

    if (redlock_acquire(permit, &request, outcome_record, &outcome) != 0)
        return 1;
    rig_wait(child, waits, permit, "a waiter");
    rig_wait_quiet(child, child->client);
    return child_stay(child);
}

/* A permit is free again when the ttl of the dead holder has ended. */
TEST(cases, the_permit_of_a_killed_process_comes_back)
{
    struct redlock_lock *waiter = permit_of(rig.client, 2);

    child_kill(child_start_ready(&rig, hold_and_stay, NULL));
    child_kill(child_start_ready(&rig, hold_and_stay, NULL));
    wait_in_queue(waiter, &outcomes[0]);
    rig_wait_outcome(&rig, &outcomes[0]);
    outcome_expect(&outcomes[0], REDLOCK_OK);
}

/* It is the first in its queue, and in the directory. */
TEST(cases, a_killed_waiter_delays_others_for_its_lease)
{
    struct redlock_lock *waiter = permit_of(rig.client, 2);

    hold_all(2);
    child_kill(child_start_ready(&rig, wait_and_stay, NULL));
    wait_in_queue(waiter, &outcomes[0]);
    rig_wait(&rig, waits, waiter, "a waiter");
    redlock_release(permits[0], NULL, NULL);
    redlock_release(permits[1], NULL, NULL);
    rig_wait_outcome(&rig, &outcomes[0]);
    outcome_expect(&outcomes[0], REDLOCK_OK);
}

SUITE_WITH_SERVER("semaphore_faults")
