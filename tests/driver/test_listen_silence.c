/* Connections that listen and hear nothing: is nothing said, or is nobody there? */
#include <string.h>

#include "rig.h"

static void until_changes(unsigned n)
{
    while (rig.listening[0].changes < n)
        rig_turn();
}

GROUP(silent, "silent", rig_setup, rig_teardown)

TEST(silent, a_silent_listener_is_asked_and_stays_when_it_answers)
{
    struct fake_server *notifier;

    rig.config.stall_timeout = rl_ms(2000);
    notifier = rig_start_listening(FAKE_TCP4);
    for (unsigned i = 0; i < 3; i++) {
        struct rl_conn *listener = rig.driver->nodes[0]->listener;
        size_t length = strlen(notifier->handshake);

        listener->last_received.ns -= rl_ms(1000).ns;
        listener->listening.asked = RL_LONG_AGO;
        listener->watch.fire(&listener->watch, rl_clock_now(&rig.clock));
        while (strlen(notifier->handshake) == length || rl_in_flight_count(&listener->listening.owed))
            rig_turn();
    }
    ck_assert_str_eq(notifier->handshake, "CLIENT SUBSCRIBE PING PING PING ");
    ck_assert_str_eq(rig.listening[0].path, "ON ");
}

static void expect_nothing_owed(unsigned node, struct rl_instant now)
{
    ck_assert(!rig.listening[node].on || !rl_in_flight_count(&rig.driver->nodes[node]->listener->listening.owed));
}

TEST(silent, a_listener_that_does_not_answer_is_replaced)
{
    struct fake_server *notifier;

    rig.config.stall_timeout = rl_ms(60);
    rig_add(FAKE_UNIX);
    rig_add_notifiers(FAKE_TCP4);
    notifier = rig.notifiers[0];
    notifier->rules.ping = "";
    rig.on_listening = expect_nothing_owed;
    rig_start_ready();
    rig_listen();
    until_changes(2);
    ck_assert_str_eq(rig.listening[0].path, "ON OFF ");
    ck_assert_ptr_nonnull(strstr(rig.listening[0].why, "stalled"));
    while (!notifier->gone)
        rig_turn();
    ck_assert(notifier->was_reset);
    notifier->rules.ping = NULL;
    rig_until_listening(0, true);
}

/* Half a stall time has to pass before anything is asked. */
TEST(silent, a_listener_that_talks_is_not_asked)
{
    struct rl_conn *listener;

    rig.config.stall_timeout = rl_ms(60000);
    rig_start_listening(FAKE_UNIX);
    listener = rig.driver->nodes[0]->listener;
    listener->watch.fire(&listener->watch, rl_clock_now(&rig.clock));
    ck_assert(!rl_in_flight_count(&listener->listening.owed));
    listener->last_received.ns -= rl_ms(30000).ns;
    rig_say_message(0, "in the socket already");
    listener->watch.fire(&listener->watch, rl_clock_now(&rig.clock));
    ck_assert(!rl_in_flight_count(&listener->listening.owed));
    ck_assert_uint_eq(rig.listening[0].messages, 1);
    ck_assert_str_eq(rig.notifiers[0]->handshake, "CLIENT SUBSCRIBE ");
}

/* The loop was late: when the time is over, the answer is in the socket, or a message, which shows as well that the
 * peer lives. */
TESTS(silent, what_is_in_the_socket_counts_even_if_the_loop_was_late, 0, 2)
{
    struct fake_server *notifier;
    struct rl_conn *listener;

    rig.config.stall_timeout = rl_ms(60000);
    notifier = rig_start_listening(FAKE_UNIX);
    notifier->rules.ping = "";
    listener = rig.driver->nodes[0]->listener;
    listener->last_received.ns -= rl_ms(30000).ns;
    listener->watch.fire(&listener->watch, rl_clock_now(&rig.clock));
    while (strcmp(notifier->handshake, "CLIENT SUBSCRIBE PING ") != 0)
        rig_turn();
    if (_i)
        rig_say_message(0, "before the answer");
    else
        fake_server_say(notifier, "*2\r\n$4\r\npong\r\n$0\r\n\r\n");
    listener->last_received.ns -= rl_ms(60000).ns;
    listener->listening.asked.ns -= rl_ms(60000).ns;
    listener->watch.fire(&listener->watch, rl_clock_now(&rig.clock));
    ck_assert_uint_eq(rl_in_flight_count(&listener->listening.owed), (unsigned)_i);
    ck_assert_str_eq(rig.listening[0].path, "ON ");
}

SUITE("listen_silence")
