/* Further channels of a connection that listens: each is entered and left by itself, and may be refused. */
#include <stdio.h>
#include <string.h>

#include <redlock/status.h>

#include "rig.h"

static struct fake_server *notifier;

static void start(void)
{
    notifier = rig_start_listening(FAKE_UNIX);
}

static void until_subscriptions(unsigned n)
{
    while (rig.listening[0].subscriptions < n)
        rig_turn();
}

static void until_messages(unsigned n)
{
    while (rig.listening[0].messages < n)
        rig_turn();
}

static void until_channels(unsigned n)
{
    while (notifier->n_channels != n)
        rig_turn();
}

static void subscribe(const char *channel)
{
    unsigned before = rig.listening[0].subscriptions;

    ck_assert_int_eq(rig_subscribe(channel), 0);
    until_subscriptions(before + 1);
}

/* What the master has said until now has been read when a message behind it has arrived. */
static void until_read(void)
{
    unsigned before = rig.listening[0].messages;

    rig_say_message(0, "behind the others");
    until_messages(before + 1);
}

/* --- Entered and left ------------------------------------------------------------------------------------------- */

GROUP(entered, "entered", rig_setup, rig_teardown)

TESTS(entered, messages_say_on_which_channel_they_came, 0, 2)
{
    start();
    notifier->bytewise = _i;
    subscribe("one");
    subscribe("two");
    rig_say_on(0, "two", "first");
    until_messages(1);
    ck_assert_str_eq(rig.listening[0].channel, "two");
    rig_say_message(0, "second");
    until_messages(2);
    ck_assert_str_eq(rig.listening[0].channel, RIG_CHANNEL);
    ck_assert_str_eq(rig.listening[0].subscribed, "+one +two ");
    ck_assert_str_eq(rig.listening[0].path, "ON ");
    ck_assert_uint_eq(rig_stats(0).messages, 2);
}

TEST(entered, a_channel_that_is_wanted_before_there_is_a_connection_is_entered_with_it)
{
    rig_add(FAKE_UNIX);
    rig_add_notifiers(FAKE_TCP4);
    rig_start_ready();
    rig_listen();
    ck_assert_int_eq(rig_subscribe("early"), 0);
    until_subscriptions(1);
    ck_assert_str_eq(rig.notifiers[0]->handshake, "CLIENT SUBSCRIBE SUBSCRIBE ");
    ck_assert_str_eq(rig.listening[0].subscribed, "+early ");
}

TEST(entered, a_channel_is_left_when_its_last_user_has_gone)
{
    start();
    subscribe("news");
    ck_assert_int_eq(rig_subscribe("news"), 0);
    rig_unsubscribe("news");
    until_read();
    ck_assert_str_eq(notifier->handshake, "CLIENT SUBSCRIBE SUBSCRIBE ");
    rig_unsubscribe("news");
    until_channels(1);
    until_read();
    ck_assert_str_eq(notifier->handshake, "CLIENT SUBSCRIBE SUBSCRIBE UNSUBSCRIBE ");
    ck_assert_uint_eq(rig.driver->shared.channels.count, 0);
    rig_unsubscribe("news");
    subscribe("news");
    ck_assert_str_eq(rig.listening[0].subscribed, "+news +news ");
}

TEST(entered, what_is_published_while_a_channel_is_left_is_not_told)
{
    start();
    subscribe("news");
    rig_unsubscribe("news");
    rig_say_on(0, "news", "nobody wants it");
    until_channels(1);
    until_read();
    ck_assert_uint_eq(rig.listening[0].messages, 1);
    rig_say_on(0, "news", "nor may it be said any more");
    rig_until_listening(0, false);
    ck_assert_str_eq(rig.listening[0].why, "a message on a channel that was not subscribed to");
}

/* At most one answer is owed: what is asked next is what is wanted then. */
TEST(entered, whoever_changes_their_mind_all_the_time_floods_nobody)
{
    start();
    for (unsigned i = 0; i < 100; i++) {
        ck_assert_int_eq(rig_subscribe("news"), 0);
        rig_unsubscribe("news");
    }
    ck_assert_int_eq(rig_subscribe("news"), 0);
    until_subscriptions(1);
    until_read();
    ck_assert_str_eq(notifier->handshake, "CLIENT SUBSCRIBE SUBSCRIBE ");
    rig_unsubscribe("news");
    ck_assert_int_eq(rig_subscribe("news"), 0);
    until_subscriptions(2);
    ck_assert_str_eq(notifier->handshake, "CLIENT SUBSCRIBE SUBSCRIBE UNSUBSCRIBE SUBSCRIBE ");
    ck_assert_uint_eq(notifier->n_channels, 2);
}

TEST(entered, there_is_a_limit_of_channels)
{
    char name[16];

    start();
    notifier->rules.another = "";
    for (unsigned i = 0; i < RL_CHANNELS_MAX; i++) {
        snprintf(name, sizeof name, "c%u", i);
        ck_assert_int_eq(rig_subscribe(name), 0);
    }
    ck_assert_int_eq(rig_subscribe("one more"), REDLOCK_E_LIMIT);
    ck_assert_int_eq(rig_subscribe("c0"), 0);
    rig_unsubscribe("c7");
    ck_assert_int_eq(rig_subscribe("one more"), REDLOCK_E_LIMIT); /* it is being left */
    fake_server_hang_up(notifier);
    rig_until_listening(0, false);
    ck_assert_int_eq(rig_subscribe("one more"), 0);
}

