/* Connections that listen: what is said on them, and what they make of what they are told. */
#include <string.h>

#include "rig.h"

static void start_listening(void)
{
    rig_start_ready();
    rig_listen();
    for (unsigned i = 0; i < rig.n_nodes; i++)
        rig_until_listening(i, true);
}

static void until_messages(unsigned node, unsigned n)
{
    while (rig.listening[node].messages < n)
        rig_turn();
}

static void destroy(void)
{
    rl_driver_destroy(rig.driver, false);
    rig.driver = NULL;
}

/* --- What is said ---------------------------------------------------------------------------------------------- */

GROUP(said, "said", rig_setup, rig_teardown)

TEST(said, a_listener_subscribes_once_per_master_however_often_it_is_asked_for)
{
    rig_add(FAKE_UNIX);
    rig_add(FAKE_TCP4);
    rig_add_notifiers(FAKE_TCP4);
    start_listening();
    ck_assert_int_eq(rl_transport_listen(&rig.transport, "another"), 0);
    event_base_loop(rig.base, EVLOOP_NONBLOCK);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_uint_eq(rig.notifiers[i]->accepted, 1);
        ck_assert_str_eq(rig.notifiers[i]->handshake, "CLIENT SUBSCRIBE ");
        ck_assert_str_eq(rig.listening[i].path, "ON ");
        ck_assert_str_eq(rig.listening[i].why, "");
        ck_assert_uint_eq(rig.servers[i]->accepted, 1);
        ck_assert_str_eq(rig.links[i].path, "READY ");
    }
}

TEST(said, without_being_asked_for_nothing_listens)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    rig_start_ready();
    for (int i = 0; i < 10; i++)
        event_base_loop(rig.base, EVLOOP_NONBLOCK);
    ck_assert_uint_eq(server->accepted, 1);
    ck_assert_uint_eq(rig.listening[0].changes, 0);
    ck_assert_uint_eq(rig_stats(0).messages, 0);
}

TEST(said, a_listener_says_who_it_is)
{
    rig_add(FAKE_UNIX);
    rig_set_credentials(0, "user:secret");
    rig_add_notifiers(FAKE_UNIX);
    start_listening();
    ck_assert_str_eq(rig.notifiers[0]->handshake, "AUTH CLIENT SUBSCRIBE ");
}

TEST(said, what_listens_is_asked_for_from_inside_the_sink_as_well)
{
    rig_add(FAKE_UNIX);
    rig_add_notifiers(FAKE_UNIX);
    rig.on_turn = rig_listen;
    rig_start();
    while (!rig.driver->listening)
        rig_turn();
    rig.on_turn = NULL;
    rig_until_listening(0, true);
}

/* --- Messages -------------------------------------------------------------------------------------------------- */

GROUP(heard, "heard", rig_setup, rig_teardown)

TESTS(heard, messages_reach_the_sink_in_whatever_pieces_they_arrive, 0, 2)
{
    struct fake_server *notifier = rig_start_listening(FAKE_UNIX);

    notifier->bytewise = _i;
    rig_say_message(0, "first");
    rig_say_message(0, "");
    until_messages(0, 2);
    ck_assert_uint_eq(rig.listening[0].payload_size, 0);
    rig_say_message(0, "third\r\n$-1");
    until_messages(0, 3);
    ck_assert_str_eq(rig.listening[0].payload, "third\r\n$-1");
    ck_assert_uint_eq(rig_stats(0).messages, 3);
    ck_assert_uint_eq(rig_stats(0).replies, 0);
}

TEST(heard, a_message_right_behind_the_answer_to_subscribe_is_told_after_it)
{
    rig_add(FAKE_UNIX);
    rig_add_notifiers(FAKE_UNIX);
    rig.notifiers[0]->rules.subscribe = "*3\r\n$9\r\nsubscribe\r\n$14\r\n" RIG_CHANNEL "\r\n:1\r\n"
                                          "*3\r\n$7\r\nmessage\r\n$14\r\n" RIG_CHANNEL "\r\n$3\r\nnow\r\n";
    rig_start_ready();
    rig_listen();
    until_messages(0, 1);
    ck_assert_str_eq(rig.listening[0].payload, "now");
    ck_assert_str_eq(rig.listening[0].path, "ON ");
}

TEST(heard, only_a_message_that_is_too_long_ends_the_connection)
{
    static char longest[RL_MESSAGE_MAX_BYTES + 2];

    rig_start_listening(FAKE_UNIX);
    memset(longest, 'm', RL_MESSAGE_MAX_BYTES);
    rig_say_message(0, longest);
    until_messages(0, 1);
    ck_assert_uint_eq(rig.listening[0].payload_size, RL_MESSAGE_MAX_BYTES);
    longest[RL_MESSAGE_MAX_BYTES] = 'm';
    rig_say_message(0, longest);
    rig_until_listening(0, false);
    ck_assert_str_eq(rig.listening[0].why, "a message of 4097 bytes, more than 4096");
    ck_assert_uint_eq(rig.listening[0].messages, 1);
    rig_until_listening(0, true);
}

#define MESSAGE(channel) "*3\r\n$7\r\nmessage\r\n$14\r\n" channel "\r\n$1\r\nx\r\n"
#define NESTED "*1\r\n*1\r\n*1\r\n"

