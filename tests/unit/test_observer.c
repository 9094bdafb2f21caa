/* When an observer looks: at once, at intervals, and when it is told, but never more often than it may. */
#include "host/election.h"

#include <string.h>

#include "host/host.h"
#include "suite.h"

#define CHANNEL "app:redlock:leader:key"
#define INTERVAL_MS 1000

static struct {
    struct rl_host host;
    struct rl_key *key;
    struct rl_observer observer;
    struct rl_instant now;
    struct rl_timer *armed; /* the observer's, or NULL */
    unsigned subscriptions;
    int status;             /* of the next subscription */
    unsigned looks;
    bool unable;            /* no look can begin */
} world;

static struct rl_instant now(void *ctx)
{
    return world.now;
}

static int on_listen(void *ctx, const char *channel)
{
    return 0;
}

static int on_subscribe(void *ctx, struct rl_slice channel)
{
    ck_assert(rl_slice_is(channel, CHANNEL));
    world.subscriptions += world.status == 0;
    return world.status;
}

static void on_unsubscribe(void *ctx, struct rl_slice channel)
{
    ck_assert(rl_slice_is(channel, CHANNEL));
    world.subscriptions--;
}

static void on_arm(void *ctx, struct rl_timer *timer, struct rl_instant at)
{
    timer->at = at;
    world.armed = timer;
}

static void on_disarm(void *ctx, struct rl_timer *timer)
{
    world.armed = NULL;
}

static bool look(struct rl_observer *observer)
{
    ck_assert_ptr_eq(observer, &world.observer);
    world.looks += !world.unable;
    return !world.unable;
}

static void setup(void)
{
    memset(&world, 0, sizeof world);
    world.now = (struct rl_instant){RL_NS_PER_MS};
    world.host.environment.now = now;
    world.host.transport = (struct rl_transport){.listen = on_listen, .subscribe = on_subscribe,
                                                 .unsubscribe = on_unsubscribe, .arm = on_arm, .disarm = on_disarm};
    world.host.trust.prefix_size = strlen("app:");
    rl_list_init(&world.host.observers);
    world.key = rl_key_create(rl_slice_of("app:"), "key", 3);
    rl_observer_init(&world.observer, &world.host, world.key, look);
    rl_observer_start(&world.observer, rl_ms(INTERVAL_MS));
}

static void teardown(void)
{
    rl_observer_stop(&world.observer, false);
    ck_assert_uint_eq(world.subscriptions, 0);
    ck_assert_ptr_null(world.armed);
    rl_key_unref(world.key);
}

/* Until the observer's timer is due, which is so many milliseconds from now. */
static void expect_timer(int64_t after_ms)
{
    struct rl_timer *timer = world.armed;

    ck_assert_ptr_nonnull(timer);
    ck_assert_int_eq(rl_until(world.now, timer->at).ns, after_ms * RL_NS_PER_MS);
    world.now = timer->at;
    world.armed = NULL;
    timer->fire(timer, world.now);
}

static void pass(int64_t ms)
{
    world.now.ns += ms * RL_NS_PER_MS;
    rl_host_read_clock(&world.host);
}

static void say(const char *payload)
{
    rl_observers_message(&world.host, rl_slice_of(CHANNEL), rl_slice_of(payload));
}

static void end_look(uint64_t term)
{
    rl_host_read_clock(&world.host);
    rl_observer_looked(&world.observer, true, term);
}

static void look_once(uint64_t term)
{
    expect_timer(0);
    end_look(term);
    ck_assert_uint_eq(world.looks, 1);
}

GROUP(cases, "observer", setup, teardown)

TEST(cases, it_looks_at_once_and_at_intervals)
{
    ck_assert_uint_eq(world.subscriptions, 1);
    look_once(0);
    expect_timer(INTERVAL_MS);
    ck_assert_ptr_null(world.armed); /* until the look is over */
    pass(50);
    end_look(7);
    expect_timer(INTERVAL_MS);
    ck_assert_uint_eq(world.looks, 3);
}

