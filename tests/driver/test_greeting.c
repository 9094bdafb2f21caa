/* The sink's own part of the handshake: rounds of questions between PING and READY. */
#include <stdio.h>
#include <string.h>

#include "rig.h"

static unsigned n_answers;
static const char *refusal; /* NULL: every answer is welcome */

static void setup(void)
{
    rig_setup();
    n_answers = 0;
    refusal = NULL;
}

/* Two commands, then one, then none. */
static int two_rounds(unsigned round, struct rl_bytes *out)
{
    if (round == 0)
        return rig_append_word(out, "ONE") && rig_append_word(out, "TWO") ? 2 : -1;
    return round == 1 && rig_append_word(out, "THREE") ? 1 : 0;
}

static int without_memory(unsigned round, struct rl_bytes *out)
{
    return -1;
}

static bool count_answers(const struct rl_greeting_answer *answer, const char **ret_why)
{
    static const unsigned rounds[] = {0, 0, 1};
    static const unsigned indices[] = {0, 1, 0};

    ck_assert_uint_lt(n_answers, 3);
    ck_assert_uint_eq(answer->round, rounds[n_answers]);
    ck_assert_uint_eq(answer->index, indices[n_answers]);
    ck_assert_int_eq(answer->reply->root.integer, (int)n_answers + 1);
    n_answers++;
    return true;
}

static bool refuse(const struct rl_greeting_answer *answer, const char **ret_why)
{
    *ret_why = refusal;
    return false;
}

static bool refuse_silently(const struct rl_greeting_answer *answer, const char **ret_why)
{
    return false;
}

static void until_logged(const struct fake_server *server, const char *text)
{
    while (!strstr(server->log, text))
        rig_turn();
}

static void until_answered(unsigned n)
{
    while (n_answers < n)
        rig_turn();
}

/* --- Order ------------------------------------------------------------------------------------------------------- */

GROUP(order, "order", setup, rig_teardown)

TEST(order, the_link_is_not_ready_before_the_last_round_is_answered)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    rig.greet = two_rounds;
    rig.greeted = count_answers;
    rig_start();
    until_logged(server, "TWO;");
    ck_assert(!rig_send(0, 1, "GET"));
    fake_server_say(server, ":1\r\n:2\r\n");
    until_logged(server, "THREE;");
    ck_assert_uint_eq(n_answers, 2);
    ck_assert_str_eq(rig.links[0].path, "");
    ck_assert_uint_eq(rig_stats(0).connects, 0);
    fake_server_say(server, ":3\r\n");
    rig_until_link(0, RL_LINK_READY);
    ck_assert_str_eq(server->log, "ONE;TWO;THREE;");
    ck_assert_str_eq(rig.links[0].path, "READY ");
}

TEST(order, a_round_is_written_when_the_one_before_is_answered_in_full)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    rig.greet = two_rounds;
    rig.greeted = count_answers;
    rig_start();
    until_logged(server, "TWO;");
    ck_assert_ptr_nonnull(strstr(server->handshake, "PING"));
    fake_server_say(server, ":1\r\n");
    until_answered(1);
    ck_assert_str_eq(server->log, "ONE;TWO;");
    fake_server_say(server, ":2\r\n");
    until_logged(server, "THREE;");
}

TEST(order, answers_that_come_byte_by_byte_are_counted_once)
{
    struct fake_server *server = rig_add(FAKE_TCP4);

    rig.greet = two_rounds;
    rig.greeted = count_answers;
    server->bytewise = true;
    rig_start();
    until_logged(server, "TWO;");
    fake_server_say(server, ":1\r\n:2\r\n");
    until_logged(server, "THREE;");
    fake_server_say(server, ":3\r\n");
    rig_until_link(0, RL_LINK_READY);
    ck_assert_uint_eq(n_answers, 3);
}

static bool count_any(const struct rl_greeting_answer *answer, const char **ret_why)
{
    n_answers++;
    return true;
}

TEST(order, a_server_that_refuses_and_resets_is_quoted)
{
    struct fake_server *server = rig_add(FAKE_TCP4);

    rig.greet = two_rounds;
    rig.greeted = count_any;
    rig_start();
    until_logged(server, "TWO;");
    fake_server_say(server, "-DENIED Redis is running in protected mode\r\n");
    until_answered(1);
    fake_server_reset(server);
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_str_eq(rig.links[0].why, "closed by the server: DENIED Redis is running in protected mode");
}

TEST(order, an_answer_is_later_than_the_instant_told_as_that_of_sending)
{
    struct fake_server *server = rig_add(FAKE_UNIX);
    struct rl_instant before_answer;

    rig.greet = two_rounds;
    rig_start();
    until_logged(server, "TWO;");
    before_answer = rl_clock_now(&rig.clock);
    fake_server_say(server, ":1\r\n:2\r\n");
    until_logged(server, "THREE;");
    ck_assert_int_lt(rig.greeting_sent.ns, before_answer.ns);
    ck_assert_int_ge(rig.greeting_answered.ns, before_answer.ns);
}

TEST(order, every_connection_is_greeted_anew)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    rig.greet = two_rounds;
    server->rules.other = ":0\r\n";
    rig_start_ready();
    rl_transport_fail(&rig.transport, 0, "test");
    rig_until_link(0, RL_LINK_DOWN);
    rig_until_link(0, RL_LINK_READY);
    ck_assert_str_eq(server->log, "ONE;TWO;THREE;ONE;TWO;THREE;");
}

