/* The byte stream of a listening connection: any bytes in any pieces, hang-ups included. The sink hears of messages
 * only while it listens, of none that is too long, and of every change once; a sane master is heard after all. */
#include <event2/event.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "driver/driver.h"
#include "fuzz.h"
#include "util/clock.h"

#define CHANNEL "ch"
#define ANOTHER "no"
#define SUBSCRIBED "*3\r\n$9\r\nsubscribe\r\n$2\r\nch\r\n:1\r\n"
#define MESSAGE "*3\r\n$7\r\nmessage\r\n$2\r\nch\r\n"

static struct {
    struct event_base *base;
    struct rl_clock clock;
    struct rl_driver *driver;
    struct rl_transport transport; /* the driver's */
    bool on;
    char why[256];
    bool wants_another;
    unsigned messages;
    bool whole; /* the latest message is that of say_whole_message() */
    const uint8_t *data;
    size_t size;
} world;

static struct {
    struct sockaddr_un address;
    int listener;
    int first; /* the connection that carries commands: it never gets an answer */
    int subscriber;
} master = {.listener = -1, .first = -1, .subscriber = -1};

/* --- The master ------------------------------------------------------------------------------------------------ */

static void unlink_address(void)
{
    unlink(master.address.sun_path);
}

static void listen_once(void)
{
    if (master.listener >= 0)
        return;
    master.address.sun_family = AF_UNIX;
    snprintf(master.address.sun_path, sizeof master.address.sun_path, "/tmp/fuzz-listen-%ld", (long)getpid());
    unlink_address();
    master.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    HOLDS(bind(master.listener, (struct sockaddr *)&master.address, sizeof master.address) == 0);
    HOLDS(listen(master.listener, 64) == 0);
    HOLDS(atexit(unlink_address) == 0);
}

