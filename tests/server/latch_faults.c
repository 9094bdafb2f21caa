/* What of an arrival at a latch survives which loss of masters. */
#include <string.h>

#include "clock_fault.h"
#include "latch_rig.h"
#include "suite.h"
#include "watch.h"

static const char *wanted;

static bool all_have(void *argument)
{
    (void)argument;
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

START_TEST(a_quorum_is_needed_and_enough)
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
END_TEST

START_TEST(what_could_not_be_recorded_is_recorded_when_masters_are_back)
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
END_TEST

START_TEST(silent_masters_are_awaited_for_node_timeout)
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
END_TEST

START_TEST(masters_in_quarantine_are_asked)
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
END_TEST

/* All masters in turn, and then all at once. */
START_TEST(handles_bring_arrivals_back_that_masters_have_lost)
{
    struct redlock_client *other = rig_new_client(&rig);
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
    redlock_client_destroy(other);
}
END_TEST

START_TEST(a_handle_that_has_seen_it_open_brings_that_back)
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
END_TEST

START_TEST(what_nobody_brings_back_is_lost)
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
END_TEST

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

START_TEST(clocks_that_are_set_change_nothing)
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
END_TEST

/* Masters keep a latch for a day after its last use. */
START_TEST(handles_bring_back_what_a_clock_has_ended)
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
END_TEST

int main(void)
{
    Suite *suite = suite_create("latch_faults");
    TCase *failures = suite_add_case(suite, "failures", latch_open, latch_close);
    TCase *clocks = suite_add_case(suite, "clocks", open_with_clock, close_with_clock);

    tcase_add_loop_test(failures, a_quorum_is_needed_and_enough, 0, 1 << LATCH_MASTERS);
    tcase_add_test(failures, what_could_not_be_recorded_is_recorded_when_masters_are_back);
    tcase_add_test(failures, silent_masters_are_awaited_for_node_timeout);
    tcase_add_test(failures, masters_in_quarantine_are_asked);
    tcase_add_test(failures, handles_bring_arrivals_back_that_masters_have_lost);
    tcase_add_test(failures, a_handle_that_has_seen_it_open_brings_that_back);
    tcase_add_test(failures, what_nobody_brings_back_is_lost);
    tcase_add_loop_test(clocks, clocks_that_are_set_change_nothing, 0, 2);
    tcase_add_test(clocks, handles_bring_back_what_a_clock_has_ended);
    return suite_run_with_server(suite);
}
