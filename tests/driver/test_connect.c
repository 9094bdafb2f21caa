/* From the first loop turn to READY, and what can go wrong on the way. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "rig.h"

GROUP(good, "good", rig_setup, rig_teardown)

TEST(good, the_handshake_is_what_the_url_and_the_configuration_ask_for)
{
    struct fake_server *server = rig_add(FAKE_TCP4);

    snprintf(rig.urls[0], sizeof rig.urls[0], "redis://u:p@%s/3", server->url + strlen("redis://"));
    rig_start();
    rig_until_link(0, RL_LINK_READY);
    ck_assert_str_eq(server->handshake, "AUTH CLIENT SELECT PING ");
    ck_assert_str_eq(rig.links[0].path, "READY ");
}

TEST(good, without_credentials_database_and_name_those_commands_are_left_out)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    rig.config.client_name = "";
    rig_start_ready();
    ck_assert_str_eq(server->handshake, "PING ");
}

TEST(good, nothing_happens_before_the_loop_runs)
{
    rig_add(FAKE_UNIX);
    rig_start();
    ck_assert_uint_eq(rig.links[0].changes, 0);
    ck_assert(!rig_send(0, 1, "GET"));
    ck_assert_uint_eq(rig_stats(0).connects, 0);
}

TEST(good, a_server_without_the_right_to_name_is_still_used)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    server->rules.setname = "-NOPERM this user has no permissions to run the 'client|setname' command\r\n";
    rig_start_ready();
}

GROUP(bad, "bad", rig_setup, rig_teardown)

TEST(bad, a_refused_password_is_reported_without_the_password)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    server->rules.auth = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
    rig_set_credentials(0, "me:s3cr3t");
    rig_start();
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_str_eq(rig.links[0].why, "AUTH: WRONGPASS invalid username-password pair or user is disabled");
    ck_assert_str_eq(rig_last_error(0), rig.links[0].why);
}

TESTS(bad, a_server_that_repeats_the_password_does_not_get_it_into_the_reason, 0, 2)
{
    static const char *const replies[] = {
        "-ERR unknown command 'AUTH', with args beginning with: 'me' 's3c\r\n", "-ERR s3cr3t is wrong\r\n"};
    struct fake_server *server = rig_add(FAKE_UNIX);

    server->rules.auth = replies[_i];
    rig_set_credentials(0, "me:s3cr3t");
    rig_start();
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_msg(strncmp(rig.links[0].why, "AUTH: ", 6) == 0 && !strstr(rig.links[0].why, "s3c"), "%s",
                  rig.links[0].why);
}

TEST(bad, a_database_that_does_not_exist_is_reported)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    server->rules.select = "-ERR DB index is out of range\r\n";
    snprintf(rig.urls[0], sizeof rig.urls[0], "%s?db=99", server->url);
    rig_start();
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_str_eq(rig.links[0].why, "SELECT: ERR DB index is out of range");
}

TEST(bad, a_loading_server_is_tried_again_until_it_serves)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    server->rules.ping = "-LOADING Redis is loading the dataset in memory\r\n";
    rig_start();
    while (server->accepted < 4)
        rig_turn();
    ck_assert_str_eq(rig.links[0].path, "DOWN ");
    ck_assert_ptr_nonnull(strstr(rig_last_error(0), "LOADING"));
    server->rules.ping = NULL;
    rig_until_link(0, RL_LINK_READY);
    ck_assert_uint_eq(rig_stats(0).connects, 1);
}

TEST(bad, what_is_no_redis_server_is_reported)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    server->rules.ping = "HTTP/1.1 400 Bad Request\r\n";
    rig_start();
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_msg(strncmp(rig.links[0].why, "protocol: ", 10) == 0, "%s", rig.links[0].why);
}

TEST(bad, an_unexpected_answer_to_ping_is_not_ready)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    server->rules.ping = "+OK\r\n";
    rig_start();
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_str_eq(rig.links[0].why, "PING: unexpected reply");
}

TEST(bad, a_long_error_is_cut_behind_a_word)
{
    char text[400] = "-ERR";

    while (strlen(text) < 300)
        strcat(text, " wordy");
    strcat(text, "\r\n");
    rig_add(FAKE_TCP4)->rules.ping = text;
    rig_start();
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_uint_lt(strlen(rig.links[0].why), RL_CONN_ERROR_MAX);
    ck_assert_str_eq(rig.links[0].why + strlen(rig.links[0].why) - 15, " wordy wordy...");
}

TESTS(bad, a_refused_connection_is_reported_and_tried_again, 0, 2)
{
    static const enum fake_kind kinds[] = {FAKE_TCP4, FAKE_UNIX};
    struct fake_server *server = rig_add(kinds[_i]);

    fake_server_stop(server);
    rig_start();
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_msg(strncmp(rig.links[0].why, "connect: ", 9) == 0, "%s", rig.links[0].why);
    while (rig_stats(0).disconnects < 5)
        rig_turn();
    ck_assert_str_eq(rig.links[0].path, "DOWN ");
}

#define LATE "; but this program's own event loop was late, by up to "

TEST(bad, a_server_that_accepts_and_says_nothing_runs_into_the_deadline)
{
    struct fake_server *server = rig_add(FAKE_TCP4);

    rig.config.connect_timeout = rl_ms(30);
    server->rules = (struct fake_rules){.setname = "", .ping = ""};
    rig_start();
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_msg(strncmp(rig.links[0].why, "handshake: no answer within ", 28) == 0, "%s", rig.links[0].why);
}

/* The one answer that is missing is that to PING. */
TEST(bad, a_server_that_is_slow_is_told_from_a_silent_one_by_its_answers)
{
    struct fake_server *server = rig_add(FAKE_TCP4);
    unsigned answered = 0, asked = 0;

    rig.config.connect_timeout = rl_ms(30);
    server->rules.ping = "";
    rig_start();
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_int_eq(sscanf(rig.links[0].why, "handshake: %u of %u answers came within ", &answered, &asked), 2);
    ck_assert_uint_gt(answered, 0);
    ck_assert_uint_eq(asked, answered + 1);
}

