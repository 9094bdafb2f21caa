/* Requests for credentials: from the connection to whoever answers, at once, late, never, twice or too late. */
#include <stdio.h>
#include <string.h>

#include <redlock/status.h>

#include "rig.h"

#define MOST 32

/* What has been asked; every request is kept. */
static struct {
    unsigned n;
    struct redlock_credentials_request *requests[MOST];
    enum rl_credentials_need needs[MOST];
    unsigned nodes[MOST];
    const char *user;
    const char *password; /* of the answer at once; NULL: none is given */
    const char *why;      /* the answer at once is that there are none */
    int64_t good_for_ms;
} asked;

static int answer(unsigned i)
{
    return rl_credentials_answer(asked.requests[i], asked.user, asked.password, rl_ms(asked.good_for_ms));
}

static void on_ask(void *ctx, struct redlock_credentials_request *request, unsigned node, enum rl_credentials_need need)
{
    unsigned i = asked.n++;

    ck_assert_uint_lt(i, MOST);
    asked.requests[i] = request;
    asked.needs[i] = need;
    asked.nodes[i] = node;
    rl_credentials_ref(request);
    if (asked.password)
        ck_assert_int_eq(answer(i), 0);
    if (asked.why)
        ck_assert_int_eq(rl_credentials_fail(request, asked.why), 0);
}

static void setup(void)
{
    rig_setup();
    memset(&asked, 0, sizeof asked);
    rig.config.credentials.ask = on_ask;
    rig.config.connect_timeout = rl_ms(20000);
}

static void teardown(void)
{
    rig_teardown();
    for (unsigned i = 0; i < asked.n; i++)
        rl_credentials_unref(asked.requests[i]);
}

static void until_asked(unsigned n)
{
    while (asked.n < n)
        rig_turn();
}

static void until_auth(const struct fake_server *server, const char *words)
{
    while (strcmp(server->auth, words) != 0)
        rig_turn();
}

GROUP(opening, "opening", setup, teardown)

TEST(opening, an_answer_at_once_is_what_the_master_is_told)
{
    struct fake_server *server = rig_add(FAKE_TCP4);

    asked.user = "me";
    asked.password = "s3cr3t";
    rig_start_ready();
    ck_assert_str_eq(server->auth, "me s3cr3t");
    ck_assert(strncmp(server->handshake, "AUTH CLIENT ", 12) == 0);
    ck_assert_uint_eq(asked.n, 1);
    ck_assert_int_eq(asked.needs[0], RL_CREDENTIALS_CONNECTING);
    ck_assert_int_eq(answer(0), REDLOCK_E_NOT_ASKED);
}

TEST(opening, an_answer_may_come_later)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    rig_start();
    until_asked(1);
    ck_assert_str_eq(server->handshake, "");
    asked.password = "s3cr3t";
    ck_assert_int_eq(answer(0), 0);
    ck_assert_int_eq(answer(0), REDLOCK_E_NOT_ASKED);
    rig_until_link(0, RL_LINK_READY);
    ck_assert_str_eq(server->auth, "s3cr3t");
    ck_assert_uint_eq(asked.n, 1);
}

TEST(opening, without_a_password_nothing_is_said)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    rig_start();
    until_asked(1);
    ck_assert_int_eq(answer(0), 0);
    rig_until_link(0, RL_LINK_READY);
    ck_assert_str_eq(server->auth, "");
}

TEST(opening, a_user_of_the_url_stands_in_for_one_of_the_answer)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    rig_set_credentials(0, "url");
    asked.password = "s3cr3t";
    rig_start_ready();
    ck_assert_str_eq(server->auth, "url s3cr3t");
}

TEST(opening, a_password_of_the_url_comes_first)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    rig_set_credentials(0, ":own");
    asked.password = "other";
    rig_start_ready();
    ck_assert_str_eq(server->auth, "own");
    ck_assert_uint_eq(asked.n, 0);
}

TEST(opening, without_an_answer_the_attempt_ends_and_the_next_one_asks_again)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    rig.config.connect_timeout = rl_ms(50);
    rig_start();
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_str_eq(rig.links[0].why, "credentials: no answer in time");
    asked.password = "late";
    ck_assert_int_eq(answer(0), REDLOCK_E_NOT_ASKED);
    rig_until_link(0, RL_LINK_READY);
    ck_assert_str_eq(server->auth, "late");
}

