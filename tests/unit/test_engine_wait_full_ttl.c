/* A lock that was handed off has a lease only: how it gets its ttl (engine/renew.c, engine/renew.c). */
#include <stdlib.h>

#include "core_harness.h"
#include "engine/lock.h"
#include "kinds/mutex.h"
#include "suite.h"

/* 2000 ms of lease, less 1 % and 2 ms. */
#define USABLE_MS 1978

static struct core *start_handed_off(struct rl_acquire request, int64_t at_ms)
{
    struct core *core = core_start(3);

    core_acquire(core, &request);
    core_answers(core, "qqq");
    core_sleep_to(core, at_ms);
    core_hand_off(core, 0);
    core_hand_off(core, 1);
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    core_skip(core);
    return core;
}

GROUP(full_ttl, "full ttl", NULL, core_stop_all)

TEST(full_ttl, the_full_ttl_is_brought_at_half_the_lease_with_renewal_off)
{
    struct core *core = start_handed_off(core_request_fifo(), 0);

    ck_assert_uint_eq(core->locks[0].claim->full_ttl_ms, 4000);
    core_run_to(core, 988);
    core_expect(core, "");
    core_run_to(core, 989);
    core_expect(core, "t=989ms SEND extend #1: 0 1 2\n");
    core_answers(core, "gg");
    core_expect(core, "t=989ms RENEWED\n");
    ck_assert_int_eq(core_deadline_ms(core), 989 + 4000 - 42);
    ck_assert_uint_eq(core->locks[0].claim->full_ttl_ms, 0);
    core_run_to(core, 4946);
    core_expect(core, "");
}

TEST(full_ttl, the_extension_that_brings_the_ttl_is_guarded_like_any_other)
{
    struct core *core = core_start_epoch_checked(3);
    struct rl_acquire request = core_request_fifo();

    core_acquire(core, &request);
    core_answers(core, "ggg");
    core_run_to(core, 989);
    ck_assert_uint_eq(core_queued(core, 0), 2);
    core_answers(core, "gg");
    ck_assert_uint_eq(core->locks[0].claim->full_ttl_ms, 4000);
    ck_assert_int_eq(core_deadline_ms(core), USABLE_MS);
    core_pass_epoch_check(core, 0);
    core_pass_epoch_check(core, 1);
    ck_assert_uint_eq(core->locks[0].claim->full_ttl_ms, 0);
    ck_assert_int_eq(core_deadline_ms(core), 989 + 4000 - 42);
}

TEST(full_ttl, a_lock_that_was_granted_for_its_ttl_gets_no_more)
{
    struct rl_acquire request = core_request_fifo();
    struct core *core;

    request.ttl_ms = 2000;
    core = start_handed_off(request, 0);
    ck_assert_uint_eq(core->locks[0].claim->full_ttl_ms, 0);
    core_run_to(core, USABLE_MS - 1);
    core_expect(core, "");
}

/* The votes are of the round before: what is left of them is halved, not the lease of a round without an answer. */
TEST(full_ttl, what_is_left_is_halved_where_votes_are_older_than_the_latest_lease)
{
    struct core *core = core_start_queued(3);

    core_hand_off(core, 0);
    core_run_to(core, 500);
    core_run_to(core, 1000);
    core_run_to(core, 1500);
    core_hand_off(core, 1);
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    core_skip(core);
    core_run_to(core, 1739);
    core_expect(core, "t=1739ms SEND extend #1: 0 1 2\n");
}

TEST(full_ttl, it_is_tried_again_inside_the_lease_however_long_the_ttl)
{
    struct rl_config config = core_config(3);
    struct rl_acquire request = core_request_fifo();
    struct core *core;

    config.max_ttl_ms = 3600000;
    core = core_new(&config);
    for (unsigned node = 0; node < 3; node++)
        core_link(core, node, RL_LINK_READY);
    request.ttl_ms = 3600000;
    request.renew_ms = 1200000;
    core_acquire(core, &request);
    core_answers(core, "gg");
    core_run_to(core, USABLE_MS - 1);
    ck_assert_uint_ge(core->engine.votes.counters.renewals, 3);
}

TEST(full_ttl, the_warning_goes_by_the_lease_until_the_ttl_is_there)
{
    struct rl_acquire request = core_request_fifo();
    struct core *core;

    request.at_risk_ms = 1200;
    core = start_handed_off(request, 0);
    core_run_to(core, 989);
    core_answers(core, "gg");
    core_expect(core, "t=989ms SEND extend #1: 0 1 2\n"
                      "t=989ms RENEWED\n");
    core_run_to(core, 4947 - 1200);
    core_expect(core, "t=3747ms AT-RISK\n");
}

