/* What of an arrival at a latch survives which fault of masters and processes. */
#include <string.h>

#include "child_rig.h"
#include "clock_fault.h"
#include "latch_rig.h"
#include "suite.h"
#include "watch.h"

static const char *wanted;

static bool all_have(void *argument)
{
    return latch_count_field(wanted) == rig.n;
}

static void wait_until_all_have(const char *name)
{
    wanted = name;
    rig_wait(&rig, all_have, NULL, name);
}

static void restart_master(size_t node)
{
    ck_assert(masters_restart(rig.masters, node));
    rig_wait_link(&rig, rig.client, node, REDLOCK_LINK_READY);
}

static unsigned count_bits(int mask)
{
    return (unsigned)((mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1));
}

GROUP(failures, "failures", latch_open, latch_close)

TESTS(failures, a_quorum_is_needed_and_enough, 0, 1 << LATCH_MASTERS)
{
    bool enough = count_bits(_i) <= 1;
    struct party a = latch_join(2, "a");
    struct party b = latch_join(2, "b");

    for (size_t i = 0; i < LATCH_MASTERS; i++) {
        if (_i >> i & 1)
            latch_kill_master(i);
    }
    latch_arrive(&a, 0, enough ? REDLOCK_OK : REDLOCK_DEADLINE);
    latch_arrive(&b, 0, enough ? REDLOCK_OK : REDLOCK_DEADLINE);
    latch_await(&a, 0, enough ? REDLOCK_OK : REDLOCK_DEADLINE);
    if (enough)
        return;
    ck_assert_int_eq(a.arrival.cause, REDLOCK_NO_QUORUM);
    ck_assert_int_eq(a.wait.cause, REDLOCK_NO_QUORUM);
    ck_assert_ptr_nonnull(strstr(a.why, "of 3 masters can be reached"));
    for (size_t i = 0; i < LATCH_MASTERS; i++)
        ck_assert_int_eq(a.details[i][0] != '\0', _i >> i & 1);
}

TEST(failures, what_could_not_be_recorded_is_recorded_when_masters_are_back)
{
    struct party a = latch_join(2, "a");
    struct party b = latch_join(2, "b");

    for (size_t i = 0; i < LATCH_MASTERS; i++)
        latch_kill_master(i);
    latch_arrive(&a, 0, REDLOCK_DEADLINE);
    latch_begin_arrival(&b, REDLOCK_FOREVER);
    latch_begin_wait(&b, REDLOCK_FOREVER);
    for (size_t i = 0; i < LATCH_MASTERS; i++)
        restart_master(i);
    latch_expect_arrival(&b, REDLOCK_OK);
    latch_expect_wait(&b, REDLOCK_OK); /* so the arrival that had failed was repeated */
}

TEST(failures, silent_masters_are_awaited_for_node_timeout)
{
    struct party a = latch_join(1, "a");

    ck_assert(masters_hang(rig.masters, 0));
    latch_arrive(&a, 0, REDLOCK_OK);
    latch_await(&a, 0, REDLOCK_OK);
    ck_assert(masters_hang(rig.masters, 1));
    latch_await(&a, 0, REDLOCK_DEADLINE);
    ck_assert_int_eq(a.wait.cause, REDLOCK_NO_QUORUM);
    ck_assert_ptr_nonnull(strstr(a.why, "1 of 3 masters have answered"));
    latch_begin_wait(&a, REDLOCK_FOREVER);
    ck_assert(masters_resume(rig.masters, 0));
    ck_assert(masters_resume(rig.masters, 1));
    latch_expect_wait(&a, REDLOCK_OK);
}

/* They have been asked, and nobody waits for them in vain. */
TEST(failures, masters_that_die_with_a_question_are_not_awaited)
{
    struct party a = latch_join(1, "a");

    rig_hang_masters(&rig, 0x3);
    latch_begin_arrival(&a, 0);
    for (size_t i = 0; i < 2; i++)
        ck_assert(masters_kill(rig.masters, i));
    latch_expect_arrival(&a, REDLOCK_DEADLINE);
    ck_assert_int_eq(a.arrival.cause, REDLOCK_NO_QUORUM);
    for (size_t i = 0; i < 2; i++)
        ck_assert_msg(!strstr(a.details[i], "timeout"), "%s", a.details[i]);
}

TEST(failures, masters_in_quarantine_are_asked)
{
    struct party a = latch_join(1, "a");

    for (size_t i = 0; i < 2; i++) {
        latch_kill_master(i);
        restart_master(i);
    }
    ck_assert_int_ne(watch_info(rig.client, 0).standing, REDLOCK_STANDING_VOTES);
    latch_kill_master(2);
    latch_arrive(&a, 0, REDLOCK_OK);
    latch_await(&a, 0, REDLOCK_OK);
    ck_assert_uint_eq(a.wait.confirmed, 2);
}