TEST(opening, the_programs_reason_is_the_masters_failure)
{
    rig_add(FAKE_UNIX);
    asked.why = "the token service is away";
    rig_start();
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_str_eq(rig.links[0].why, "credentials: the token service is away");
    asked.why = NULL;
    asked.password = "s3cr3t";
    rig_until_link(0, RL_LINK_READY);
}

TEST(opening, a_reason_is_cut_to_150_characters)
{
    char text[201];
    char told[256];

    memset(text, 'x', 200);
    text[200] = '\0';
    snprintf(told, sizeof told, "credentials: %.150s", text);
    rig_add(FAKE_UNIX);
    asked.why = text;
    rig_start();
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_str_eq(rig.links[0].why, told);
}

TEST(opening, a_refusal_is_told_to_the_program_which_mends_it)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    server->rules.auth = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
    asked.password = "0ld";
    rig_start();
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_str_eq(rig.links[0].why, "AUTH: WRONGPASS invalid username-password pair or user is disabled");
    server->rules.auth = NULL;
    asked.password = "n3w";
    rig_until_link(0, RL_LINK_READY);
    ck_assert_str_eq(server->auth, "n3w");
    ck_assert_int_eq(asked.needs[1], RL_CREDENTIALS_REFUSED);
}

/* A program that needs longer than an attempt to connect is asked once more, and must not take what the master has
 * refused for good. */
TEST(opening, a_refusal_is_told_until_the_program_answers)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    server->rules.auth = "-WRONGPASS no\r\n";
    asked.password = "0ld";
    rig_start();
    until_asked(1);
    asked.password = NULL;
    rig_until_link(0, RL_LINK_DOWN);
    rig.driver->shared.config.connect_timeout = rl_ms(30);
    until_asked(3);
    ck_assert_int_eq(asked.needs[1], RL_CREDENTIALS_REFUSED);
    ck_assert_int_eq(asked.needs[2], RL_CREDENTIALS_REFUSED);
    server->rules.auth = NULL;
    asked.password = "n3w";
    answer(2);
    rig_until_link(0, RL_LINK_READY);
    ck_assert_str_eq(server->auth, "n3w");
}

TEST(opening, a_master_that_wants_a_password_says_so_by_noauth)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    server->rules.ping = "-NOAUTH Authentication required.\r\n";
    rig_start();
    until_asked(1);
    answer(0);
    until_asked(2);
    ck_assert_str_eq(rig.links[0].why, "PING: NOAUTH Authentication required");
    ck_assert_int_eq(asked.needs[1], RL_CREDENTIALS_REFUSED);
}

/* What comes after it on this connection is refused as well. */
TEST(opening, noauth_in_answer_to_a_command_makes_a_new_connection)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    asked.password = "s3cr3t";
    rig_start_ready();
    server->rules.other = "-NOAUTH Authentication required.\r\n";
    ck_assert(rig_send(0, 1, "GET"));
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_uint_eq(rig.n_events, 1);
    ck_assert_str_eq(rig.events[0].text, "NOAUTH Authentication required.");
    ck_assert_str_eq(rig.links[0].why, "a command: NOAUTH Authentication required");
    rig_until_link(0, RL_LINK_READY);
    ck_assert_int_eq(asked.needs[1], RL_CREDENTIALS_REFUSED);
}

/* --- Again, before they end ------------------------------------------------------------------------------------- */

GROUP(again, "again", setup, teardown)

TEST(again, a_connection_is_authenticated_again_in_line_with_commands)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    asked.password = "first";
    asked.good_for_ms = 200;
    rig_start_ready();
    server->rules.other = "+DONE\r\n";
    asked.password = NULL;
    until_asked(2);
    ck_assert_int_eq(asked.needs[1], RL_CREDENTIALS_EXPIRING);
    asked.password = "second";
    ck_assert_int_eq(answer(1), 0);
    ck_assert(rig_send(0, 1, "BEFORE"));
    until_auth(server, "second");
    ck_assert(rig_send(0, 2, "BEHIND"));
    while (rig.n_events < 2)
        rig_turn();
    ck_assert_str_eq(rig.events[0].text, "DONE");
    ck_assert_uint_eq(rig.events[1].number, 2);
    ck_assert_str_eq(rig.links[0].path, "READY ");
    until_asked(3); /* and so on */
}

TEST(again, a_refused_authentication_ends_the_connection)
{
    struct fake_server *server = rig_add(FAKE_UNIX);

    asked.password = "s3cr3t";
    asked.good_for_ms = 100;
    rig_start_ready();
    server->rules.auth = "-WRONGPASS s3cr3t\r\n";
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_str_eq(rig.links[0].why, "AUTH: refused with an error text that may hold the password");
    server->rules.auth = NULL;
    rig_until_link(0, RL_LINK_READY);
}

