/* Sending and answering on connections that work. */
#include <stdlib.h>
#include <string.h>

#include "stream/plain.h"
#include "rig.h"

/* A stream that counts the writes of the driver and otherwise is the plain one. */
static unsigned n_writes;

static enum rl_io counting_write(struct rl_stream *stream, const void *data, size_t size, size_t *ret_size)
{
    n_writes++;
    return rl_stream_plain.write(stream, data, size, ret_size);
}

static void count_writes(unsigned node)
{
    static struct rl_stream_type counting;

    counting = rl_stream_plain;
    counting.write = counting_write;
    rig.driver->nodes[node]->conn.stream.type = &counting;
    n_writes = 0;
}

GROUP(tc, "commands", rig_setup, rig_teardown)

TEST(tc, many_commands_of_one_turn_are_one_write)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    rig_start_ready();
    count_writes(0);
    for (unsigned i = 0; i < 1000; i++)
        ck_assert(rig_send(0, i, "GET"));
    ck_assert_uint_eq(n_writes, 0);
    while (server->commands < 1000)
        rig_turn();
    ck_assert_uint_eq(n_writes, 1);
}

TEST(tc, replies_belong_to_commands_in_their_order)
{
    struct fake_server *server = rig_add(FAKE_TCP4);

    rig_start_ready();
    for (unsigned i = 1; i <= 4; i++)
        ck_assert(rig_send(0, i, "GET"));
    while (server->commands < 4)
        rig_turn();
    fake_server_say(server, "+a\r\n:7\r\n$-1\r\n-E x\r\n");
    while (rig.n_events < 4)
        rig_turn();
    for (unsigned i = 0; i < 4; i++) {
        static const char *const texts[] = {"a", "7", "nil", "E x"};

        ck_assert_int_eq(rig.events[i].kind, RIG_REPLY);
        ck_assert_uint_eq(rig.events[i].number, i + 1);
        ck_assert_str_eq(rig.events[i].text, texts[i]);
    }
}

TEST(tc, replies_in_single_bytes_are_the_same_replies)
{
    struct fake_server *server = rig_add(FAKE_TCP4);

    server->bytewise = true;
    server->rules.other = "$5\r\nhello\r\n";
    rig_start_ready();
    ck_assert(rig_send(0, 1, "GET") && rig_send(0, 2, "GET"));
    while (rig.n_events < 2)
        rig_turn();
    ck_assert_str_eq(rig.events[1].text, "hello");
    ck_assert_uint_eq(rig.events[1].number, 2);
}

TEST(tc, each_master_gets_its_own_commands)
{
    rig_add(FAKE_UNIX)->rules.other = "+zero\r\n";
    rig_add(FAKE_TCP4)->rules.other = "+one\r\n";
    rig_start_ready();
    ck_assert(rig_send(1, 10, "A") && rig_send(0, 20, "B") && rig_send(1, 30, "C"));
    while (rig.n_events < 3)
        rig_turn();
    for (unsigned i = 0; i < 3; i++)
        ck_assert_str_eq(rig.events[i].text, rig.events[i].node ? "one" : "zero");
    ck_assert_str_eq(rig.servers[1]->log, "A;C;");
}

TEST(tc, a_turn_comes_after_the_reading_and_before_the_writing)
{
    rig_add(FAKE_UNIX)->rules.other = "+OK\r\n";
    rig_start_ready();
    rl_transport_wake(&rig.transport);
    rl_transport_wake(&rig.transport);
    rig.turns = 0;
    rig_turn();
    ck_assert_uint_eq(rig.turns, 1);
    ck_assert(rig_send(0, 1, "GET"));
    while (!rig.n_events)
        rig_turn();
    ck_assert_uint_ge(rig.turns, 2);
}

static void send_once_from_turn(void)
{
    if (rig.turns == 1)
        ck_assert(rig_send(0, 5, "FROM-TURN"));
}

TEST(tc, what_is_sent_during_a_turn_is_written_by_the_same_turn)
{
    rig_add(FAKE_UNIX);
    rig_start_ready();
    rig.turns = 0;
    rig.on_turn = send_once_from_turn;
    rl_transport_wake(&rig.transport);
    event_base_loop(rig.base, EVLOOP_NONBLOCK);
    ck_assert_uint_eq(rig_stats(0).unsent_bytes, 0);
}