/* The program stands still for longer than the handshake may take, and the loop has found that out. */
static struct fake_server *start_late(void)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    rig.config.connect_timeout = rl_ms(30);
    rig.config.node_timeout = rl_ms(20);
    server->rules.ping = "";
    rig_start();
    while (!strstr(server->handshake, "PING"))
        rig_turn();
    usleep(400000);
    rig_turn();
    ck_assert_str_eq(rig.links[0].path, "");
    return server;
}

TEST(bad, a_late_loop_is_told_with_a_handshake_that_timed_out)
{
    const char *late;

    start_late();
    rig_until_link(0, RL_LINK_DOWN);
    late = strstr(rig.links[0].why, LATE);
    ck_assert_msg(late && strncmp(rig.links[0].why, "handshake: ", 11) == 0, "%s", rig.links[0].why);
    ck_assert_int_ge(atoi(late + strlen(LATE)), 300);
}

TEST(bad, a_late_loop_gives_the_handshake_the_time_that_it_has_missed)
{
    struct fake_server *server = start_late();

    fake_server_say(server, "+PONG\r\n");
    rig_until_link(0, RL_LINK_READY);
    ck_assert_str_eq(rig.links[0].path, "READY ");
    ck_assert_uint_eq(server->accepted, 1);
}

TEST(bad, a_listener_that_never_accepts_runs_into_the_deadline)
{
    struct fake_server *server = rig_add(FAKE_TCP4);

    rig.config.connect_timeout = rl_ms(30);
    fake_server_set_accepting(server, false);
    rig_start();
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_ptr_nonnull(strstr(rig.links[0].why, "no answer within"));
    fake_server_set_accepting(server, true);
    rig_until_link(0, RL_LINK_READY);
}

TEST(bad, a_server_that_explains_itself_and_hangs_up_is_quoted)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    server->rules.setname = "-ERR max number of clients reached\r\n";
    server->rules.ping = "";
    rig_start();
    while (!strstr(server->handshake, "PING"))
        rig_turn();
    fake_server_hang_up(server);
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_str_eq(rig.links[0].why, "closed by the server: ERR max number of clients reached");
}

