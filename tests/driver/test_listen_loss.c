/* Connections that listen and are lost, refused, or brought to an end. */
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

static void until_changes(unsigned n)
{
    while (rig.listening[0].changes < n)
        rig_turn();
}

/* --- Lost ------------------------------------------------------------------------------------------------------ */

GROUP(lost, "lost", rig_setup, rig_teardown)

TESTS(lost, a_lost_listener_says_so_and_comes_back, 0, 2)
{
    struct fake_server *notifier = rig_start_listening(FAKE_TCP4);

    if (_i)
        fake_server_reset(notifier);
    else
        fake_server_hang_up(notifier);
    until_changes(3);
    ck_assert_str_eq(rig.listening[0].path, "ON OFF ON ");
    ck_assert_uint_eq(notifier->accepted, 2);
    rig_say_message(0, "again");
    while (!rig.listening[0].messages)
        rig_turn();
    ck_assert_str_eq(rig.links[0].path, "READY ");
    ck_assert_uint_eq(rig_stats(0).disconnects, 0);
}

TEST(lost, a_listener_stays_when_the_first_connection_is_lost)
{
    rig_start_listening(FAKE_UNIX);
    fake_server_hang_up(rig.servers[0]);
    rig_until_link(0, RL_LINK_DOWN);
    rig_until_link(0, RL_LINK_READY);
    ck_assert_str_eq(rig.listening[0].path, "ON ");
    ck_assert_uint_eq(rig.notifiers[0]->accepted, 1);
}

TEST(lost, a_listener_that_cannot_connect_says_why_once)
{
    rig_add(FAKE_UNIX);
    rig_add_notifiers(FAKE_UNIX);
    fake_server_stop(rig.notifiers[0]);
    rig_start_ready();
    rig_listen();
    until_changes(1);
    while (rig.driver->nodes[0]->listener->stats.disconnects < 10)
        rig_turn();
    ck_assert_str_eq(rig.listening[0].path, "OFF ");
    ck_assert_ptr_nonnull(strstr(rig.listening[0].why, "connect"));
    ck_assert_str_eq(rig.links[0].path, "READY ");
}

