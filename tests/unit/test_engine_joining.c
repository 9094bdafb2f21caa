/* A client's first acquisitions begin when a quorum can vote, and ask the other masters when these have joined. */
#include "core_harness.h"
#include "kinds/mutex.h"
#include "suite.h"

static struct core *start_joining(size_t n)
{
    struct rl_config config = core_config(n);

    return core_new(&config);
}

/* Three of five have joined, and have been asked. */
static struct core *start_early(const struct rl_acquire *request)
{
    struct core *core = start_joining(5);

    core_acquire(core, request);
    for (unsigned node = 0; node < 3; node++)
        core_link(core, node, RL_LINK_READY);
    core_expect(core, "t=0ms SEND claim #1: 0 1 2\n");
    return core;
}

GROUP(cases, "joining", NULL, core_stop_all)

TEST(cases, nothing_is_sent_until_a_quorum_can_vote)
{
    struct core *core = start_joining(3);
    struct rl_acquire request = core_request();

    core_acquire(core, &request);
    core_link(core, 0, RL_LINK_READY);
    core_link(core, 2, RL_LINK_DOWN);
    core_run_to(core, 30);
    core_expect(core, "");
    core_link(core, 1, RL_LINK_READY);
    core_expect(core, "t=30ms SEND claim #1: 0 1\n");
}

TEST(cases, a_master_that_joins_and_does_not_vote_is_none_of_the_quorum)
{
    struct core *core = start_joining(3);
    struct rl_acquire request = core_request();

    core_admit_quarantined(core, 0, 1000);
    core_acquire(core, &request);
    core_link(core, 0, RL_LINK_READY);
    core_link(core, 1, RL_LINK_READY);
    core_expect(core, "");
    core_link(core, 2, RL_LINK_READY);
    core_expect(core, "t=0ms SEND claim #1: 1 2\n");
}

TEST(cases, a_quorum_that_has_granted_is_enough_whoever_is_still_joining)
{
    struct rl_acquire request = core_request();
    struct core *core = start_early(&request);

    core_answers(core, "ggg");
    core_expect(core, "t=0ms COMPLETE acquire ok\n");
    ck_assert_int_eq(core->last.claim->votes[3].answer, RL_NOT_ASKED);
    core_release(core);
    core_expect(core, "t=0ms SEND release #1: 0 1 2\n");
}

TEST(cases, the_round_begins_with_the_quorum_and_late_joiners_do_not_prolong_it)
{
    struct core *core = start_joining(3);
    struct rl_acquire request = core_request_once();

    core_acquire(core, &request);
    core_run_to(core, 30);
    core_link(core, 0, RL_LINK_READY);
    core_link(core, 1, RL_LINK_READY);
    core_run_to(core, 50);
    core_link(core, 2, RL_LINK_READY);
    core_run_to(core, 79);
    core_expect(core, "t=30ms SEND claim #1: 0 1\n"
                      "t=50ms SEND claim #1: 2\n");
    core_run_to(core, 80);
    core_expect(core, "t=80ms SEND rollback #1: 0 1 2\n"
                      "t=80ms COMPLETE acquire no-quorum\n");
}

TEST(cases, refusals_of_those_that_joined_decide_as_soon_as_no_quorum_is_left)
{
    struct rl_acquire request = core_request_once();
    struct core *core = start_early(&request);

    core_answers(core, "grr");
    core_expect(core, "");
    core_link(core, 3, RL_LINK_READY);
    core_answers(core, "...g");
    core_expect(core, "t=0ms SEND claim #1: 3\n");
    core_link(core, 4, RL_LINK_DOWN);
    core_expect(core, "t=0ms SEND rollback #1: 0 3\n"
                      "t=0ms COMPLETE acquire held\n");
}

TEST(cases, a_late_joiner_may_bring_the_quorum)
{
    struct rl_acquire request = core_request_once();
    struct core *core = start_early(&request);

    core_answers(core, "ggr");
    core_run_to(core, 40);
    core_link(core, 4, RL_LINK_READY);
    core_answers(core, "....g");
    core_expect(core, "t=40ms SEND claim #1: 4\n"
                      "t=40ms COMPLETE acquire ok\n");
    ck_assert_int_eq(core_deadline_ms(core), 988); /* as if it had been asked with the others */
}

TEST(cases, masters_that_never_join_count_until_the_round_is_over)
{
    struct rl_acquire request = core_request_once();
    struct core *core = start_early(&request);

    core_answers(core, "ggr");
    core_run_to(core, 49);
    core_expect(core, "");
    core_run_to(core, 50);
    core_expect(core, "t=50ms SEND rollback #1: 0 1\n"
                      "t=50ms COMPLETE acquire no-quorum\n");
}