static const struct {
    const char *text, *why;
} foreign[] = {
    {MESSAGE("{redlock}:olds"), "a channel that was not subscribed to"},
    {"*3\r\n$7\r\nmessage\r\n:14\r\n$1\r\nx\r\n", "a channel that was not subscribed to"},
    {"*3\r\n$7\r\nmessage\r\n$14\r\n" RIG_CHANNEL "\r\n:1\r\n", "neither a message nor"},
    {"*3\r\n$7\r\nmessage\r\n$14\r\n" RIG_CHANNEL "\r\n$-1\r\n", "neither a message nor"},
    {"*2\r\n$7\r\nmessage\r\n$14\r\n" RIG_CHANNEL "\r\n", "neither a message nor"},
    {"*4\r\n$8\r\npmessage\r\n$1\r\n*\r\n$14\r\n" RIG_CHANNEL "\r\n$1\r\nx\r\n", "neither a message nor"},
    {"*3\r\n$11\r\nunsubscribe\r\n$14\r\n" RIG_CHANNEL "\r\n:0\r\n", "neither a message nor"},
    {"*3\r\n$9\r\nsubscribe\r\n$14\r\n" RIG_CHANNEL "\r\n:1\r\n", "neither a message nor"},
    {"*2\r\n$4\r\npong\r\n$0\r\n\r\n", "neither a message nor"}, /* nobody has asked */
    {"+PONG\r\n", "neither a message nor"},
    {"-ERR no\r\n", "neither a message nor"},
    {"*0\r\n", "neither a message nor"},
    {"*-1\r\n", "neither a message nor"},
    {NESTED ":1\r\n", "an array inside an array"},
    {">3\r\n$7\r\nmessage\r\n", "protocol"},
    {"garbage\r\n", "protocol"},
    {"*9999999\r\n", "protocol"},
};

TESTS(heard, whatever_is_not_a_message_ends_the_connection, 0, sizeof foreign / sizeof foreign[0])
{
    rig_start_listening(FAKE_UNIX);
    rig_say_message(0, "good");
    until_messages(0, 1);
    fake_server_say(rig.notifiers[0], foreign[_i].text);
    rig_until_listening(0, false);
    ck_assert_msg(strstr(rig.listening[0].why, foreign[_i].why) != NULL, "%s", rig.listening[0].why);
    ck_assert_uint_eq(rig.listening[0].messages, 1);
    rig_until_listening(0, true);
    rig_say_message(0, "as before");
    until_messages(0, 2);
    ck_assert_str_eq(rig.links[0].path, "READY ");
}

TEST(heard, a_sink_that_does_not_care_is_not_told)
{
    rig_start_listening(FAKE_UNIX);
    rig.driver->shared.sink.message = NULL;
    rig.driver->shared.sink.listening = NULL;
    rig_say_message(0, "unheard");
    while (!rig_stats(0).messages)
        rig_turn();
    fake_server_hang_up(rig.notifiers[0]);
    while (rig.notifiers[0]->accepted < 2)
        rig_turn();
    ck_assert_str_eq(rig.listening[0].path, "ON ");
    ck_assert_uint_eq(rig.listening[0].messages, 0);
}

/* --- Before a deadline, and from inside ------------------------------------------------------------------------ */

static unsigned messages_before_reply;

static void note_order(const struct rig_event *event)
{
    messages_before_reply = rig.listening[0].messages;
}

GROUP(inside, "inside", rig_setup, rig_teardown)

TEST(inside, reading_now_brings_replies_and_then_messages)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    rig_add_notifiers(FAKE_UNIX);
    rig.on_reply = note_order;
    start_listening();
    ck_assert(rig_send(0, 1, "GET"));
    while (!server->commands)
        rig_turn();
    rig_say_message(0, "granted");
    fake_server_say(server, "+OK\r\n");
    rl_transport_read_now(&rig.transport);
    ck_assert_uint_eq(rig.n_events, 1);
    ck_assert_uint_eq(rig.listening[0].messages, 1);
    ck_assert_uint_eq(messages_before_reply, 0);
}

static void use_everything(unsigned node)
{
    unsigned messages = rig.listening[node].messages;

    rl_transport_read_now(&rig.transport);
    ck_assert_uint_eq(rig.listening[node].messages, messages);
    ck_assert_int_eq(rl_transport_listen(&rig.transport, "another"), 0);
    rl_transport_fail(&rig.transport, node, "failed by a message");
    ck_assert(!rig_send(node, 1, "NO"));
    rl_transport_wake(&rig.transport);
}

TEST(inside, the_sink_may_use_the_driver_from_inside_a_message)
{
    rig_start_listening(FAKE_UNIX);
    rig.on_message = use_everything;
    rig_say_message(0, "one");
    rig_say_message(0, "two");
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_str_eq(rig.links[0].why, "failed by a message");
    until_messages(0, 2);
    ck_assert_str_eq(rig.listening[0].path, "ON ");
    rig_until_link(0, RL_LINK_READY);
}

static void destroy_after_message(void)
{
    if (rig.listening[0].messages)
        destroy();
}

TEST(inside, the_driver_may_be_destroyed_by_the_turn_that_a_message_causes)
{
    struct fake_server *notifier = rig_start_listening(FAKE_UNIX);

    rig.on_turn = destroy_after_message;
    rig_say_message(0, "the last");
    while (rig.driver)
        rig_turn();
    while (!notifier->gone)
        rig_turn();
    ck_assert(!notifier->was_reset);
    ck_assert_str_eq(rig.listening[0].path, "ON ");
}

SUITE("listen")
