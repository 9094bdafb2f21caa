/* The classes of redlock.hpp at work. */
#include <check.h>

#include "guards_cpp.h"
#include "service_rig.h"

static bool holds(enum cpp_claim claim)
{
    return cpp_holds(claim, world.rig.urls, world.rig.n, &world.rig.options);
}

GROUP(three, "guards", world_three, world_close)

TEST(three, a_guard_that_is_assigned_to_unlocks_its_own_mutex_at_once)
{
    ck_assert(holds(CPP_ASSIGNED_GUARD));
}

TEST(three, a_mutex_that_is_assigned_to_releases_its_own_lock_at_once)
{
    ck_assert(holds(CPP_ASSIGNED_MUTEX));
}

TEST(three, a_guard_that_ends_in_a_callback_unlocks)
{
    ck_assert(holds(CPP_GUARD_IN_CALLBACK));
}

TEST(three, times_out_of_every_range_are_no_time)
{
    ck_assert(holds(CPP_ODD_TIMES));
}

TEST(three, what_a_string_or_a_ttl_cannot_say_is_refused)
{
    ck_assert(holds(CPP_REFUSED));
}

TEST(three, guards_of_a_recursive_mutex_are_nested)
{
    ck_assert(holds(CPP_ENTERED_AGAIN));
}

TEST(three, a_guard_inside_of_a_shared_one_does_not_become_exclusive)
{
    ck_assert(holds(CPP_SHARED_AGAIN));
}

TEST(three, candidates_are_elected_in_turn_with_larger_terms)
{
    ck_assert(holds(CPP_ELECTED_IN_TURN));
}

TEST(three, a_candidate_whose_time_is_over_does_not_lead)
{
    ck_assert(holds(CPP_NOT_ELECTED_IN_TIME));
}

TEST(three, another_thread_withdraws_a_candidate)
{
    ck_assert(holds(CPP_WITHDRAWN));
}

TEST(three, a_leader_whose_term_has_ended_does_not_lead_when_the_next_one_does)
{
    ck_assert(holds(CPP_TERM_ENDED));
}

TEST(three, threads_that_try_one_mutex_at_once_are_each_told_why_not)
{
    ck_assert(holds(CPP_TRIED_TWICE_AT_ONCE));
}

SUITE_WITH_SERVER("guards")