TEST(again, a_connection_without_other_credentials_stays_and_asks_again)
{
    rig_add(FAKE_UNIX);
    rig.config.connect_timeout = rl_ms(5000);
    asked.password = "s3cr3t";
    asked.good_for_ms = 1;
    rig_start_ready();
    rig.driver->shared.config.connect_timeout = rl_ms(30);
    asked.password = NULL;
    until_asked(2);
    while (!strstr(rig_last_error(0), "credentials: no answer for"))
        rig_turn();
    asked.why = "not yet";
    until_asked(3);
    while (!strstr(rig_last_error(0), "credentials: not yet"))
        rig_turn();
    ck_assert_str_eq(rig.links[0].path, "READY ");
    ck_assert_int_eq(answer(1), REDLOCK_E_NOT_ASKED);
}

static void listen_with(int64_t good_for_ms)
{
    asked.password = "s3cr3t";
    rig_add(FAKE_UNIX);
    rig_add_notifiers(FAKE_TCP4);
    rig_start_ready();
    asked.good_for_ms = good_for_ms;
    rig_listen();
    rig_until_listening(0, true);
}

TEST(again, a_listener_leaves_its_channel_to_authenticate_again)
{
    struct fake_server *notifier;

    listen_with(100);
    notifier = rig.notifiers[0];
    asked.password = "again";
    until_auth(notifier, "again");
    while (!strstr(notifier->handshake, "SUBSCRIBE UNSUBSCRIBE AUTH SUBSCRIBE "))
        rig_turn();
    rig_say_message(0, "news");
    while (!rig.listening[0].messages)
        rig_turn();
    ck_assert_str_eq(rig.listening[0].path, "ON ");
}

TEST(again, a_listener_enters_all_its_channels_again)
{
    struct fake_server *notifier;

    listen_with(100);
    notifier = rig.notifiers[0];
    ck_assert_int_eq(rig_subscribe("one"), 0);
    ck_assert_int_eq(rig_subscribe("two"), 0);
    while (!strstr(notifier->handshake, "UNSUBSCRIBE AUTH SUBSCRIBE SUBSCRIBE SUBSCRIBE "))
        rig_turn();
    while (!strstr(rig.listening[0].subscribed, "+one +two +one +two "))
        rig_turn();
    rig_say_on(0, "two", "news");
    while (!rig.listening[0].messages)
        rig_turn();
    ck_assert_str_eq(rig.listening[0].channel, "two");
    ck_assert_str_eq(rig.listening[0].path, "ON ");
}

TEST(again, a_refused_listener_says_why)
{
    listen_with(100);
    rig.notifiers[0]->rules.auth = "-WRONGPASS no\r\n";
    rig_until_listening(0, false);
    ck_assert_str_eq(rig.listening[0].why, "AUTH: WRONGPASS no");
    rig.notifiers[0]->rules.auth = NULL;
    rig_until_listening(0, true);
}

/* Answers one byte at a time: between any two of them a message may come. */
TEST(again, a_listener_hears_nothing_wrong_between_two_bytes)
{
    struct fake_server *notifier;

    listen_with(100);
    notifier = rig.notifiers[0];
    notifier->bytewise = true;
    while (!strstr(notifier->handshake, "AUTH SUBSCRIBE UNSUBSCRIBE AUTH SUBSCRIBE UNSUBSCRIBE AUTH SUBSCRIBE "))
        rig_turn();
    ck_assert_str_eq(rig.listening[0].path, "ON ");
}

/* --- The end ---------------------------------------------------------------------------------------------------- */

TEST(opening, an_answer_after_the_end_does_nothing)
{
    rig_add(FAKE_UNIX);
    rig_start();
    until_asked(1);
    rl_driver_destroy(rig.driver, false);
    rig.driver = NULL;
    asked.password = "s3cr3t";
    ck_assert_int_eq(answer(0), REDLOCK_E_NOT_ASKED);
    ck_assert_int_eq(rl_credentials_fail(asked.requests[0], "no"), REDLOCK_E_NOT_ASKED);
}

TEST(opening, an_answer_that_was_not_taken_goes_with_the_client)
{
    rig_add(FAKE_UNIX);
    rig_start();
    until_asked(1);
    asked.password = "s3cr3t";
    ck_assert_int_eq(answer(0), 0);
    rl_driver_destroy(rig.driver, false);
    rig.driver = NULL;
}

SUITE("credentials")