/* All masters in turn, and then all at once. */
TEST(failures, handles_bring_arrivals_back_that_masters_have_lost)
{
    struct redlock_client *other = rig_further_client(&rig);
    struct party waiter = latch_join(3, NULL);
    struct party a = latch_join(3, "a");
    struct party b = latch_join_as(other, 3, 1, "b");
    struct party c = latch_join(3, "c");

    latch_arrive(&a, 10000, REDLOCK_OK);
    latch_arrive(&b, 10000, REDLOCK_OK);
    for (size_t i = 0; i < LATCH_MASTERS; i++) {
        latch_kill_master(i);
        restart_master(i);
        wait_until_all_have("a:a");
        wait_until_all_have("a:b");
    }
    rig_do_all(&rig, "FLUSHALL", NULL);
    latch_await(&waiter, 0, REDLOCK_DEADLINE);
    latch_arrive(&c, 10000, REDLOCK_OK);
    latch_await(&waiter, 20000, REDLOCK_OK);
}

TEST(failures, a_handle_that_has_seen_it_open_brings_that_back)
{
    struct redlock_client *other = rig_new_client(&rig);
    struct party waiter = latch_join(2, NULL);
    struct party late = latch_join(2, NULL);
    struct party parties[] = {latch_join_as(other, 2, 1, "a"), latch_join_as(other, 2, 1, "b")};

    latch_arrive(&parties[0], 10000, REDLOCK_OK);
    latch_arrive(&parties[1], 10000, REDLOCK_OK);
    latch_await(&waiter, 10000, REDLOCK_OK);
    redlock_client_destroy(other);
    rig_do_all(&rig, "FLUSHALL", NULL);
    wait_until_all_have("open");
    ck_assert_uint_eq(latch_count_field("a:a"), 0);
    latch_await(&late, 0, REDLOCK_OK);
}

TEST(failures, what_nobody_brings_back_is_lost)
{
    struct party a = latch_join(2, "a");
    struct party b = latch_join(2, "b");

    latch_arrive(&a, 10000, REDLOCK_OK);
    redlock_latch_destroy(a.latch);
    rig_wait_quiet(&rig, rig.client);
    rig_do_all(&rig, "FLUSHALL", NULL);
    latch_arrive(&b, 10000, REDLOCK_OK);
    latch_await(&b, 1500, REDLOCK_DEADLINE);
    ck_assert_str_eq(b.names, "b");
}

/* --- Masters that take no writes ---------------------------------------------------------------------------------- */

static const struct refusal {
    const char *detail;
    const char *bring[4]; /* makes a master answer with that error */
    const char *end[4];
} refusals[] = {
    {"OOM", {"CONFIG", "SET", "maxmemory", "1"}, {"CONFIG", "SET", "maxmemory", "0"}},
    {"READONLY", {"REPLICAOF", "127.0.0.1", "1"}, {"REPLICAOF", "NO", "ONE"}},
    {"NOREPLICAS", {"CONFIG", "SET", "min-replicas-to-write", "1"}, {"CONFIG", "SET", "min-replicas-to-write", "0"}},
};

#define N_REFUSALS ((int)(sizeof(refusals) / sizeof(refusals[0])))

static void tell(size_t n, const char *const words[4])
{
    for (size_t i = 0; i < n; i++)
        rig_do(&rig, i, words[0], words[1], words[2], words[3], NULL);
}

GROUP(unwritten, "masters that take no writes", latch_open, latch_close)

TESTS(unwritten, what_masters_refuse_is_repeated_until_they_take_it, 0, N_REFUSALS)
{
    struct party a = latch_join(2, "a");
    struct party b = latch_join(2, "b");

    tell(2, refusals[_i].bring);
    latch_arrive(&a, 0, REDLOCK_DEADLINE);
    ck_assert_uint_lt(a.arrival.confirmed, 2);
    for (size_t i = 0; i < 2; i++)
        ck_assert_msg(strstr(a.details[i], refusals[_i].detail) != NULL, "%s", a.details[i]);
    latch_begin_arrival(&b, REDLOCK_FOREVER);
    latch_begin_wait(&b, REDLOCK_FOREVER);
    tell(2, refusals[_i].end);
    latch_expect_arrival(&b, REDLOCK_OK);
    latch_expect_wait(&b, REDLOCK_OK); /* so the arrival that had failed was repeated */
    wait_until_all_have("a:a");
}

