/* The driver's listening connections against real masters: names, passwords, rights, and pushes as they really are. */
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/status.h>

#include "driver/driver.h"
#include "masters.h"
#include "suite.h"
#include "util/clock.h"

#define CHANNEL "{redlock}:news"

static struct {
    struct masters *masters;
    struct event_base *base;
    struct event *watchdog;
    struct rl_clock clock;
    struct rl_driver *driver;
    struct rl_transport transport; /* the driver's */
    struct rl_span stall_timeout;
    bool expired;
    bool on;
    unsigned changes;
    char why[256];
    char subscribed[256]; /* "+entered -refused " */
    unsigned messages;
    char channel[64];
    char payload[256];
    enum rl_link link;
} world;

/* --- The driver and its sink ----------------------------------------------------------------------------------- */

static void on_link(void *ctx, unsigned node, enum rl_link link, const char *why, struct rl_instant now)
{
    world.link = link;
}

static void on_listening(void *ctx, unsigned node, bool on, const char *why, struct rl_instant now)
{
    world.on = on;
    world.changes++;
    snprintf(world.why, sizeof world.why, "%s", why);
}

static void on_subscribed(void *ctx, unsigned node, struct rl_slice channel, bool on, const char *why,
                          struct rl_instant now)
{
    size_t length = strlen(world.subscribed);

    snprintf(world.subscribed + length, sizeof world.subscribed - length, "%c%.*s ", on ? '+' : '-',
             (int)channel.size, (const char *)channel.data);
    snprintf(world.why, sizeof world.why, "%s", why);
}

static void on_message(void *ctx, unsigned node, struct rl_slice channel, struct rl_slice payload,
                       struct rl_instant now)
{
    ck_assert(world.on);
    world.messages++;
    snprintf(world.channel, sizeof world.channel, "%.*s", (int)channel.size, (const char *)channel.data);
    snprintf(world.payload, sizeof world.payload, "%.*s", (int)payload.size, (const char *)payload.data);
}

static void on_turn(void *ctx)
{
}

static void on_watchdog(evutil_socket_t fd, short what, void *arg)
{
    world.expired = true;
}

static const struct rl_transport_sink sink = {
    .link = on_link, .listening = on_listening, .subscribed = on_subscribed, .message = on_message, .turn = on_turn};

static void start_driver(const char *url)
{
    const struct rl_driver_config config = {
        .base = world.base, .clock = &world.clock, .node_timeout = rl_ms(10000), .connect_timeout = rl_ms(20000),
        .stall_timeout = world.stall_timeout, .backoff_min = rl_ms(2), .backoff_max = rl_ms(20),
        .max_buffer_bytes = 1 << 20, .client_name = "listener", .seed = 1,
    };
    struct rl_master master;
    const char *why = "";

    ck_assert_msg(rl_master_parse(url, &master, &why) == REDLOCK_OK, "%s", why);
    ck_assert_int_eq(rl_driver_create(&config, &master, 1, &sink, &world.driver), REDLOCK_OK);
    world.transport = rl_driver_transport(world.driver);
    ck_assert_int_eq(rl_transport_listen(&world.transport, CHANNEL), REDLOCK_OK);
}

static void start_master(bool tcp)
{
    const struct masters_options options = {.count = 1, .tcp = tcp};

    world.masters = masters_create(&options);
    ck_assert_msg(world.masters != NULL, "%s", masters_error());
}

static void setup(void)
{
    const struct timeval patience = {SUITE_PATIENCE_S, 0};

    memset(&world, 0, sizeof world);
    world.link = RL_LINK_JOINING;
    world.stall_timeout = rl_ms(20000);
    world.base = event_base_new();
    world.watchdog = event_new(world.base, -1, 0, on_watchdog, NULL);
    event_add(world.watchdog, &patience);
    rl_clock_init(&world.clock);
}

static void teardown(void)
{
    rl_driver_destroy(world.driver, false);
    masters_destroy(world.masters);
    event_free(world.watchdog);
    event_base_free(world.base);
}

/* --- Waiting, and asking the master ---------------------------------------------------------------------------- */

static void turn(void)
{
    ck_assert_int_eq(event_base_loop(world.base, EVLOOP_ONCE), 0);
    ck_assert_msg(!world.expired, "the watchdog's time is over");
}

static void until_changes(unsigned n, bool on)
{
    while (world.changes < n || world.on != on)
        turn();
}

static bool master_says(const char *const *argv, const char *part)
{
    char *reply = masters_command(world.masters, 0, argv);
    bool found = reply && strstr(reply, part);

    free(reply);
    return found;
}

#define SAYS(part, ...) master_says((const char *const[]){__VA_ARGS__, NULL}, part)

/* --- Tests ----------------------------------------------------------------------------------------------------- */

GROUP(real, "listen", setup, teardown)

TESTS(real, what_is_published_arrives_over_every_kind_of_connection, 0, 2)
{
    start_master(_i);
    start_driver(masters_url(world.masters, 0));
    until_changes(1, true);
    ck_assert(SAYS("1", "PUBSUB", "NUMSUB", CHANNEL));
    ck_assert(SAYS("1", "PUBLISH", CHANNEL, "granted"));
    while (!world.messages)
        turn();
    ck_assert_str_eq(world.payload, "granted");
    while (world.link != RL_LINK_READY)
        turn();
    ck_assert(SAYS("name=listener", "CLIENT", "LIST", "TYPE", "pubsub"));
}

#define USER "ACL", "SETUSER", "alice"