/* --- Lost and refused ------------------------------------------------------------------------------------------- */

GROUP(refused, "refused", rig_setup, rig_teardown)

TEST(refused, a_new_connection_enters_all_channels_again)
{
    start();
    subscribe("one");
    subscribe("two");
    subscribe("three");
    rig_unsubscribe("two");
    until_channels(3);
    fake_server_hang_up(notifier);
    until_subscriptions(5);
    ck_assert_str_eq(rig.listening[0].subscribed, "+one +two +three +one +three ");
    ck_assert_str_eq(rig.listening[0].path, "ON OFF ON ");
    rig_say_on(0, "three", "after");
    until_messages(1);
}

TEST(refused, a_channel_that_is_refused_concerns_no_other)
{
    start();
    subscribe("good");
    notifier->rules.another = "-NOPERM No permissions to access a channel\r\n";
    subscribe("secret");
    ck_assert_str_eq(rig.listening[0].subscribed, "+good -secret ");
    ck_assert_str_eq(rig.listening[0].why, "SUBSCRIBE: NOPERM No permissions to access a channel");
    notifier->rules.another = NULL;
    rig_say_on(0, "good", "heard");
    until_messages(1);
    rig_say_message(0, "heard, too");
    until_messages(2);
    ck_assert_str_eq(notifier->handshake, "CLIENT SUBSCRIBE SUBSCRIBE SUBSCRIBE ");
    fake_server_hang_up(notifier);
    until_subscriptions(4);
    ck_assert_str_eq(rig.listening[0].subscribed, "+good -secret +good +secret ");
}

TEST(refused, a_refusal_may_be_answered_by_giving_the_channel_up)
{
    start();
    notifier->rules.another = "-NOPERM No permissions to access a channel\r\n";
    subscribe("secret");
    rig_unsubscribe("secret");
    ck_assert_uint_eq(rig.driver->shared.channels.count, 0);
    notifier->rules.another = NULL;
    subscribe("secret");
    ck_assert_str_eq(rig.listening[0].subscribed, "-secret +secret ");
}

static void give_up(unsigned node)
{
    rig_unsubscribe("news");
}

TESTS(refused, the_sink_may_give_a_channel_up_when_it_is_told_of_it, 0, 2)
{
    start();
    rig.on_subscribed = give_up;
    if (_i)
        notifier->rules.another = "-NOPERM no\r\n";
    subscribe("news");
    until_channels(1);
    until_read();
    ck_assert_uint_eq(rig.driver->shared.channels.count, 0);
}

TEST(refused, a_channel_that_may_not_be_left_is_not_told_of_any_more)
{
    start();
    subscribe("news");
    notifier->rules.unsubscribe = "-NOPERM this user has no permissions to run the 'unsubscribe' command\r\n";
    rig_unsubscribe("news");
    until_read();
    rig_say_on(0, "news", "nobody wants it");
    until_read();
    ck_assert_uint_eq(rig.listening[0].messages, 2);
    ck_assert_str_eq(notifier->handshake, "CLIENT SUBSCRIBE SUBSCRIBE UNSUBSCRIBE ");
    ck_assert_int_eq(rig_subscribe("news"), 0);
    rig_say_on(0, "news", "wanted again");
    until_messages(3);
    ck_assert_str_eq(rig.listening[0].path, "ON ");
}

static const char *const strange[] = {
    "+OK\r\n", "-LOADING Redis is loading the dataset in memory\r\n", "*3\r\n$9\r\nsubscribe\r\n$5\r\nother\r\n:2\r\n",
    "*3\r\n$11\r\nunsubscribe\r\n$4\r\nnews\r\n:1\r\n", "*3\r\n$9\r\nsubscribe\r\n$-1\r\n:2\r\n",
    "*2\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n", "*2\r\n$4\r\npong\r\n$0\r\n\r\n",
};

TESTS(refused, any_other_answer_ends_the_connection, 0, sizeof strange / sizeof strange[0])
{
    start();
    notifier->rules.another = strange[_i];
    ck_assert_int_eq(rig_subscribe("news"), 0);
    rig_until_listening(0, false);
    notifier->rules.another = NULL;
    until_subscriptions(1);
    ck_assert_str_eq(rig.listening[0].subscribed, "+news ");
}

TEST(refused, an_answer_that_does_not_come_ends_the_connection)
{
    rig.config.stall_timeout = rl_ms(60);
    start();
    notifier->rules.another = "";
    ck_assert_int_eq(rig_subscribe("news"), 0);
    rig_until_listening(0, false);
    ck_assert_ptr_nonnull(strstr(rig.listening[0].why, "stalled"));
    notifier->rules.another = NULL;
    until_subscriptions(1);
}

TEST(refused, after_the_driver_nothing_is_left)
{
    start();
    subscribe("one");
    ck_assert_int_eq(rig_subscribe("two"), 0);
    rl_driver_close(rig.driver, false);
    rig_unsubscribe("one");
    rl_driver_destroy(rig.driver, false);
    rig.driver = NULL;
    ck_assert_str_eq(rig.listening[0].path, "ON ");
}

SUITE("channels")