static void ask_again(const struct rig_event *event)
{
    rl_transport_read_now(&rig.transport);
    rl_transport_wake(&rig.transport);
    if (event->number < 50)
        ck_assert(rig_send(0, event->number + 1, "AGAIN"));
}

TEST(tc, the_sink_may_send_wake_and_read_from_inside_a_reply)
{
    rig_add(FAKE_UNIX)->rules.other = "+OK\r\n";
    rig_start_ready();
    rig.on_reply = ask_again;
    ck_assert(rig_send(0, 1, "FIRST") && rig_send(0, 100, "SECOND"));
    while (rig.n_events < 51)
        rig_turn();
    ck_assert_uint_eq(rig_stats(0).pending, 0);
}

/* The test's thread is the server's too: what it says is in the client's socket when the call returns. */
TEST(tc, read_now_finds_a_reply_that_is_already_in_the_socket)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    rig_start_ready();
    ck_assert(rig_send(0, 1, "GET"));
    while (!server->commands)
        rig_turn();
    fake_server_say(server, "+OK\r\n");
    ck_assert_uint_eq(rig.n_events, 0);
    rl_transport_read_now(&rig.transport);
    ck_assert_uint_eq(rig.n_events, 1);
    ck_assert_str_eq(rig.events[0].text, "OK");
}

TEST(tc, claims_are_refused_at_the_cap_while_everything_else_passes)
{
    rig_add(FAKE_UNIX);
    rig.config.max_buffer_bytes = 100;
    rig_start_ready();
    while (rig_stats(0).unsent_bytes <= 100)
        ck_assert(rig_send_claim(0, 1, "0123456789"));
    ck_assert(!rig_send_claim(0, 2, "CLAIM"));
    ck_assert(rig_send(0, 3, "RELEASE"));
    while (rig_stats(0).unsent_bytes)
        rig_turn();
    ck_assert(rig_send_claim(0, 4, "CLAIM"));
}

TEST(tc, more_than_the_socket_takes_is_written_when_there_is_room)
{
    struct fake_server *server = rig_add(FAKE_UNIX);
    static char word[100001];

    memset(word, 'w', sizeof word - 1);
    rig_start_ready();
    fake_server_set_deaf(server, true);
    for (unsigned i = 0; i < 20; i++)
        ck_assert(rig_send(0, i, word));
    event_base_loop(rig.base, EVLOOP_NONBLOCK);
    ck_assert_uint_gt(rig_stats(0).unsent_bytes, 0);
    ck_assert(rig_send(0, 20, "LAST"));
    server->rules.other = "+OK\r\n";
    fake_server_set_deaf(server, false);
    while (rig.n_events < 21)
        rig_turn();
    ck_assert_uint_eq(rig_stats(0).unsent_bytes, 0);
}

TEST(tc, statistics_count_what_happens)
{
    struct rl_conn_stats stats;
    uint64_t handshake_bytes;

    rig_add(FAKE_UNIX)->rules.other = "+OK\r\n";
    rig_start_ready();
    ck_assert_int_eq(rig_stats(0).last_latency_ns, -1);
    handshake_bytes = rig_stats(0).bytes_out;
    ck_assert(rig_send(0, 1, "GET") && rig_send(0, 2, "GET"));
    ck_assert_uint_eq(rig_stats(0).pending, 2);
    while (rig.n_events < 2)
        rig_turn();
    stats = rig_stats(0);
    ck_assert_uint_eq(stats.commands, 2);
    ck_assert_uint_eq(stats.replies, 2);
    ck_assert_uint_eq(stats.connects, 1);
    ck_assert_uint_eq(stats.disconnects, 0);
    ck_assert_uint_eq(stats.bytes_out - handshake_bytes, 2 * strlen("*1\r\n$3\r\nGET\r\n"));
    ck_assert_int_gt(stats.last_latency_ns, 0);
    ck_assert_str_eq(stats.last_error, "");
}

SUITE("commands")