static void hang_up(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void accept_subscriber(void)
{
    int fd = accept4(master.listener, NULL, NULL, SOCK_NONBLOCK);

    if (fd < 0)
        return;
    hang_up(&master.subscriber);
    master.subscriber = fd;
}

static void say(const void *bytes, size_t size)
{
    if (master.subscriber >= 0 && send(master.subscriber, bytes, size, MSG_NOSIGNAL) < 0)
        hang_up(&master.subscriber);
}

static void say_text(const char *text)
{
    say(text, strlen(text));
}

/* --- The sink -------------------------------------------------------------------------------------------------- */

static void on_link(void *ctx, unsigned node, enum rl_link link, const char *why, struct rl_instant now)
{
    HOLDS(link == RL_LINK_DOWN);
}

static void on_listening(void *ctx, unsigned node, bool on, const char *why, struct rl_instant now)
{
    HOLDS(on != world.on || (!on && strcmp(why, world.why) != 0));
    HOLDS(on == !*why);
    world.on = on;
    snprintf(world.why, sizeof world.why, "%s", why);
}

static void on_message(void *ctx, unsigned node, struct rl_slice channel, struct rl_slice payload,
                       struct rl_instant now)
{
    static char latest[RL_MESSAGE_MAX_BYTES];

    HOLDS(world.on && payload.size <= sizeof latest);
    HOLDS(rl_slice_is(channel, CHANNEL) || (rl_slice_is(channel, ANOTHER) && world.wants_another));
    memcpy(latest, payload.data, payload.size); /* all of it must be there */
    world.messages++;
    world.whole = payload.size == 5 && memcmp(latest, "whole", 5) == 0;
    rl_transport_read_now(&world.transport);
}

static void on_subscribed(void *ctx, unsigned node, struct rl_slice channel, bool on, const char *why,
                          struct rl_instant now)
{
    HOLDS(world.on && world.wants_another && rl_slice_is(channel, ANOTHER) && on == !*why);
}

static void on_turn(void *ctx)
{
}

static const struct rl_transport_sink sink = {
    .link = on_link, .listening = on_listening, .subscribed = on_subscribed, .message = on_message, .turn = on_turn};

/* --- Steps ----------------------------------------------------------------------------------------------------- */

static uint8_t next(void)
{
    if (!world.size)
        return 0;
    world.size--;
    return *world.data++;
}

static void some_turns(void)
{
    for (unsigned i = 0; i < 3; i++)
        event_base_loop(world.base, EVLOOP_NONBLOCK);
}

static void say_raw(void)
{
    size_t size = next();

    if (size > world.size)
        size = world.size;
    say(world.data, size);
    world.data += size;
    world.size -= size;
}

static void say_word(void)
{
    static const char *const words[] = {
        SUBSCRIBED, MESSAGE "$1\r\nx\r\n", MESSAGE "$0\r\n\r\n", MESSAGE, "$4\r\nabcd\r\n", "+OK\r\n",
        "*2\r\n$4\r\npong\r\n$0\r\n\r\n", "-NOPERM x\r\n", "*3\r\n$7\r\nmessage\r\n$2\r\nno\r\n$1\r\nx\r\n",
        "*3\r\n$9\r\nsubscribe\r\n$2\r\nno\r\n:2\r\n", "*3\r\n$11\r\nunsubscribe\r\n$2\r\nno\r\n:1\r\n",
        "*3\r\n", "$7\r\nmess", "age\r\n", "$2\r\nch\r\n", ":1\r\n", "$-1\r\n", "*3\r\n*3\r\n*3\r\n",
    };

    say_text(words[next() % (sizeof words / sizeof words[0])]);
}

static void say_long_message(void)
{
    static char text[3 * RL_MESSAGE_MAX_BYTES];
    int size = RL_MESSAGE_MAX_BYTES - 128 + next();
    int start = snprintf(text, sizeof text, MESSAGE "$%d\r\n", size);

    memset(text + start, 'l', (size_t)size);
    memcpy(text + start + size, "\r\n", 2);
    say(text, (size_t)(start + size + 2));
}

/* A master in its right mind is heard, whatever came before. */
static void say_whole_message(void)
{
    unsigned before = world.messages;

    hang_up(&master.subscriber);
    while (master.subscriber < 0) {
        event_base_loop(world.base, EVLOOP_ONCE);
        accept_subscriber();
    }
    say_text("+OK\r\n" SUBSCRIBED MESSAGE "$5\r\nwhole\r\n");
    some_turns();
    HOLDS(world.on && world.messages > before && world.whole);
}

static void change_mind(void)
{
    if (world.wants_another)
        rl_transport_unsubscribe(&world.transport, rl_slice_of(ANOTHER));
    else
        HOLDS(rl_transport_subscribe(&world.transport, rl_slice_of(ANOTHER)) == 0);
    world.wants_another = !world.wants_another;
}

static void step(void)
{
    uint8_t what = next();

    switch (what & 7) {
    case 0:
        say_raw();
        break;
    case 1:
    case 2:
        say_word();
        break;
    case 3:
        say_long_message();
        break;
    case 4:
        accept_subscriber();
        break;
    case 5:
        if (what & 0x80)
            hang_up(&master.subscriber);
        else
            rl_transport_read_now(&world.transport);
        break;
    case 6:
        if (what & 0x80)
            say_whole_message();
        else
            say_text("+OK\r\n" SUBSCRIBED);
        break;
    default:
        if (what & 0x80)
            change_mind();
        event_base_loop(world.base, EVLOOP_NONBLOCK);
        break;
    }
}

/* --- From the start to the end --------------------------------------------------------------------------------- */

static void start(void)
{
    const struct rl_span patience = rl_ms(60000);
    const struct rl_driver_config config = {
        .base = world.base, .clock = &world.clock, .node_timeout = patience, .connect_timeout = patience,
        .stall_timeout = patience, .backoff_min = rl_ms(1), .backoff_max = rl_ms(1), .max_buffer_bytes = 4096,
        .client_name = "fuzz", .seed = 1,
    };
    struct rl_master parsed;
    const char *why;
    char url[200];

    snprintf(url, sizeof url, "unix://%s", master.address.sun_path);
    HOLDS(rl_master_parse(url, &parsed, &why) == 0);
    HOLDS(rl_driver_create(&config, &parsed, 1, &sink, &world.driver) == 0);
    world.transport = rl_driver_transport(world.driver);
    while (master.first < 0) {
        event_base_loop(world.base, EVLOOP_ONCE);
        master.first = accept4(master.listener, NULL, NULL, SOCK_NONBLOCK);
    }
    HOLDS(rl_transport_listen(&world.transport, CHANNEL) == 0);
    say_whole_message();
}

static void finish(void)
{
    rl_driver_destroy(world.driver, false);
    HOLDS(event_base_get_num_events(world.base, EVENT_BASE_COUNT_ADDED | EVENT_BASE_COUNT_ACTIVE) == 0);
    event_base_free(world.base);
    accept_subscriber();
    hang_up(&master.subscriber);
    hang_up(&master.first);
}

void fuzz_listen(const uint8_t *data, size_t size)
{
    listen_once();
    memset(&world, 0, sizeof world);
    world.data = data;
    world.size = size;
    rl_clock_init(&world.clock);
    world.base = event_base_new();
    start();
    while (world.size)
        step();
    finish();
}