TEST(cases, a_held_lock_gets_the_vote_of_a_late_joiner)
{
    struct rl_acquire request = core_request();
    struct core *core = start_early(&request);

    core_answers(core, "ggg");
    core_run_to(core, 20);
    core_link(core, 3, RL_LINK_READY);
    core_answers(core, "...g");
    core_expect(core, "t=0ms COMPLETE acquire ok\n"
                      "t=20ms SEND claim #1: 3\n");
    ck_assert_int_eq(core->locks[0].claim->votes[3].bound.ns / RL_NS_PER_MS, 988);
    core_release(core);
    core_expect(core, "t=20ms SEND release #1: 0 1 2 3\n");
}

TEST(cases, a_held_lock_asks_no_joiner_after_its_round_and_no_one_twice)
{
    struct rl_acquire request = core_request();
    struct core *core = start_early(&request);

    core_answers(core, "ggg");
    core_link(core, 3, RL_LINK_READY);
    core_link(core, 3, RL_LINK_DOWN);
    core_link(core, 3, RL_LINK_READY);
    core_run_to(core, 50);
    core_link(core, 4, RL_LINK_READY);
    core_expect(core, "t=0ms COMPLETE acquire ok\n"
                      "t=0ms SEND claim #1: 3\n");
}

TEST(cases, an_extension_asks_those_that_join_later_to_set_the_key_again)
{
    struct rl_acquire request = core_request();
    struct core *core = start_early(&request);

    core_answers(core, "ggg");
    core_extend(core, 0);
    core_link(core, 3, RL_LINK_READY);
    core_answers(core, "ggg");
    core_expect(core, "t=0ms COMPLETE acquire ok\n"
                      "t=0ms SEND extend #1: 0 1 2\n"
                      "t=0ms COMPLETE extend ok\n");
    core_extend(core, 0);
    core_answers(core, "ggg");
    core_answer_for(core, 3, RL_REFUSED, RL_DETAIL_MISSING);
    core_expect(core, "t=0ms SEND extend #1: 0 1 2 3\n"
                      "t=0ms COMPLETE extend ok\n"
                      "t=0ms SEND repair #1: 3\n");
}

TEST(cases, nobody_who_joins_is_asked_for_a_value_that_is_rolled_back)
{
    struct rl_acquire request = core_request_once();
    struct core *core = start_early(&request);

    core_answers(core, "rrr");
    core_expect(core, "t=0ms COMPLETE acquire held\n");
    core_link(core, 3, RL_LINK_READY);
    core_expect(core, "");
    core_acquire(core, &request);
    core_answers(core, "ggg");
    core_release(core);
    core_skip(core);
    core_link(core, 4, RL_LINK_READY);
    core_expect(core, "");
}

TEST(cases, a_token_waits_for_a_joiner_that_may_record_it)
{
    struct rl_acquire request = core_request_once();
    struct core *core;

    request.kind = &rl_fenced_kind;
    core = start_early(&request);
    core->counters[0] = 7;
    core->counters[1] = 8;
    core->counters[2] = 9;
    core_answers(core, "ggg");
    core_expect(core, "t=0ms SEND raise #1: 0 1\n");
    core_answers(core, "fg");
    core_expect(core, "");
    core->counters[3] = 9;
    core_link(core, 3, RL_LINK_READY);
    core_answers(core, "...g");
    core_expect(core, "t=0ms SEND claim #1: 3\n"
                      "t=0ms COMPLETE acquire ok\n");
}

TEST(cases, without_a_quorum_a_single_attempt_ends_when_it_is_known_of_every_master)
{
    struct core *core = start_joining(3);
    struct rl_acquire request = core_request_once();

    core_acquire(core, &request);
    core_link(core, 0, RL_LINK_DOWN);
    core_link(core, 1, RL_LINK_DOWN);
    core_expect(core, "");
    core_link(core, 2, RL_LINK_READY);
    core_expect(core, "t=0ms COMPLETE acquire no-quorum\n");
}

TEST(cases, who_enters_the_queue_does_so_as_soon_as_a_quorum_can_vote)
{
    struct core *core = start_joining(5);
    struct rl_acquire request = core_request_fifo();

    core_acquire(core, &request);
    for (unsigned node = 0; node < 3; node++)
        core_link(core, node, RL_LINK_READY);
    core_expect(core, "t=0ms SEND enqueue #1: 0 1 2\n");
    core_answers(core, "ggf");
    core_link(core, 3, RL_LINK_READY);
    core_look_again(core, 3);
    core_expect(core, "t=0ms SEND enqueue #1: 3\n");
    core_answers(core, "...g");
    core_expect(core, "t=0ms COMPLETE acquire ok\n");
}