TEST(lost, reconnecting_a_listener_inherits_nothing_to_children)
{
    struct fake_server *notifier = rig_start_listening(FAKE_TCP4);

    for (unsigned i = 0; i < 20; i++) {
        fake_server_reset(notifier);
        until_changes(3 + 2 * i);
    }
    ck_assert_int_eq(fcntl(rig.driver->nodes[0]->listener->stream.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

/* --- Refused --------------------------------------------------------------------------------------------------- */

static unsigned hasty;

/* Told from within the close, which has set the time of the next attempt. */
static void look_at_pause(unsigned node, struct rl_instant now)
{
    struct rl_span half = {rig.config.backoff_max.ns / 2};

    hasty += rl_before(rig.driver->nodes[node]->listener->attempt.at, rl_after(now, half));
}

GROUP(refused, "refused", rig_setup, rig_teardown)

TEST(refused, a_refused_subscription_is_told_once_and_tried_again_slowly)
{
    struct fake_server *notifier;

    hasty = 0;
    rig.config.backoff_min = rl_ms(1);
    rig.config.backoff_max = rl_ms(200);
    rig.on_listening = look_at_pause;
    rig_add(FAKE_UNIX);
    rig_add_notifiers(FAKE_UNIX);
    notifier = rig.notifiers[0];
    notifier->rules.subscribe = "-NOPERM No permissions to access a channel\r\n";
    rig_start_ready();
    rig_listen();
    while (notifier->accepted < 3)
        rig_turn();
    ck_assert_str_eq(rig.listening[0].path, "OFF ");
    ck_assert_str_eq(rig.listening[0].why, "SUBSCRIBE: NOPERM No permissions to access a channel");
    notifier->rules.subscribe = "-ERR unknown command 'SUBSCRIBE'\r\n";
    until_changes(2);
    ck_assert_str_eq(rig.listening[0].why, "SUBSCRIBE: ERR unknown command 'SUBSCRIBE'");
    ck_assert_uint_eq(hasty, 0);
    notifier->rules.subscribe = NULL;
    rig.on_listening = NULL;
    rig_until_listening(0, true);
    ck_assert_str_eq(rig.listening[0].path, "OFF OFF ON ");
}

static const char *const strange_answers[] = {
    "+OK\r\n", "*0\r\n", "*3\r\n$9\r\nsubscribe\r\n$5\r\nother\r\n:1\r\n", "*1\r\n*1\r\n:1\r\n", "garbage\r\n",
    "*3\r\n$9\r\nsubscribe\r\n$14\r\n" RIG_CHANNEL "\r\n:2\r\n", "*2\r\n$9\r\nsubscribe\r\n$14\r\n" RIG_CHANNEL "\r\n",
};

TESTS(refused, a_strange_answer_to_subscribe_is_no_subscription, 0,
      sizeof strange_answers / sizeof strange_answers[0])
{
    struct fake_server *notifier;

    rig_add(FAKE_UNIX);
    rig_add_notifiers(FAKE_UNIX);
    notifier = rig.notifiers[0];
    notifier->rules.subscribe = strange_answers[_i];
    rig_start_ready();
    rig_listen();
    while (notifier->accepted < 3)
        rig_turn();
    ck_assert_str_eq(rig.listening[0].path, "OFF ");
    ck_assert_uint_gt(strlen(rig.listening[0].why), 0);
    notifier->rules.subscribe = NULL;
    rig_until_listening(0, true);
}

TEST(refused, why_a_listener_was_refused_never_shows_the_password)
{
    rig_add(FAKE_UNIX);
    rig_set_credentials(0, "user:secret");
    rig_add_notifiers(FAKE_UNIX);
    rig.notifiers[0]->rules.auth = "-ERR unknown command 'AUTH' 'user' 'secret'\r\n";
    rig_start_ready();
    rig_listen();
    until_changes(1);
    ck_assert_ptr_null(strstr(rig.listening[0].why, "secret"));
    ck_assert_str_eq(rig.listening[0].path, "OFF ");
}

TEST(refused, a_server_that_does_not_answer_subscribe_is_given_up_in_time)
{
    struct fake_server *notifier;

    rig.config.node_timeout = rl_ms(20); /* which is how long the first connection may take quietly: not this one's */
    rig.config.connect_timeout = rl_ms(100);
    rig_add(FAKE_UNIX);
    rig_add_notifiers(FAKE_UNIX);
    notifier = rig.notifiers[0];
    notifier->rules.subscribe = "";
    rig_start_ready();
    rig_listen();
    until_changes(1);
    ck_assert_ptr_nonnull(strstr(rig.listening[0].why, " answers came within "));
    notifier->rules.subscribe = NULL;
    rig_until_listening(0, true);
}

/* --- Ended ----------------------------------------------------------------------------------------------------- */

GROUP(ended, "ended", rig_setup, rig_teardown)

TESTS(ended, destroying_listeners_at_any_stage_leaks_nothing_and_tells_nothing, 0, 8)
{
    rig_add(FAKE_TCP4);
    rig_add_url("redis://localhost:1");
    rig_start();
    ck_assert_int_eq(rl_transport_listen(&rig.transport, RIG_CHANNEL), 0);
    for (int i = 0; i < _i; i++)
        event_base_loop(rig.base, EVLOOP_NONBLOCK);
    memset(rig.links, 0xff, sizeof rig.links);
    rig.listening[0].on = rig.listening[1].on = true;
    rig.listening[0].changes = rig.listening[1].changes = 0;
    rl_driver_close(rig.driver, false);
    event_base_loop(rig.base, EVLOOP_NONBLOCK);
    rl_driver_destroy(rig.driver, false);
    rig.driver = NULL;
    ck_assert_uint_eq(rig.listening[0].changes + rig.listening[1].changes, 0);
}

/* Without event_reinit() the kernel's side of the base is the parent's: only a child that has called it may run it. */
static void be_child(bool own_base)
{
    if (own_base)
        event_reinit(rig.base);
    rl_driver_close(rig.driver, true);
    rl_driver_destroy(rig.driver, true);
    for (int i = 0; own_base && i < 10; i++)
        event_base_loop(rig.base, EVLOOP_NONBLOCK);
    _exit(0);
}

TESTS(ended, a_forked_child_leaves_the_parents_listener_alone, 0, 2)
{
    int status = -1;
    pid_t child;

    rig_start_listening(FAKE_TCP4);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (!child)
        be_child(_i);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    rig_say_message(0, "to the parent");
    while (!rig.listening[0].messages)
        rig_turn();
    ck_assert_str_eq(rig.listening[0].path, "ON ");
    ck_assert_uint_eq(rig.notifiers[0]->gone, 0);
}

SUITE("listen_loss")
