/* Commands that wait for a better moment. */
#include <stdlib.h>

#include "rig.h"

/* Everything that can be done now without waiting for time to pass. */
static void run_what_is_due(void)
{
    for (int i = 0; i < 5; i++)
        event_base_loop(rig.base, EVLOOP_NONBLOCK);
}

static struct fake_server *start_one(enum fake_kind kind)
{
    struct fake_server *server = rig_add(kind);

    rig_start_ready();
    run_what_is_due();
    return server;
}

/* As if the end of its patience were far. */
static void be_patient(void)
{
    rl_timers_arm(&rig.driver->timers, &rig.driver->unhurried_timer,
                  rl_after(rl_clock_now(&rig.clock), rl_ms(3600 * 1000)));
}

START_TEST(it_is_written_when_it_is_hurried)
{
    struct fake_server *server = start_one(FAKE_TCP4);

    be_patient();
    ck_assert(rig_send_unhurried(0, 1, "LATER"));
    run_what_is_due();
    ck_assert_uint_gt(rig_stats(0).unsent_bytes, 0);
    rl_driver_hurry(rig.driver);
    while (server->commands < 1)
        rig_turn();
    ck_assert_str_eq(server->log, "LATER;");
    ck_assert_uint_eq(rig_stats(0).unsent_bytes, 0);
}
END_TEST

START_TEST(it_goes_with_whatever_is_sent_next)
{
    struct fake_server *server = start_one(FAKE_TCP4);

    be_patient();
    ck_assert(rig_send_unhurried(0, 1, "LATER") && rig_send_unhurried(0, 2, "LAST") && rig_send(0, 3, "NOW"));
    while (server->commands < 3)
        rig_turn();
    ck_assert_str_eq(server->log, "LATER;LAST;NOW;");
}
END_TEST

START_TEST(it_does_not_hold_up_what_is_in_a_hurry_already)
{
    struct fake_server *server = start_one(FAKE_TCP4);

    be_patient();
    ck_assert(rig_send(0, 1, "NOW") && rig_send_unhurried(0, 2, "LATER"));
    while (server->commands < 2)
        rig_turn();
    ck_assert_str_eq(server->log, "NOW;LATER;");
}
END_TEST

START_TEST(its_patience_ends_by_itself)
{
    struct fake_server *server = start_one(FAKE_TCP4);

    for (unsigned i = 1; i <= 3; i++) {
        ck_assert(rig_send_unhurried(0, i, "LATER"));
        while (server->commands < i)
            rig_turn();
    }
    ck_assert_str_eq(server->log, "LATER;LATER;LATER;");
}
END_TEST

START_TEST(others_are_not_concerned)
{
    struct fake_server *first = rig_add(FAKE_UNIX);
    struct fake_server *second = rig_add(FAKE_TCP4);

    rig_start_ready();
    be_patient();
    ck_assert(rig_send_unhurried(0, 1, "LATER") && rig_send(1, 2, "NOW"));
    while (second->commands < 1)
        rig_turn();
    ck_assert_uint_eq(first->commands, 0);
    ck_assert_uint_gt(rig_stats(0).unsent_bytes, 0);
}
END_TEST

START_TEST(it_is_written_before_the_end)
{
    struct fake_server *server = start_one(FAKE_TCP4);

    be_patient();
    ck_assert(rig_send_unhurried(0, 1, "LATER"));
    rl_driver_close(rig.driver, false);
    while (server->commands < 1)
        rig_turn();
    ck_assert_str_eq(server->log, "LATER;");
}
END_TEST

START_TEST(a_connection_that_ends_drops_it_unsent)
{
    struct fake_server *server = start_one(FAKE_TCP4);

    server->rules.other = "+OK\r\n";
    be_patient();
    ck_assert(rig_send_unhurried(0, 1, "LATER"));
    fake_server_hang_up(server);
    while (!rig.n_events)
        rig_turn();
    ck_assert_int_eq(rig.events[0].kind, RIG_DROPPED);
    ck_assert(rig.events[0].unsent);
    rig_until_link(0, RL_LINK_READY);
    be_patient();
    ck_assert(rig_send_unhurried(0, 2, "AGAIN"));
    rl_driver_hurry(rig.driver);
    while (rig.n_events < 2)
        rig_turn();
    ck_assert_str_eq(server->log, "AGAIN;");
}
END_TEST

static struct rl_instant since;

static void remember_latency(const struct rig_event *event)
{
    int64_t all_ns = rl_until(since, rl_clock_now(&rig.clock)).ns;

    ck_assert_uint_eq(event->number, 1);
    ck_assert_int_le(rig_stats(0).last_latency_ns, all_ns - rl_ms(20).ns);
}

START_TEST(it_is_late_only_from_when_it_is_written)
{
    start_one(FAKE_TCP4)->rules.other = "+OK\r\n";
    be_patient();
    since = rl_clock_now(&rig.clock);
    rig.on_reply = remember_latency;
    ck_assert(rig_send_unhurried(0, 1, "LATER"));
    while (rl_until(since, rl_clock_now(&rig.clock)).ns < rl_ms(20).ns)
        event_base_loop(rig.base, EVLOOP_NONBLOCK);
    rl_driver_hurry(rig.driver);
    while (!rig.n_events)
        rig_turn();
}
END_TEST

START_TEST(a_master_is_near_when_it_has_answered_fast_on_this_machine)
{
    static const enum fake_kind kinds[] = {FAKE_UNIX, FAKE_TCP4, FAKE_TCP6};
    struct fake_server *server = rig_add(kinds[_i]);

    if (!server)
        return; /* no IPv6 here */
    server->rules.other = "+OK\r\n";
    rig_start_ready();
    ck_assert(!rl_driver_is_near(rig.driver, 0, rl_ms(3600 * 1000)));
    ck_assert(rig_send(0, 1, "GET"));
    while (!rig.n_events)
        rig_turn();
    ck_assert(rl_driver_is_near(rig.driver, 0, rl_ms(3600 * 1000)));
    ck_assert(!rl_driver_is_near(rig.driver, 0, (struct rl_span){rig_stats(0).last_latency_ns}));
    fake_server_hang_up(server);
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert(!rl_driver_is_near(rig.driver, 0, rl_ms(3600 * 1000)));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("unhurried");
    TCase *cases = suite_add_case(suite, "unhurried", rig_setup, rig_teardown);

    tcase_add_test(cases, it_is_written_when_it_is_hurried);
    tcase_add_test(cases, it_goes_with_whatever_is_sent_next);
    tcase_add_test(cases, it_does_not_hold_up_what_is_in_a_hurry_already);
    tcase_add_test(cases, its_patience_ends_by_itself);
    tcase_add_test(cases, others_are_not_concerned);
    tcase_add_test(cases, it_is_written_before_the_end);
    tcase_add_test(cases, a_connection_that_ends_drops_it_unsent);
    tcase_add_test(cases, it_is_late_only_from_when_it_is_written);
    tcase_add_loop_test(cases, a_master_is_near_when_it_has_answered_fast_on_this_machine, 0, 3);
    return suite_run(suite);
}