/* Rights that are taken away end the connection; they are missed, told once, and used again when they are back. */
TEST_SINCE(real, a_listener_lives_by_the_rights_of_its_user, 6, 2, "rights on channels")
{
    char url[300];

    start_master(false);
    ck_assert(SAYS("OK", USER, "on", ">secret", "~*", "+@all", "&" CHANNEL));
    snprintf(url, sizeof url, "unix://alice:secret@%s", masters_url(world.masters, 0) + strlen("unix://"));
    start_driver(url);
    until_changes(1, true);
    ck_assert(SAYS("OK", USER, "resetchannels"));
    until_changes(2, false);
    while (!strstr(world.why, "NOPERM"))
        turn();
    ck_assert(SAYS("OK", USER, "&" CHANNEL));
    until_changes(3, true);
    ck_assert(SAYS("1", "PUBLISH", CHANNEL, "again"));
    while (!world.messages)
        turn();
}

static void until_subscribed(const char *path)
{
    while (strcmp(world.subscribed, path) != 0)
        turn();
}

static int subscribe(const char *channel)
{
    return rl_transport_subscribe(&world.transport, rl_slice_of(channel));
}

TESTS(real, further_channels_are_entered_left_and_entered_again, 0, 2)
{
    start_master(_i);
    start_driver(masters_url(world.masters, 0));
    ck_assert_int_eq(subscribe("one"), 0);
    ck_assert_int_eq(subscribe("two"), 0);
    until_subscribed("+one +two ");
    ck_assert(SAYS("1", "PUBLISH", "two", "news"));
    while (!world.messages)
        turn();
    ck_assert_str_eq(world.channel, "two");
    rl_transport_unsubscribe(&world.transport, rl_slice_of("one"));
    while (!SAYS("0", "PUBSUB", "NUMSUB", "one"))
        event_base_loop(world.base, EVLOOP_NONBLOCK);
    ck_assert(SAYS("1", "CLIENT", "KILL", "TYPE", "pubsub"));
    until_changes(3, true);
    until_subscribed("+one +two +two ");
    ck_assert(SAYS("1", "PUBLISH", "two", "after"));
    while (world.messages < 2)
        turn();
    ck_assert(SAYS("1", "PUBLISH", CHANNEL, "own"));
    while (world.messages < 3)
        turn();
    ck_assert_str_eq(world.channel, CHANNEL);
}

TEST_SINCE(real, a_channel_that_its_user_has_no_right_to_is_told_as_refused, 6, 2, "rights on channels")
{
    char url[300];

    start_master(false);
    ck_assert(SAYS("OK", USER, "on", ">secret", "~*", "+@all", "-unsubscribe", "&" CHANNEL, "&mine"));
    snprintf(url, sizeof url, "unix://alice:secret@%s", masters_url(world.masters, 0) + strlen("unix://"));
    start_driver(url);
    ck_assert_int_eq(subscribe("theirs"), 0);
    until_subscribed("-theirs ");
    ck_assert_msg(strstr(world.why, "SUBSCRIBE: NOPERM") != NULL, "%s", world.why);
    ck_assert_int_eq(subscribe("mine"), 0);
    until_subscribed("-theirs +mine ");
    rl_transport_unsubscribe(&world.transport, rl_slice_of("mine")); /* is refused */
    ck_assert(SAYS("1", "PUBLISH", "mine", "nobody wants it"));
    ck_assert(SAYS("1", "PUBLISH", CHANNEL, "heard"));
    while (!world.messages)
        turn();
    ck_assert_str_eq(world.payload, "heard");
    ck_assert_uint_eq(world.changes, 1);
}

TEST(real, a_wrong_password_is_told_without_it)
{
    char url[300];

    start_master(false);
    snprintf(url, sizeof url, "unix://alice:open-sesame@%s", masters_url(world.masters, 0) + strlen("unix://"));
    start_driver(url);
    until_changes(1, false);
    ck_assert_msg(strstr(world.why, "AUTH: WRONGPASS") != NULL, "%s", world.why);
    ck_assert_ptr_null(strstr(world.why, "sesame"));
}

TEST(real, a_listener_comes_back_to_a_master_that_was_killed)
{
    start_master(false);
    start_driver(masters_url(world.masters, 0));
    until_changes(1, true);
    ck_assert(masters_kill(world.masters, 0));
    until_changes(2, false);
    ck_assert(masters_restart(world.masters, 0));
    until_changes(3, true);
    ck_assert(SAYS("1", "PUBLISH", CHANNEL, "after"));
    while (!world.messages)
        turn();
}

TEST(real, a_master_with_nothing_to_say_is_asked_and_answers)
{
    start_master(false);
    world.stall_timeout = rl_ms(1000);
    start_driver(masters_url(world.masters, 0));
    until_changes(1, true);
    while (!SAYS("cmd=ping", "CLIENT", "LIST", "TYPE", "pubsub"))
        turn();
    ck_assert(SAYS("1", "PUBLISH", CHANNEL, "behind the answer"));
    while (!world.messages)
        turn();
    ck_assert_uint_eq(world.changes, 1);
}

TESTS(real, a_hung_master_is_found_out_though_it_owes_nothing, 0, 2)
{
    start_master(_i);
    world.stall_timeout = rl_ms(200);
    start_driver(masters_url(world.masters, 0));
    until_changes(1, true);
    ck_assert(masters_hang(world.masters, 0));
    until_changes(2, false);
    ck_assert_ptr_nonnull(strstr(world.why, "stalled"));
    ck_assert(masters_resume(world.masters, 0));
    until_changes(3, true);
}

SUITE_WITH_SERVER("listen")