TEST(order, commands_after_the_greeting_get_their_own_replies)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    rig.greet = two_rounds;
    server->rules.other = ":0\r\n";
    rig_start_ready();
    server->rules.other = "+MINE\r\n";
    ck_assert(rig_send(0, 7, "GET"));
    while (!rig.n_events)
        rig_turn();
    ck_assert_uint_eq(rig.events[0].number, 7);
    ck_assert_str_eq(rig.events[0].text, "MINE");
    ck_assert_uint_eq(rig_stats(0).commands, 1);
}

/* --- Failures ---------------------------------------------------------------------------------------------------- */

GROUP(failures, "failures", setup, rig_teardown)

TEST(failures, a_refusal_closes_the_connection_with_its_text)
{
    rig_add(FAKE_UNIX)->rules.other = ":0\r\n";
    rig.greet = two_rounds;
    rig.greeted = refuse;
    refusal = "JOIN: LOADING \x1b[2J \xc2\x9b";
    rig_start();
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_str_eq(rig.links[0].why, "JOIN: LOADING ?[2J ??");
    ck_assert_str_eq(rig_last_error(0), rig.links[0].why);
    ck_assert_uint_eq(rig_stats(0).connects, 0);
}

TEST(failures, a_refusal_without_a_text_says_at_least_where)
{
    rig_add(FAKE_UNIX)->rules.other = ":0\r\n";
    rig.greet = two_rounds;
    rig.greeted = refuse_silently;
    rig_start();
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_str_eq(rig.links[0].why, "handshake: refused");
}

TEST(failures, a_refusal_that_holds_the_password_is_masked)
{
    rig_add(FAKE_UNIX)->rules.other = ":0\r\n";
    rig_set_credentials(0, "me:s3cr3t");
    rig.greet = two_rounds;
    rig.greeted = refuse;
    refusal = "JOIN: ERR s3cr3t is not the way";
    rig_start();
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_ptr_null(strstr(rig.links[0].why, "s3cr3t"));
    ck_assert_str_eq(rig.links[0].why, "handshake: refused with an error text that may hold the password");
}

TEST(failures, a_connection_that_is_refused_is_made_again_until_it_is_welcome)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    server->rules.other = ":0\r\n";
    rig.greet = two_rounds;
    rig.greeted = refuse;
    refusal = "not yet";
    rig_start();
    while (server->accepted < 4)
        rig_turn();
    ck_assert_str_eq(rig.links[0].path, "DOWN ");
    rig.greeted = NULL;
    rig_until_link(0, RL_LINK_READY);
    ck_assert_uint_eq(rig_stats(0).connects, 1);
}

TEST(failures, a_connection_that_breaks_in_a_round_backs_off)
{
    struct fake_server *server = rig_add(FAKE_UNIX);
    unsigned tries;

    rig.greet = two_rounds;
    rig_start();
    for (tries = 1; tries <= 4; tries++) {
        while (server->accepted < tries || server->commands < 2 * tries)
            rig_turn();
        fake_server_hang_up(server);
    }
    while (rig_stats(0).disconnects < 4)
        rig_turn();
    ck_assert_uint_ge(rig.driver->nodes[0]->conn.backoff.failures, 3);
    ck_assert_str_eq(rig_last_error(0), "closed by the server");
    ck_assert_uint_eq(rig.n_events, 0);
}

TEST(failures, a_round_without_an_answer_runs_into_the_deadline)
{
    rig_add(FAKE_UNIX);
    rig.config.connect_timeout = rl_ms(30);
    rig.greet = two_rounds;
    rig_start();
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_ptr_nonnull(strstr(rig.links[0].why, " answers came within "));
}

TEST(failures, a_slow_greeting_is_joining_until_it_is_over)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    rig.config.node_timeout = rl_ms(20);
    rig.greet = two_rounds;
    rig_start();
    until_logged(server, "TWO;");
    rig_turn_for_ms(60);
    ck_assert_str_eq(rig.links[0].path, "");
    fake_server_say(server, ":1\r\n:2\r\n");
    until_logged(server, "THREE;");
    fake_server_say(server, ":3\r\n");
    rig_until_link(0, RL_LINK_READY);
    ck_assert_uint_eq(server->accepted, 1);
}

/* What comes together with the answers to one round cannot be an answer to the next, which is only then written. */
TEST(failures, an_answer_that_is_there_before_its_question_closes_the_connection)
{
    rig_add(FAKE_UNIX)->rules.ping = "+PONG\r\n:1\r\n:2\r\n:3\r\n";
    rig.greet = two_rounds;
    rig.greeted = count_answers;
    rig_start();
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_str_eq(rig.links[0].why, "a reply that belongs to no command");
    ck_assert_uint_eq(n_answers, 2);
}

TEST(failures, a_shortage_of_memory_in_a_round_is_reported)
{
    rig_add(FAKE_UNIX);
    rig.greet = without_memory;
    rig_start();
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_str_eq(rig.links[0].why, "handshake: no memory");
}

TEST(failures, destroying_the_driver_in_the_middle_of_a_round_is_quiet)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    rig.greet = two_rounds;
    rig.greeted = count_answers;
    rig_start();
    until_logged(server, "TWO;");
    rl_driver_destroy(rig.driver, false);
    rig.driver = NULL;
    while (!server->gone)
        rig_turn();
    ck_assert_uint_eq(rig.links[0].changes, 0);
    ck_assert_uint_eq(n_answers, 0);
}

SUITE("greeting")