TEST(cases, an_acquisition_begins_when_another_master_is_admitted)
{
    struct core *core = start_joining(3);
    struct rl_acquire request = core_request();

    core_admit_quarantined(core, 1, 1000);
    core_acquire(core, &request);
    core_link(core, 0, RL_LINK_READY);
    core_link(core, 1, RL_LINK_READY);
    core_expect(core, "");
    core_admit_voting(core, 1, false);
    rl_engine_admissions_changed(&core->engine, core->now);
    core_drain(core);
    core_expect(core, "t=0ms SEND claim #1: 0 1\n");
}

TEST(cases, the_deadline_ends_an_acquisition_that_still_waits_for_links)
{
    struct core *core = start_joining(3);
    struct rl_acquire request = core_request();

    request.deadline = (struct rl_instant){rl_ms(40).ns};
    core_acquire(core, &request);
    core_run_to(core, 39);
    core_expect(core, "");
    core_run_to(core, 40);
    core_expect(core, "t=40ms COMPLETE acquire deadline (no-quorum)\n");
    for (unsigned node = 0; node < 3; node++)
        core_link(core, node, RL_LINK_READY);
    core_expect(core, "");
}

TEST(cases, links_that_settle_after_the_deadline_start_nothing_even_if_the_tick_is_late)
{
    struct core *core = start_joining(3);
    struct rl_acquire request = core_request();

    request.deadline = (struct rl_instant){rl_ms(40).ns};
    core_acquire(core, &request);
    core_sleep_to(core, 40);
    for (unsigned node = 0; node < 3; node++)
        core_link(core, node, RL_LINK_READY);
    core_expect(core, "t=40ms COMPLETE acquire deadline (no-quorum)\n");
}

TEST(cases, without_a_deadline_waiting_for_links_asks_for_no_tick)
{
    struct core *core = start_joining(3);
    struct rl_acquire request = core_request();

    core_acquire(core, &request);
    ck_assert_int_eq(rl_lock_wakeup(&core->engine, &core->locks[0]).ns, RL_NEVER.ns);
    core_run_to(core, 1000000);
    core_expect(core, "");
}

TEST(cases, all_who_waited_for_links_start_in_the_order_in_which_they_came)
{
    struct core *core = start_joining(3);
    struct rl_acquire request = core_request();

    for (core->handle = CORE_LOCKS; core->handle-- > 0;)
        core_acquire(core, &request);
    core_link(core, 0, RL_LINK_DOWN);
    core_link(core, 1, RL_LINK_READY);
    core_link(core, 2, RL_LINK_READY);
    core_expect(core, "t=0ms SEND claim #1: 1 2\n"
                      "t=0ms SEND claim #2: 1 2\n"
                      "t=0ms SEND claim #3: 1 2\n"
                      "t=0ms SEND claim #4: 1 2\n");
    ck_assert_ptr_eq(core_claim_of(core->locks[CORE_LOCKS - 1].claim),
                     RL_CONTAINER_OF(core->live.next, struct core_claim, link));
}

TEST(cases, who_cancels_while_links_are_joining_is_not_started)
{
    struct core *core = start_joining(3);
    struct rl_acquire request = core_request();

    core_acquire(core, &request);
    ck_assert(core_cancel(core));
    core_expect(core, "t=0ms COMPLETE acquire canceled\n");
    for (unsigned node = 0; node < 3; node++)
        core_link(core, node, RL_LINK_READY);
    core_expect(core, "");
}

TEST(cases, who_is_destroyed_while_links_are_joining_is_not_started)
{
    struct core *core = start_joining(3);
    struct rl_acquire request = core_request();

    core_acquire(core, &request);
    core_fini(core);
    for (unsigned node = 0; node < 3; node++)
        core_link(core, node, RL_LINK_READY);
    core_expect(core, "");
}

TEST(cases, once_all_links_have_settled_nobody_waits_again)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request();

    core_link(core, 0, RL_LINK_DOWN);
    core_link(core, 1, RL_LINK_LATE);
    core_link(core, 1, RL_LINK_READY);
    core_acquire(core, &request);
    core_expect(core, "t=0ms SEND claim #1: 1 2\n");
}

SUITE("engine_joining")