/* A socket that is closed before all that was sent to it has been read resets the connection. */
TEST(bad, a_server_that_explains_itself_and_resets_is_quoted)
{
    struct fake_server *server = rig_add(FAKE_TCP4);

    server->rules.setname = "-ERR max number of clients reached\r\n";
    server->rules.ping = "";
    rig_start();
    while (!strstr(server->handshake, "PING"))
        rig_turn();
    fake_server_reset(server);
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_str_eq(rig.links[0].why, "closed by the server: ERR max number of clients reached");
}

/* One connection fills the queue of a listener that accepts nothing; the kernel drops the next one's SYN. */
TEST(bad, a_connect_that_gets_no_answer_runs_into_the_deadline)
{
    struct fake_server *server = fake_server_create(rig.base, FAKE_TCP4, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int filler = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    rig.servers[0] = server;
    rig_add_url(server->url);
    rig.config.connect_timeout = rl_ms(30);
    fake_server_set_accepting(server, false);
    address.sin_port = htons((uint16_t)atoi(strrchr(server->url, ':') + 1));
    ck_assert_int_eq(connect(filler, (struct sockaddr *)&address, sizeof address), 0);
    rig_start();
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_ptr_eq(strstr(rig.links[0].why, "connecting: timed out"), rig.links[0].why);
    close(filler);
}

/* A far master needs several round trips before its first answer, each of which may take as long as an answer may. */
TEST(good, a_slow_first_connection_is_joining_until_it_is_ready)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    rig.config.node_timeout = rl_ms(20);
    server->rules.ping = "";
    rig_start();
    while (!strstr(server->handshake, "PING"))
        rig_turn();
    rig_turn_for_ms(60);
    ck_assert_str_eq(rig.links[0].path, "");
    fake_server_say(server, "+PONG\r\n");
    rig_until_link(0, RL_LINK_READY);
    ck_assert_str_eq(rig.links[0].path, "READY ");
    ck_assert_uint_eq(server->accepted, 1);
}

/* The handshake's own commands have node_timeout, from the end of the time for connecting on. */
TEST(good, a_handshake_has_the_time_of_a_command_more)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    rig.config.connect_timeout = rl_ms(30);
    rig.config.node_timeout = rl_ms(20000);
    server->rules.ping = "";
    rig_start();
    while (!strstr(server->handshake, "PING"))
        rig_turn();
    rig_turn_for_ms(60);
    ck_assert_str_eq(rig.links[0].path, "");
    fake_server_say(server, "+PONG\r\n");
    rig_until_link(0, RL_LINK_READY);
    ck_assert_uint_eq(server->accepted, 1);
}

/* A unix socket with a full backlog answers EAGAIN at once: there is nothing to wait for but time. */
TEST(good, a_unix_socket_with_a_full_backlog_is_tried_again_within_the_attempt)
{
    struct fake_server *server = fake_server_create(rig.base, FAKE_UNIX, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int filler = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    rig.servers[0] = server;
    rig_add_url(server->url);
    fake_server_set_accepting(server, false);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", server->url + strlen("unix://"));
    ck_assert_int_eq(connect(filler, (struct sockaddr *)&address, sizeof address), 0);
    rig_start();
    while (!strstr(rig_last_error(0), "connect: "))
        rig_turn();
    fake_server_set_accepting(server, true);
    rig_until_link(0, RL_LINK_READY);
    ck_assert_str_eq(rig.links[0].path, "READY ");
    ck_assert_uint_eq(rig_stats(0).disconnects, 0);
    close(filler);
}

TEST(good, ipv6_works_where_the_machine_has_it)
{
    if (!rig_add(FAKE_TCP6))
        return;
    rig_start_ready();
    ck_assert_str_eq(rl_driver_node_name(rig.driver, 0), rig.urls[0] + strlen("redis://"));
}

TEST(good, masters_connect_independently_of_each_other)
{
    rig_add(FAKE_TCP4);
    fake_server_stop(rig_add(FAKE_UNIX));
    rig_add(FAKE_UNIX);
    rig_start();
    rig_until_link(0, RL_LINK_READY);
    rig_until_link(1, RL_LINK_DOWN);
    rig_until_link(2, RL_LINK_READY);
}

SUITE("connect")
