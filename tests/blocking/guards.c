/* The classes of redlock.hpp at work. */
#include <check.h>

#include "guards_cpp.h"
#include "service_rig.h"

static struct world world;

static void open_three(void)
{
    world_open(&world, 3);
}

static void close_world(void)
{
    world_close(&world);
}

static bool holds(enum cpp_claim claim)
{
    return cpp_holds(claim, world.rig.urls, world.rig.n, &world.rig.options);
}

START_TEST(a_guard_that_is_assigned_to_unlocks_its_own_mutex_at_once)
{
    ck_assert(holds(CPP_ASSIGNED_GUARD));
}
END_TEST

START_TEST(a_mutex_that_is_assigned_to_releases_its_own_lock_at_once)
{
    ck_assert(holds(CPP_ASSIGNED_MUTEX));
}
END_TEST

START_TEST(a_guard_that_ends_in_a_callback_unlocks)
{
    ck_assert(holds(CPP_GUARD_IN_CALLBACK));
}
END_TEST

START_TEST(times_out_of_every_range_are_no_time)
{
    ck_assert(holds(CPP_ODD_TIMES));
}
END_TEST

START_TEST(what_a_string_or_a_ttl_cannot_say_is_refused)
{
    ck_assert(holds(CPP_REFUSED));
}
END_TEST

START_TEST(guards_of_a_recursive_mutex_are_nested)
{
    ck_assert(holds(CPP_ENTERED_AGAIN));
}
END_TEST

START_TEST(a_guard_inside_of_a_shared_one_does_not_become_exclusive)
{
    ck_assert(holds(CPP_SHARED_AGAIN));
}
END_TEST

START_TEST(candidates_are_elected_in_turn_with_larger_terms)
{
    ck_assert(holds(CPP_ELECTED_IN_TURN));
}
END_TEST

START_TEST(a_candidate_whose_time_is_over_does_not_lead)
{
    ck_assert(holds(CPP_NOT_ELECTED_IN_TIME));
}
END_TEST

START_TEST(another_thread_withdraws_a_candidate)
{
    ck_assert(holds(CPP_WITHDRAWN));
}
END_TEST

START_TEST(a_leader_whose_term_has_ended_does_not_lead_when_the_next_one_does)
{
    ck_assert(holds(CPP_TERM_ENDED));
}
END_TEST

START_TEST(threads_that_try_one_mutex_at_once_are_each_told_why_not)
{
    ck_assert(holds(CPP_TRIED_TWICE_AT_ONCE));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("guards");
    TCase *three = suite_add_case(suite, "guards", open_three, close_world);

    tcase_add_test(three, a_guard_that_is_assigned_to_unlocks_its_own_mutex_at_once);
    tcase_add_test(three, a_mutex_that_is_assigned_to_releases_its_own_lock_at_once);
    tcase_add_test(three, a_guard_that_ends_in_a_callback_unlocks);
    tcase_add_test(three, times_out_of_every_range_are_no_time);
    tcase_add_test(three, what_a_string_or_a_ttl_cannot_say_is_refused);
    tcase_add_test(three, guards_of_a_recursive_mutex_are_nested);
    tcase_add_test(three, a_guard_inside_of_a_shared_one_does_not_become_exclusive);
    tcase_add_test(three, candidates_are_elected_in_turn_with_larger_terms);
    tcase_add_test(three, a_candidate_whose_time_is_over_does_not_lead);
    tcase_add_test(three, another_thread_withdraws_a_candidate);
    tcase_add_test(three, a_leader_whose_term_has_ended_does_not_lead_when_the_next_one_does);
    tcase_add_test(three, threads_that_try_one_mutex_at_once_are_each_told_why_not);
    return suite_run_with_server(suite);
}
