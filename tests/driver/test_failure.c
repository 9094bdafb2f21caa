/* Late, silent, broken and lost connections. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

static struct rl_instant ago(int64_t ms)
{
    return (struct rl_instant){rl_clock_now(&rig.clock).ns - ms * RL_NS_PER_MS};
}

GROUP(late, "late", rig_setup, rig_teardown)

TEST(late, an_overdue_reply_makes_the_link_late_and_its_arrival_ready_again)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    rig.config.node_timeout = rl_ms(20);
    rig_start_ready();
    ck_assert(rig_send(0, 1, "GET"));
    rig_until_link(0, RL_LINK_LATE);
    ck_assert_uint_eq(rig.n_events, 0);
    ck_assert(rig_send(0, 2, "RELEASE"));
    while (server->commands < 2)
        rig_turn();
    fake_server_say(server, "+1\r\n+2\r\n");
    rig_until_link(0, RL_LINK_READY);
    ck_assert_uint_eq(rig.n_events, 2);
    ck_assert_str_eq(rig.links[0].path, "READY LATE READY ");
}

TEST(late, a_link_stays_late_while_its_oldest_command_is_overdue)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    rig.config.node_timeout = rl_ms(50);
    rig_start_ready();
    ck_assert(rig_send_as_of(0, 1, "OLD", ago(50)) && rig_send_as_of(0, 2, "OLD", ago(50)));
    rig_until_link(0, RL_LINK_LATE);
    ck_assert(rig_send_as_of(0, 3, "YOUNG", rl_after(ago(0), rl_ms(60000))));
    while (server->commands < 3)
        rig_turn();
    fake_server_say(server, "+1\r\n");
    while (rig.n_events < 1)
        rig_turn();
    ck_assert_int_eq(rig.links[0].link, RL_LINK_LATE);
    fake_server_say(server, "+2\r\n");
    rig_until_link(0, RL_LINK_READY);
    ck_assert_uint_eq(rig.n_events, 2);
}

TEST(late, a_link_that_was_late_is_watched_as_closely_as_before)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    rig.config.node_timeout = rl_ms(20);
    rig.config.stall_timeout = rl_ms(3600 * 1000);
    rig_start_ready();
    for (unsigned i = 1; i <= 3; i++) {
        ck_assert(rig_send(0, i, "GET"));
        rig_until_link(0, RL_LINK_LATE);
        fake_server_say(server, "+OK\r\n");
        rig_until_link(0, RL_LINK_READY);
    }
    ck_assert_str_eq(rig.links[0].path, "READY LATE READY LATE READY LATE READY ");
}

/* The loop comes late to a reply that is in time: the timer and the socket are ready in the same turn. */
TEST(late, a_reply_in_the_socket_counts_even_if_the_loop_was_late)
{
    struct fake_server *server = rig_add(FAKE_UNIX);
    struct rl_conn *conn;

    rig.config.node_timeout = rl_ms(5000);
    rig_start_ready();
    ck_assert(rig_send_as_of(0, 1, "GET", ago(4900)));
    while (!server->commands)
        rig_turn();
    fake_server_say(server, "+OK\r\n");
    conn = &rig.driver->nodes[0]->conn;
    conn->watch.fire(&conn->watch, rl_after(ago(0), rl_ms(5000)));
    ck_assert_uint_eq(rig.n_events, 1);
    ck_assert_str_eq(rig.links[0].path, "READY ");
}

TEST(late, a_connection_that_is_silent_for_the_stall_time_is_severed)
{
    struct fake_server *server = rig_add(FAKE_TCP4);

    rig.config.node_timeout = rl_ms(10);
    rig.config.stall_timeout = rl_ms(40);
    rig_start_ready();
    ck_assert(rig_send(0, 1, "GET"));
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_str_eq(rig.links[0].path, "READY LATE DOWN ");
    ck_assert_ptr_nonnull(strstr(rig.links[0].why, "stalled"));
    ck_assert_int_eq(rig.events[0].kind, RIG_DROPPED);
    ck_assert(!rig.events[0].unsent);
    while (server->gone < 1)
        rig_turn();
    ck_assert(server->was_reset);
    rig_until_link(0, RL_LINK_READY);
}

TEST(late, an_idle_connection_is_neither_late_nor_stalled)
{
    struct rl_conn *conn;

    rig_add(FAKE_UNIX)->rules.other = "+OK\r\n";
    rig_start_ready();
    ck_assert(rig_send(0, 1, "GET"));
    while (!rig.n_events)
        rig_turn();
    conn = &rig.driver->nodes[0]->conn;
    conn->watch.fire(&conn->watch, rl_after(ago(0), rl_ms(3600 * 1000)));
    ck_assert_str_eq(rig.links[0].path, "READY ");
    ck_assert(rig_send(0, 2, "GET"));
}

GROUP(broken, "broken", rig_setup, rig_teardown)