TESTS(unwritten, a_minority_that_takes_no_writes_does_not_matter, 0, N_REFUSALS)
{
    struct party a = latch_join(2, "a");
    struct party b = latch_join(2, "b");

    tell(1, refusals[_i].bring);
    latch_arrive(&a, 10000, REDLOCK_OK);
    latch_arrive(&b, 10000, REDLOCK_OK);
    latch_await(&a, 10000, REDLOCK_OK);
    tell(1, refusals[_i].end);
    wait_until_all_have("open");
}

/* Nothing has to be written for that. */
TEST(unwritten, a_latch_that_is_open_is_open_on_full_masters)
{
    struct party a = latch_join(1, "a");
    struct party late = latch_join(1, NULL);

    latch_arrive(&a, 10000, REDLOCK_OK);
    wait_until_all_have("open");
    tell(LATCH_MASTERS, refusals[0].bring);
    latch_await(&late, 10000, REDLOCK_OK);
}

/* --- Clocks that are set ------------------------------------------------------------------------------------------ */

static struct clock_fault *fault;

static void open_with_clock(void)
{
    fault = clock_fault_create();
    latch_open_with(clock_fault_environment(fault));
}

static void close_with_clock(void)
{
    latch_close();
    clock_fault_destroy(fault);
    fault = NULL;
}

GROUP(clocks, "clocks", open_with_clock, close_with_clock)

TESTS(clocks, clocks_that_are_set_change_nothing, 0, 2)
{
    static const int64_t steps_ms[] = {70000, -70000};
    struct party waiter = latch_join(2, NULL);
    struct party a = latch_join(2, "a");
    struct party b = latch_join(2, "b");

    latch_arrive(&a, 10000, REDLOCK_OK);
    clock_fault_step_ms(fault, steps_ms[_i]);
    latch_await(&waiter, 0, REDLOCK_DEADLINE);
    latch_arrive(&b, 10000, REDLOCK_OK);
    latch_await(&waiter, 10000, REDLOCK_OK);
    ck_assert_str_eq(waiter.names, "a b");
}

/* Masters keep a latch for a day after its last use. */
TEST(clocks, handles_bring_back_what_a_clock_has_ended)
{
    struct party waiter = latch_join(2, NULL);
    struct party a = latch_join(2, "a");
    struct party b = latch_join(2, "b");

    latch_arrive(&a, 10000, REDLOCK_OK);
    wait_until_all_have("a:a");
    clock_fault_step_ms(fault, INT64_C(25) * 3600 * 1000);
    ck_assert_uint_eq(masters_count_key(rig.masters, LATCH_KEY), 0);
    wait_until_all_have("a:a");
    latch_arrive(&b, 10000, REDLOCK_OK);
    latch_await(&waiter, 10000, REDLOCK_OK);
}

/* --- Processes that are killed ------------------------------------------------------------------------------------ */

static int arrive_and_stay(struct rig *child, void *unused)
{
    struct party a = latch_join_as(child->client, 2, 1, "a");

    latch_arrive(&a, REDLOCK_FOREVER, REDLOCK_OK);
    return child_stay(child);
}

GROUP(killed, "killed", latch_open, latch_close)

TEST(killed, a_party_that_is_killed_has_arrived_all_the_same)
{
    struct party b;

    child_kill(child_start_ready(&rig, arrive_and_stay, NULL));
    b = latch_join(2, "b");
    latch_arrive(&b, 10000, REDLOCK_OK);
    latch_await(&b, 10000, REDLOCK_OK);
    ck_assert_str_eq(b.names, "a b");
}

/* The masters know that somebody is to be told. */
static int wait_and_stay(struct rig *child, void *unused)
{
    struct party waiter = latch_join_as(child->client, 2, 1, NULL);

    latch_begin_wait(&waiter, REDLOCK_FOREVER);
    wait_until_all_have("waiting");
    return child_stay(child);
}

TEST(killed, a_killed_waiter_is_in_nobodys_way)
{
    struct party a, b, waiter;

    child_kill(child_start_ready(&rig, wait_and_stay, NULL));
    a = latch_join(2, "a");
    b = latch_join(2, "b");
    waiter = latch_join(2, NULL);
    latch_begin_wait(&waiter, REDLOCK_FOREVER);
    latch_arrive(&a, 10000, REDLOCK_OK);
    latch_arrive(&b, 10000, REDLOCK_OK);
    latch_expect_wait(&waiter, REDLOCK_OK);
    wait_until_all_have("open");
    ck_assert_uint_eq(latch_count_field("waiting"), 0);
}

SUITE_WITH_SERVER("latch_faults")
