/* Gathering: an acquisition waits for the first connections, no longer than its deadline. */
#include "core_harness.h"
#include "suite.h"

static struct core *start_joining(void)
{
    struct rl_config config = core_config(3);

    return core_new(&config);
}

START_TEST(nothing_is_sent_until_every_link_has_settled)
{
    struct core *core = start_joining();
    struct rl_acquire wish = core_wish();

    core_acquire(core, &wish);
    core_link(core, 0, RL_LINK_READY);
    core_link(core, 2, RL_LINK_DOWN);
    core_run_to(core, 30);
    core_expect(core, "");
    core_link(core, 1, RL_LINK_READY);
    core_expect(core, "t=30ms SEND claim #1: 0 1\n");
    core_stop(core);
}
END_TEST

START_TEST(the_round_begins_when_gathering_has_ended)
{
    struct core *core = start_joining();
    struct rl_acquire wish = core_wish_once();

    core_acquire(core, &wish);
    core_run_to(core, 30);
    for (unsigned node = 0; node < 3; node++)
        core_link(core, node, RL_LINK_READY);
    core_run_to(core, 79);
    core_expect(core, "t=30ms SEND claim #1: 0 1 2\n");
    core_run_to(core, 80);
    core_expect(core, "t=80ms SEND rollback #1: 0 1 2\n"
                      "t=80ms COMPLETE acquire no-quorum\n");
    core_stop(core);
}
END_TEST

START_TEST(links_that_all_turn_out_down_end_a_single_attempt)
{
    struct core *core = start_joining();
    struct rl_acquire wish = core_wish_once();

    core_acquire(core, &wish);
    core_link(core, 0, RL_LINK_DOWN);
    core_link(core, 1, RL_LINK_DOWN);
    core_expect(core, "");
    core_link(core, 2, RL_LINK_DOWN);
    core_expect(core, "t=0ms COMPLETE acquire no-quorum\n");
    core_stop(core);
}
END_TEST

START_TEST(the_deadline_ends_an_acquisition_that_is_still_gathering)
{
    struct core *core = start_joining();
    struct rl_acquire wish = core_wish();

    wish.deadline = (struct rl_instant){rl_ms(40).ns};
    core_acquire(core, &wish);
    core_run_to(core, 39);
    core_expect(core, "");
    core_run_to(core, 40);
    core_expect(core, "t=40ms COMPLETE acquire deadline (no-quorum)\n");
    for (unsigned node = 0; node < 3; node++)
        core_link(core, node, RL_LINK_READY);
    core_expect(core, "");
    core_stop(core);
}
END_TEST

START_TEST(links_that_settle_after_the_deadline_start_nothing_even_if_the_tick_is_late)
{
    struct core *core = start_joining();
    struct rl_acquire wish = core_wish();

    wish.deadline = (struct rl_instant){rl_ms(40).ns};
    core_acquire(core, &wish);
    core_sleep_to(core, 40);
    for (unsigned node = 0; node < 3; node++)
        core_link(core, node, RL_LINK_READY);
    core_expect(core, "t=40ms COMPLETE acquire deadline (no-quorum)\n");
    core_stop(core);
}
END_TEST

START_TEST(without_a_deadline_gathering_asks_for_no_tick)
{
    struct core *core = start_joining();
    struct rl_acquire wish = core_wish();

    core_acquire(core, &wish);
    ck_assert_int_eq(rl_lock_wakeup(&core->engine, &core->locks[0]).ns, RL_NEVER.ns);
    core_run_to(core, 1000000);
    core_expect(core, "");
    core_stop(core);
}
END_TEST

START_TEST(all_who_gathered_start_in_the_order_in_which_they_came)
{
    struct core *core = start_joining();
    struct rl_acquire wish = core_wish();

    for (core->handle = CORE_LOCKS; core->handle-- > 0;)
        core_acquire(core, &wish);
    core_link(core, 0, RL_LINK_DOWN);
    core_link(core, 1, RL_LINK_READY);
    core_link(core, 2, RL_LINK_READY);
    core_expect(core, "t=0ms SEND claim #1: 1 2\n"
                      "t=0ms SEND claim #2: 1 2\n"
                      "t=0ms SEND claim #3: 1 2\n"
                      "t=0ms SEND claim #4: 1 2\n");
    ck_assert_ptr_eq(core_claim_of(core->locks[CORE_LOCKS - 1].claim),
                     RL_CONTAINER_OF(core->live.next, struct core_claim, link));
    core_stop(core);
}
END_TEST

START_TEST(who_cancels_while_gathering_is_not_started)
{
    struct core *core = start_joining();
    struct rl_acquire wish = core_wish();

    core_acquire(core, &wish);
    ck_assert(core_cancel(core));
    core_expect(core, "t=0ms COMPLETE acquire canceled\n");
    for (unsigned node = 0; node < 3; node++)
        core_link(core, node, RL_LINK_READY);
    core_expect(core, "");
    core_stop(core);
}
END_TEST

START_TEST(who_is_destroyed_while_gathering_is_not_started)
{
    struct core *core = start_joining();
    struct rl_acquire wish = core_wish();

    core_acquire(core, &wish);
    core_fini(core);
    for (unsigned node = 0; node < 3; node++)
        core_link(core, node, RL_LINK_READY);
    core_expect(core, "");
    core_stop(core);
}
END_TEST

START_TEST(once_all_links_have_settled_nobody_waits_again)
{
    struct core *core = core_start(3);
    struct rl_acquire wish = core_wish();

    core_link(core, 0, RL_LINK_DOWN);
    core_link(core, 1, RL_LINK_LATE);
    core_link(core, 1, RL_LINK_READY);
    core_acquire(core, &wish);
    core_expect(core, "t=0ms SEND claim #1: 1 2\n");
    core_stop(core);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_gather");
    TCase *cases = suite_add_case(suite, "gather", NULL, NULL);

    tcase_add_test(cases, nothing_is_sent_until_every_link_has_settled);
    tcase_add_test(cases, the_round_begins_when_gathering_has_ended);
    tcase_add_test(cases, links_that_all_turn_out_down_end_a_single_attempt);
    tcase_add_test(cases, the_deadline_ends_an_acquisition_that_is_still_gathering);
    tcase_add_test(cases, links_that_settle_after_the_deadline_start_nothing_even_if_the_tick_is_late);
    tcase_add_test(cases, without_a_deadline_gathering_asks_for_no_tick);
    tcase_add_test(cases, all_who_gathered_start_in_the_order_in_which_they_came);
    tcase_add_test(cases, who_cancels_while_gathering_is_not_started);
    tcase_add_test(cases, who_is_destroyed_while_gathering_is_not_started);
    tcase_add_test(cases, once_all_links_have_settled_nobody_waits_again);
    return suite_run(suite);
}