TESTS(broken, a_broken_connection_drops_what_was_sent_and_comes_back, 0, 2)
{
    struct fake_server *server = rig_add(FAKE_TCP4);

    rig_start_ready();
    ck_assert(rig_send(0, 1, "GET") && rig_send(0, 2, "GET"));
    while (server->commands < 2)
        rig_turn();
    fake_server_say(server, "+OK\r\n$10\r\nhal");
    if (_i)
        fake_server_reset(server);
    else
        fake_server_hang_up(server);
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_uint_eq(rig.n_events, 2);
    ck_assert_int_eq(rig.events[0].kind, RIG_REPLY);
    ck_assert_int_eq(rig.events[1].kind, RIG_DROPPED);
    ck_assert(!rig.events[1].unsent);
    rig_until_link(0, RL_LINK_READY);
    ck_assert_uint_eq(rig_stats(0).connects, 2);
}

TESTS(broken, garbage_and_unasked_replies_end_the_connection, 0, 4)
{
    static const char *const texts[] = {"garbage\r\n", "+UNASKED\r\n", "*1\r\n*1\r\n:1\r\n", ">1\r\n+push\r\n"};
    struct fake_server *server = rig_add(FAKE_UNIX);

    rig_start_ready();
    fake_server_say(server, texts[_i]);
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_uint_gt(strlen(rig.links[0].why), 0);
    rig_until_link(0, RL_LINK_READY);
}

TEST(broken, what_was_never_written_is_surely_unsent)
{
    rig_add(FAKE_UNIX);
    rig_start_ready();
    ck_assert(rig_send(0, 1, "GET"));
    rl_transport_fail(&rig.transport, 0, "the owner says so");
    ck_assert(!rig_send(0, 2, "GET"));
    ck_assert_uint_eq(rig.n_events, 0);
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_str_eq(rig.links[0].why, "the owner says so");
    ck_assert_uint_eq(rig.n_events, 1);
    ck_assert(rig.events[0].unsent);
    ck_assert_str_eq(rig.servers[0]->log, "");
}

/* Of many commands the kernel takes a part, cut at any byte: the flag must be exact for each. */
TEST(broken, the_line_between_sent_and_unsent_is_exact)
{
    struct fake_server *server = rig_add(FAKE_UNIX);
    static char word[3001];
    const size_t size = strlen("*1\r\n$3000\r\n") + 3000 + 2;
    uint64_t handshake;
    uint64_t written;

    memset(word, 'w', sizeof word - 1);
    rig_start_ready();
    handshake = rig_stats(0).bytes_out;
    fake_server_set_deaf(server, true);
    for (unsigned i = 0; i < 1000; i++)
        ck_assert(rig_send(0, i, word));
    event_base_loop(rig.base, EVLOOP_NONBLOCK);
    written = rig_stats(0).bytes_out - handshake;
    ck_assert_uint_lt(written, 1000 * size);
    fake_server_hang_up(server);
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_uint_eq(rig.n_events, 1000);
    for (unsigned i = 0; i < 1000; i++) {
        if (rig.events[i].number != i || rig.events[i].unsent != (i * size >= written))
            ck_abort_msg("command %u", i);
    }
}

static void fail_from_inside(const struct rig_event *event)
{
    rl_transport_fail(&rig.transport, event->node, "failed from inside");
    ck_assert(!rig_send(event->node, 99, "NO"));
    rl_transport_wake(&rig.transport);
}

TEST(broken, the_owner_may_fail_a_connection_from_inside_a_reply)
{
    rig_add(FAKE_UNIX)->rules.other = "+OK\r\n";
    rig.on_reply = fail_from_inside;
    rig.on_dropped = fail_from_inside;
    rig_start_ready();
    for (unsigned i = 0; i < 5; i++)
        ck_assert(rig_send(0, i, "GET"));
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_str_eq(rig.links[0].why, "failed from inside");
    ck_assert_uint_eq(rig.n_events, 5);
    ck_assert_int_eq(rig.events[0].kind, RIG_REPLY);
    ck_assert_int_eq(rig.events[1].kind, RIG_DROPPED);
    rig_until_link(0, RL_LINK_READY);
}

TEST(broken, a_server_that_hangs_up_at_once_is_tried_with_backoff)
{
    struct fake_server *server = rig_add(FAKE_TCP4);

    server->hangs_up = true;
    rig_start();
    while (server->accepted < 10)
        rig_turn();
    ck_assert_str_eq(rig.links[0].path, "DOWN ");
    ck_assert_uint_gt(rig.driver->nodes[0]->conn.backoff.failures, 1);
    server->hangs_up = false;
    server->rules.other = "+OK\r\n";
    rig_until_link(0, RL_LINK_READY);
    ck_assert(rig_send(0, 1, "GET"));
    while (!rig.n_events)
        rig_turn();
    fake_server_hang_up(server);
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_uint_eq(rig.driver->nodes[0]->conn.backoff.failures, 1);
}

static unsigned count_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned n = 0;

    ck_assert_ptr_nonnull(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

TEST(broken, reconnecting_leaks_no_descriptor_and_none_is_inherited)
{
    struct fake_server *server = rig_add(FAKE_TCP4);
    unsigned before;

    rig_start_ready();
    before = count_descriptors();
    for (unsigned i = 0; i < 50; i++) {
        fake_server_reset(server);
        rig_until_link(0, RL_LINK_DOWN);
        rig_until_link(0, RL_LINK_READY);
    }
    ck_assert_uint_eq(count_descriptors(), before);
    ck_assert_int_eq(fcntl(rig.driver->nodes[0]->conn.stream.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

SUITE("failure")
