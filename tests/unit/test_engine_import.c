/* Taking over a lock that another handle holds: its ttl is 1000 ms, and it ends when that handle says. */
#include "core_harness.h"
#include "engine/lock.h"
#include "kinds/mutex.h"
#include "suite.h"

static struct rl_acquire renewing_request(void)
{
    struct rl_acquire request = core_request();

    request.renew_ms = 300;
    return request;
}

/* --- Valid -------------------------------------------------------------------------------------------------------- */

GROUP(cases, "valid", NULL, core_stop_all)

TEST(cases, a_valid_lock_is_held_at_once_until_the_deadline_it_had)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request();

    ck_assert(core_import(core, &request, 700, 0));
    core_expect(core, "");
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    ck_assert_int_eq(core_deadline_ms(core), 700);
    core_run_to(core, 1000);
    core_expect(core, "t=700ms SEND release #1: 0 1 2\n"
                      "t=700ms LOST\n");
    ck_assert_int_eq(core->locks[0].loss, RL_LOSS_EXPIRED);
}

/* A fifth of the interval at the latest. */
TEST(cases, it_is_renewed_soon_since_nobody_knows_how_old_its_votes_are)
{
    struct core *core = core_start(3);
    struct rl_acquire request = renewing_request();

    core_import(core, &request, 700, 0);
    core_run_to(core, 60);
    ck_assert_uint_eq(core->engine.votes.counters.renewals, 1);
    core_answers(core, "ggg");
    ck_assert_int_ge(core_deadline_ms(core), 988);
}

TEST(cases, the_limit_of_the_hold_counts_from_the_import)
{
    struct core *core = core_start(3);
    struct rl_acquire request = renewing_request();

    request.max_hold_ms = 100;
    core_run_to(core, 5000);
    core_import(core, &request, 5700, 0);
    core_run_to(core, 5099);
    ck_assert_uint_eq(core->engine.votes.counters.renewals, 1);
}

TEST(cases, the_quorum_th_of_the_bounds_decides)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request();
    struct rl_instant bounds[] = {RL_LONG_AGO, rl_after((struct rl_instant){0}, rl_ms(500)),
                                  rl_after((struct rl_instant){0}, rl_ms(900))};
    struct rl_exported_state state = {&rl_mutex_kind, 1000, 1000, UINT32_MAX, 0, bounds, 0, 0, RL_EXCLUSIVE, 0, 0, {0}};

    ck_assert(rl_lock_import(&core->engine, &core->locks[0], core->now, core_make_claim(core, &rl_mutex_kind), &request,
                            &state));
    ck_assert_int_eq(core_deadline_ms(core), 500);
}

TEST(cases, it_is_released_everywhere_whoever_may_have_granted_it)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request();

    core_import(core, &request, 700, 0);
    core_release(core);
    core_answers(core, "ggr");
    core_expect(core, "t=0ms SEND release #1: 0 1 2\n"
                      "t=0ms COMPLETE release ok\n");
}

TEST(cases, it_may_be_extended_detached_and_destroyed_like_any_other)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request();

    core_import(core, &request, 700, 0);
    core_extend(core, 2000);
    core_answers(core, "ggg");
    ck_assert_int_eq(core_deadline_ms(core), 1978);
    core_detach(core);
    core_import(core, &request, 700, 0);
    core_fini(core);
    core_answers(core, "ggg");
    ck_assert_uint_eq(core_live_claims(core), 0);
}

/* --- What it brings along ----------------------------------------------------------------------------------------- */

GROUP(state_tests, "state", NULL, core_stop_all)

TEST(state_tests, the_fencing_token_is_kept_through_extensions)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request();

    core_import(core, &request, 700, 4711);
    core_extend(core, 0);
    core_answers(core, "ggg");
    core_expect(core, "t=0ms SEND extend #1: 0 1 2\n"
                      "t=0ms COMPLETE extend ok\n");
    ck_assert_uint_eq(rl_claim_token(core->locks[0].claim), 4711);
}