TEST(full_ttl, a_warning_that_is_wanted_early_comes_early_when_the_ttl_is_there)
{
    struct rl_acquire request = core_request_fifo();
    struct core *core;

    request.at_risk_ms = 3000;
    core = start_handed_off(request, 0);
    core_run_to(core, 989);
    ck_assert(!core->locks[0].hold.warned);
    core_answers(core, "gg");
    ck_assert_uint_eq(core->locks[0].hold.at_risk_ms, 3000);
    core_run_to(core, 4947 - 3000);
    ck_assert(core->locks[0].hold.warned);
}

TEST(full_ttl, the_warning_comes_in_time_when_the_ttl_cannot_be_brought)
{
    struct rl_acquire request = core_request_fifo();
    struct core *core;

    request.at_risk_ms = 800;
    core = start_handed_off(request, 0);
    core_run_to(core, 1577);
    ck_assert(!core->locks[0].hold.warned);
    core_run_to(core, 1578);
    ck_assert(core->locks[0].hold.warned);
    core_run_to(core, USABLE_MS);
    ck_assert_uint_eq(core->lost[0], 1);
    ck_assert_int_eq(core->locks[0].loss, RL_LOSS_UNREACHABLE);
}

TEST(full_ttl, an_extension_without_a_ttl_of_its_own_brings_the_full_ttl)
{
    struct core *core = start_handed_off(core_request_fifo(), 0);

    core_extend(core, 0);
    core_answers(core, "gg");
    ck_assert_int_eq(core_deadline_ms(core), 4000 - 42);
    ck_assert_uint_eq(core->locks[0].claim->full_ttl_ms, 0);
}

TEST(full_ttl, an_extension_with_one_sets_the_full_ttl_from_then_on)
{
    struct core *core = start_handed_off(core_request_fifo(), 0);

    core_extend(core, 3000);
    core_answers(core, "ff");
    ck_assert_uint_eq(core->locks[0].claim->full_ttl_ms, 3000);
    core_skip(core);
    while (!core_queued(core, 0))
        core_run_to(core, core->now.ns / RL_NS_PER_MS + 1);
    core_answers(core, "gg");
    ck_assert_uint_eq(core->locks[0].claim->ttl_ms, 3000);
    ck_assert_uint_eq(core->locks[0].claim->full_ttl_ms, 0);
}

TEST(full_ttl, a_limit_on_the_hold_does_not_take_away_the_full_ttl)
{
    struct rl_acquire request = core_request_fifo();
    struct core *core;

    request.max_hold_ms = 500;
    request.renew_ms = 1000;
    core = start_handed_off(request, 0);
    core_run_to(core, 989);
    core_answers(core, "gg");
    core_expect(core, "t=989ms SEND extend #1: 0 1 2\n"
                      "t=989ms RENEWED\n");
    core_run_to(core, 4946);
    core_expect(core, "");
}

TEST(full_ttl, a_lock_that_is_released_before_half_the_lease_is_never_extended)
{
    struct core *core = start_handed_off(core_request_fifo(), 10);

    core_release(core);
    core_expect(core, "t=10ms SEND release #1: 0 1 2\n");
    core_answers(core, "ggg");
    core_skip(core);
    core_run_to(core, 5000);
    core_expect(core, "");
}

/* Its place is still in the queue of the third: it may be handed the key there at any time. */
TEST(full_ttl, a_release_leaves_the_queues_where_no_vote_came_from)
{
    struct core *core = start_handed_off(core_request_fifo(), 0);

    ck_assert_int_eq(core->locks[0].claim->votes[2].outcome, RL_QUEUED);
    core_release(core);
    core_expect(core, "t=0ms SEND release #1: 0 1 2\n");
}

TEST(full_ttl, whoever_takes_a_lock_over_takes_over_its_full_ttl)
{
    struct core *core = core_start(1);
    struct rl_acquire request = {.kind = &rl_mutex_kind, .ttl_ms = 4000};
    struct rl_instant bound = {rl_ms(800).ns};
    struct rl_exported_state state = {
        &rl_mutex_kind, 2000, 2000, UINT32_MAX, 0, &bound, 0, 4000, RL_EXCLUSIVE, 0, 0, {0}};

    ck_assert(rl_lock_import(&core->engine, &core->locks[0], core->now, core_make_claim(core, &rl_mutex_kind), &request,
                            &state));
    core_drain_for(core, 0);
    while (!core_queued(core, 0))
        core_run_to(core, core->now.ns / RL_NS_PER_MS + 1);
    core_answers(core, "g");
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    ck_assert_uint_eq(core->locks[0].claim->ttl_ms, 4000);
    ck_assert_uint_eq(core->locks[0].claim->full_ttl_ms, 0);
}

SUITE("engine_wait_full_ttl")