TEST(cases, it_looks_when_it_is_told_of_a_larger_term)
{
    look_once(7);
    pass(500);
    say("7 a");
    say("6 a");
    say("what");
    rl_observers_message(&world.host, rl_slice_of("app:redlock:leader:other"), rl_slice_of("8"));
    ck_assert_int_eq(rl_until(world.now, world.armed->at).ns, rl_ms(INTERVAL_MS - 500).ns);
    say("8 a");
    expect_timer(0);
    say("8 a"); /* of the other masters */
    end_look(8);
    say("8 a");
    expect_timer(INTERVAL_MS);
    ck_assert_uint_eq(world.looks, 3);
}

TEST(cases, what_it_was_told_while_it_looked_makes_it_look_again_if_the_look_did_not_show_it)
{
    look_once(7);
    pass(500);
    say("8");
    expect_timer(0);
    say("9");
    pass(2);
    end_look(8);
    expect_timer(RL_OBSERVER_PAUSE_MS - 2);
    end_look(9);
    expect_timer(INTERVAL_MS);
}

TEST(cases, a_flood_of_messages_is_no_flood_of_looks)
{
    look_once(0);
    for (unsigned i = 0; i < 1000; i++) {
        say("18446744073709551615");
        pass(1);
        if (world.armed && !rl_before(world.now, world.armed->at)) {
            expect_timer(rl_until(world.now, world.armed->at).ns / RL_NS_PER_MS);
            say("18446744073709551615");
            end_look(1);
        }
    }
    ck_assert_uint_le(world.looks, 1 + 1000 / RL_OBSERVER_PAUSE_MS + 1);
    ck_assert_uint_ge(world.looks, 1000 / RL_OBSERVER_PAUSE_MS / 2);
}

TEST(cases, what_may_have_been_missed_makes_it_look)
{
    look_once(7);
    pass(500);
    rl_observers_subscribed(&world.host, rl_slice_of(CHANNEL));
    expect_timer(0);
    rl_observers_subscribed(&world.host, rl_slice_of(CHANNEL)); /* by another master */
    end_look(7);
    expect_timer(RL_OBSERVER_PAUSE_MS);
    end_look(7);
    expect_timer(INTERVAL_MS);
}

TEST(cases, who_could_not_see_who_leads_looks_when_a_master_is_there_again)
{
    look_once(7);
    pass(500);
    rl_observers_ready(&world.host);
    expect_timer(INTERVAL_MS - 500);
    rl_observer_looked(&world.observer, false, 0);
    pass(200);
    rl_observers_ready(&world.host);
    expect_timer(0);
    rl_observers_ready(&world.host); /* another one */
    end_look(7);
    expect_timer(RL_OBSERVER_PAUSE_MS);
    end_look(7);
    expect_timer(INTERVAL_MS);
}

TEST(cases, without_a_channel_it_looks_at_intervals_and_asks_again)
{
    rl_observer_stop(&world.observer, false);
    world.status = -1;
    rl_observer_start(&world.observer, rl_ms(INTERVAL_MS));
    look_once(0);
    ck_assert_uint_eq(world.subscriptions, 0);
    world.status = 0;
    expect_timer(INTERVAL_MS);
    ck_assert_uint_eq(world.subscriptions, 1);
    end_look(0);
}

TEST(cases, a_look_that_cannot_begin_is_made_up_for)
{
    world.unable = true;
    expect_timer(0);
    world.unable = false;
    expect_timer(INTERVAL_MS);
    ck_assert_uint_eq(world.looks, 1);
}

TEST(cases, whoever_has_stopped_is_told_nothing)
{
    expect_timer(0);
    rl_observer_stop(&world.observer, false);
    say("8");
    rl_observers_subscribed(&world.host, rl_slice_of(CHANNEL));
    end_look(8);
    ck_assert_ptr_null(world.armed);
    rl_observer_start(&world.observer, rl_ms(INTERVAL_MS));
    expect_timer(0);
    rl_observer_stop(&world.observer, true); /* a forked child's: the channel is the parent's */
    ck_assert_uint_eq(world.subscriptions, 1);
    world.subscriptions = 0;
}

SUITE("observer")