/* The former handle lost an extension to 100 ms on its way to master 0. */
TEST(state_tests, an_extension_that_the_former_handle_lost_still_counts_against_its_master)
{
    struct core *core = core_start(1);
    struct rl_acquire request = core_request();
    struct rl_instant bound = rl_after((struct rl_instant){0}, rl_ms(90));
    struct rl_exported_state state = {&rl_mutex_kind, 1000, 1000, 100, 0, &bound, 1, 0, RL_EXCLUSIVE, 0, 0, {0}};

    rl_lock_import(&core->engine, &core->locks[0], core->now, core_make_claim(core, &rl_mutex_kind), &request,
                  &state);
    core_drain_for(core, 0);
    core_run_to(core, 50);
    core_extend(core, 0);
    core_answers(core, "g");
    ck_assert_int_eq(core_deadline_ms(core), 50 + 97);
}

/* By a new list, of which master 2 is known to vote: the others count when they have been greeted. */
TEST(state_tests, what_a_list_before_had_won_stands_until_a_quorum_of_the_new_one_is_known)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request();
    struct rl_instant bounds[3];
    struct rl_exported_state state = {.kind = &rl_mutex_kind, .ttl_ms = 1000, .longest_ttl_ms = 1000, .bounds = bounds,
                                      .shortest_extension_ms = UINT32_MAX, .mode = RL_EXCLUSIVE, .ungreeted = 3,
                                      .standing = {rl_ms(50).ns}};

    for (size_t i = 0; i < 3; i++)
        bounds[i] = rl_after((struct rl_instant){0}, rl_ms(90));
    ck_assert(rl_lock_import(&core->engine, &core->locks[0], core->now, core_make_claim(core, &rl_mutex_kind), &request,
                             &state));
    core_drain_for(core, 0);
    ck_assert_int_eq(core_deadline_ms(core), 50);
    rl_lock_greeted(&core->engine, &core->locks[0], core->now, 0);
    ck_assert_int_eq(core_deadline_ms(core), 90);
}

TEST(state_tests, a_pending_rollback_of_it_lasts_for_the_longest_ttl_that_was_ever_asked_for)
{
    struct core *core = core_start(1);
    struct rl_acquire request = core_request();
    struct rl_instant bound = rl_after((struct rl_instant){0}, rl_ms(90));
    struct rl_exported_state state = {&rl_mutex_kind, 100, 3000, 100, 0, &bound, 0, 0, RL_EXCLUSIVE, 0, 0, {0}};

    rl_lock_import(&core->engine, &core->locks[0], core->now, core_make_claim(core, &rl_mutex_kind), &request,
                  &state);
    core_drain_for(core, 0);
    core_link(core, 0, RL_LINK_DOWN);
    core_fini(core);
    core_run_to(core, 3000);
    ck_assert_uint_eq(core_live_claims(core), 1);
    core_run_to(core, 3032 + 250);
    ck_assert_uint_eq(core_live_claims(core), 0);
}

/* --- Expired ------------------------------------------------------------------------------------------------------ */

GROUP(expired, "expired", NULL, core_stop_all)

TESTS(expired, an_expired_lock_is_refused_and_its_claim_given_back, 0, 2)
{
    struct core *core = core_start(3);
    struct rl_acquire request = renewing_request();

    core_run_to(core, 700);
    ck_assert(!core_import(core, &request, 700, _i ? 4711 : 0));
    core_expect(core, "t=700ms DISPOSE #1\n");
    ck_assert_int_eq(core_state(core), RL_LOCK_IDLE);
    ck_assert_int_eq(core_deadline_ms(core), INT64_MIN);
    core_run_to(core, 3000);
    core_expect(core, "");
}

TEST(expired, a_refused_adoption_leaves_a_lost_lock_as_it_was)
{
    struct core *core = core_start_held(3);
    struct rl_acquire request = core_request();

    core_run_to(core, 988);
    core_skip(core);
    ck_assert(!core_import(core, &request, 900, 0));
    core_expect(core, "t=988ms DISPOSE #2\n");
    ck_assert_int_eq(core_state(core), RL_LOCK_LOST);
    core_answers(core, "ggg");
    core_release(core);
    core_expect(core, "t=988ms COMPLETE release lost\n");
}

TEST(expired, a_lost_lock_may_import_another_and_still_rolls_back_its_own)
{
    struct core *core = core_start_held(3);
    struct rl_acquire request = core_request();

    core_run_to(core, 988);
    core_skip(core);
    ck_assert(core_import(core, &request, 1500, 0));
    core_expect(core, "");
    core_answers(core, "ggg");
    core_expect(core, "t=988ms DISPOSE #1\n");
    ck_assert_int_eq(core_deadline_ms(core), 1500);
}

SUITE("engine_import")
