/* The relay between clients and a server that sends everything back, all on one loop. */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "relay.h"
#include "suite.h"

#define MOST 65536

/* One client's end. */
struct end {
    struct bufferevent *wire;
    char got[MOST];
    size_t n_got;
    unsigned pieces;
    bool closed;
    bool by_error;
};

static struct event_base *base;
static struct evconnlistener *server;
static struct relay *relay;
static char dir[] = "/tmp/redlock-relay-XXXXXX";
static char upstream[64], listen_at[64];
static size_t n_served; /* bytes that have reached the server */
static unsigned n_open; /* connections of the server */
static bool server_saw_end;
static unsigned next_group;

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

static void on_request(struct bufferevent *wire, void *argument)
{
    struct evbuffer *input = bufferevent_get_input(wire);

    n_served += evbuffer_get_length(input);
    bufferevent_write_buffer(wire, input);
}

static void on_server_end(struct bufferevent *wire, short what, void *argument)
{
    if (!(what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)))
        return;
    server_saw_end = true;
    n_open--;
    bufferevent_free(wire);
}

static void on_connection(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address, int size,
                          void *argument)
{
    struct bufferevent *wire = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);

    n_open++;
    bufferevent_setcb(wire, on_request, NULL, on_server_end, NULL);
    bufferevent_enable(wire, EV_READ | EV_WRITE);
}

static unsigned by_turns(const struct relay_peer *client, void *user_data)
{
    ck_assert(relay_peer_is(client, getpid()));
    ck_assert(!relay_peer_is(client, 1));
    return next_group++;
}

static void start_relay(const char *where, bool grouped)
{
    struct relay_options options = {
        .listen = where, .upstream = upstream, .group_of = grouped ? by_turns : NULL, .seed = 42};
    char why[160] = "";

    relay = relay_create(base, &options, why, sizeof why);
    ck_assert_msg(relay != NULL, "%s", why);
}

static void set_up(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    strcpy(dir + strlen(dir) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(address.sun_path, sizeof address.sun_path, "%s/server", dir);
    snprintf(upstream, sizeof upstream, "unix://%s/server", dir);
    snprintf(listen_at, sizeof listen_at, "unix://%s/relay", dir);
    base = event_base_new();
    server = evconnlistener_new_bind(base, on_connection, NULL, LEV_OPT_CLOSE_ON_FREE, -1,
                                     (struct sockaddr *)&address, sizeof address);
    ck_assert_ptr_nonnull(server);
    n_served = n_open = 0;
    next_group = 0;
    server_saw_end = false;
}

static void on_patience(evutil_socket_t fd, short what, void *argument)
{
    ck_abort_msg("nothing happens any more");
}

#define WAIT_UNTIL(condition)                                                                      \
    do {                                                                                           \
        struct event *patience = evtimer_new(base, on_patience, NULL);                             \
        struct timeval limit = {SUITE_PATIENCE_S, 0};                                              \
        evtimer_add(patience, &limit);                                                             \
        while (!(condition))                                                                       \
            event_base_loop(base, EVLOOP_ONCE);                                                    \
        event_free(patience);                                                                      \
    } while (0)

static void tear_down(void)
{
    relay_destroy(relay);
    relay = NULL;
    WAIT_UNTIL(n_open == 0);
    evconnlistener_free(server);
    event_base_free(base);
    unlink(strchr(upstream, '/') + 2);
    unlink(strchr(listen_at, '/') + 2);
    rmdir(dir);
}

static void on_reply(struct bufferevent *wire, void *argument)
{
    struct end *end = argument;

    end->pieces++;
    end->n_got += bufferevent_read(wire, end->got + end->n_got, MOST - end->n_got);
}

static void on_end(struct bufferevent *wire, short what, void *argument)
{
    struct end *end = argument;

    end->closed |= (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)) != 0;
    end->by_error |= (what & BEV_EVENT_ERROR) != 0;
}

union address {
    struct sockaddr any;
    struct sockaddr_un local;
    struct sockaddr_in inet;
};

/* Of the relay; returns its size. */
static int find_address(union address *ret_address)
{
    *ret_address = (union address){.any = {0}};
    if (strncmp(relay_url(relay), "unix://", 7) == 0) {
        ret_address->local.sun_family = AF_UNIX;
        strcpy(ret_address->local.sun_path, relay_url(relay) + 7);
        return sizeof ret_address->local;
    }
    ret_address->inet.sin_family = AF_INET;
    ret_address->inet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ret_address->inet.sin_port = htons((uint16_t)atoi(strrchr(relay_url(relay), ':') + 1));
    return sizeof ret_address->inet;
}

static struct end *connect_end(void)
{
    struct end *end = calloc(1, sizeof *end);
    union address address;
    int size = find_address(&address);

    ck_assert_ptr_nonnull(end);
    end->wire = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
    bufferevent_setcb(end->wire, on_reply, NULL, on_end, end);
    bufferevent_enable(end->wire, EV_READ | EV_WRITE);
    end->closed = bufferevent_socket_connect(end->wire, &address.any, size) != 0;
    return end;
}

static void drop(struct end *end)
{
    bufferevent_free(end->wire);
    free(end);
}

static void say(struct end *end, const char *text)
{
    ck_assert_int_eq(bufferevent_write(end->wire, text, strlen(text)), 0);
}

static void expect(struct end *end, const char *text)
{
    WAIT_UNTIL(end->n_got >= strlen(text) || end->closed);
    ck_assert_uint_eq(end->n_got, strlen(text));
    ck_assert(memcmp(end->got, text, strlen(text)) == 0);
    end->n_got = 0;
}

static void set(unsigned group, enum relay_direction direction, struct relay_toxics toxics)
{
    relay_set(relay, group, direction, &toxics);
}

GROUP(relays, "relay", set_up, tear_down)

TESTS(relays, a_clean_line_changes_nothing, 0, 2)
{
    struct end *end;

    start_relay(_i ? "redis://127.0.0.1:0" : listen_at, false);
    end = connect_end();
    say(end, "hello");
    expect(end, "hello");
    say(end, "again");
    expect(end, "again");
    ck_assert_uint_eq(relay_connections(relay), 1);
    drop(end);
    WAIT_UNTIL(relay_connections(relay) == 0);
}

TEST(relays, latency_delays_and_keeps_the_order)
{
    struct end *end;
    char line[8], all[320] = "";
    int64_t began;

    start_relay(listen_at, false);
    set(0, RELAY_DOWNSTREAM, (struct relay_toxics){.latency_us = 60000, .jitter_us = 30000});
    end = connect_end();
    began = now_ms();
    for (int i = 0; i < 50; i++) {
        snprintf(line, sizeof line, "%02d,", i);
        strcat(all, line);
        say(end, line);
        event_base_loop(base, EVLOOP_NONBLOCK);
    }
    expect(end, all);
    ck_assert_int_ge(now_ms() - began, 29);
    drop(end);
}

TEST(relays, bandwidth_limits_bytes_in_a_second)
{
    static char text[20001];
    struct end *end;
    int64_t began;

    start_relay(listen_at, false);
    set(0, RELAY_UPSTREAM, (struct relay_toxics){.bandwidth_kb_s = 100});
    memset(text, 'x', sizeof text - 1);
    end = connect_end();
    began = now_ms();
    say(end, text);
    expect(end, text);
    ck_assert_int_ge(now_ms() - began, 195);
    drop(end);
}

TEST(relays, the_slicer_cuts_into_pieces)
{
    static char text[641];
    struct end *end;
    int64_t began;

    start_relay(listen_at, false);
    set(0, RELAY_DOWNSTREAM, (struct relay_toxics){.slice_bytes = 64, .slice_delay_us = 2000});
    for (size_t i = 0; i < sizeof text - 1; i++)
        text[i] = (char)('a' + i % 26);
    end = connect_end();
    began = now_ms();
    say(end, text);
    expect(end, text);
    ck_assert_int_ge(now_ms() - began, 17);
    ck_assert_uint_ge(end->pieces, 2);
    drop(end);
}

/* Requests are executed, and nobody is told. */
TEST(relays, a_black_hole_loses_what_is_sent_and_closes_in_the_end)
{
    struct end *end;

    start_relay(listen_at, false);
    set(0, RELAY_DOWNSTREAM, (struct relay_toxics){.black_hole = true, .timeout_ms = 100});
    end = connect_end();
    say(end, "lost");
    WAIT_UNTIL(end->closed);
    ck_assert_uint_eq(n_served, 4);
    ck_assert_uint_eq(end->n_got, 0);
    drop(end);
}

/* The other group's round trip shows that the relay has seen what came before it. */
TEST(relays, what_a_black_hole_has_taken_does_not_come_back)
{
    struct end *lossy, *clean;

    start_relay(listen_at, true);
    set(0, RELAY_UPSTREAM, (struct relay_toxics){.black_hole = true});
    lossy = connect_end();
    say(lossy, "lost");
    WAIT_UNTIL(relay_connections(relay) == 1);
    clean = connect_end();
    say(clean, "seen");
    expect(clean, "seen");
    set(0, RELAY_UPSTREAM, (struct relay_toxics){0});
    say(lossy, "later");
    expect(lossy, "later");
    drop(lossy);
    drop(clean);
}

TEST(relays, a_reset_is_an_error_for_the_client)
{
    struct end *end;

    start_relay("redis://127.0.0.1:0", false);
    end = connect_end();
    say(end, "hello");
    expect(end, "hello");
    set(0, RELAY_DOWNSTREAM, (struct relay_toxics){.reset_peer = true});
    WAIT_UNTIL(end->closed);
    ck_assert(end->by_error);
    drop(end);
}

TESTS(relays, down_refuses_and_up_again_is_at_the_same_place, 0, 2)
{
    struct end *end;

    start_relay(_i ? "redis://127.0.0.1:0" : listen_at, false);
    end = connect_end();
    say(end, "hello");
    expect(end, "hello");
    ck_assert(relay_down(relay, true));
    WAIT_UNTIL(end->closed);
    drop(end);
    end = connect_end();
    WAIT_UNTIL(end->closed);
    drop(end);
    ck_assert(relay_down(relay, false));
    end = connect_end();
    say(end, "back");
    expect(end, "back");
    drop(end);
}

/* On unix sockets and on ports clients are told apart by their processes: see by_turns(). */
TESTS(relays, each_group_has_faults_of_its_own, 0, 2)
{
    struct end *first, *second;

    start_relay(_i ? "redis://127.0.0.1:0" : listen_at, true);
    set(1, RELAY_UPSTREAM, (struct relay_toxics){.hold = true});
    first = connect_end();
    WAIT_UNTIL(relay_connections(relay) == 1);
    second = connect_end();
    say(second, "held");
    WAIT_UNTIL(relay_held(relay, RELAY_UPSTREAM) == 4);
    say(first, "passes");
    expect(first, "passes");
    ck_assert_uint_eq(second->n_got, 0);
    set(1, RELAY_UPSTREAM, (struct relay_toxics){0});
    expect(second, "held");
    drop(first);
    drop(second);
}

/* Says hello to the relay and waits for the echo. */
static int child_process(void)
{
    union address address;
    socklen_t size = (socklen_t)find_address(&address);
    int fd = socket(address.any.sa_family, SOCK_STREAM, 0);
    char echo[5];

    return connect(fd, &address.any, size) == 0 && send(fd, "hello", 5, MSG_NOSIGNAL) == 5 &&
                   recv(fd, echo, 5, MSG_WAITALL) == 5
               ? EXIT_SUCCESS
               : EXIT_FAILURE;
}

/* A program that a client has started is on its client's side: by_turns() is asked in the parent. */
TESTS(relays, a_child_belongs_to_its_parent, 0, 2)
{
    int status = -1;
    pid_t child;

    start_relay(_i ? "redis://127.0.0.1:0" : listen_at, true);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        _exit(child_process());
    WAIT_UNTIL(n_open == 1);
    WAIT_UNTIL(n_open == 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(next_group, 1);
}

TEST(relays, a_cut_loses_what_is_held_and_closes)
{
    struct end *end;

    start_relay(listen_at, false);
    set(0, RELAY_UPSTREAM, (struct relay_toxics){.hold = true});
    end = connect_end();
    say(end, "held");
    WAIT_UNTIL(relay_held(relay, RELAY_UPSTREAM) == 4);
    relay_cut(relay);
    WAIT_UNTIL(end->closed);
    ck_assert_uint_eq(n_served, 0);
    drop(end);
}

/* A program that writes its release and exits must have said it. */
TESTS(relays, the_last_words_of_a_client_arrive, 0, 2)
{
    struct end *end;

    start_relay(listen_at, false);
    set(0, RELAY_UPSTREAM, (struct relay_toxics){.latency_us = _i ? 50000 : 0});
    end = connect_end();
    say(end, "hello");
    expect(end, "hello");
    say(end, "goodbye");
    WAIT_UNTIL(evbuffer_get_length(bufferevent_get_output(end->wire)) == 0);
    drop(end);
    WAIT_UNTIL(server_saw_end);
    ck_assert_uint_eq(n_served, strlen("hellogoodbye"));
}

TEST(relays, a_reply_for_a_client_that_has_gone_harms_nobody)
{
    union address address;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), size;

    signal(SIGPIPE, SIG_DFL);
    start_relay(listen_at, false);
    set(0, RELAY_DOWNSTREAM, (struct relay_toxics){.hold = true});
    size = find_address(&address);
    ck_assert_int_eq(connect(fd, &address.any, (socklen_t)size), 0);
    ck_assert_int_eq(write(fd, "hello", 5), 5);
    WAIT_UNTIL(relay_held(relay, RELAY_DOWNSTREAM) == 5);
    close(fd);
    set(0, RELAY_DOWNSTREAM, (struct relay_toxics){.hold = false});
    WAIT_UNTIL(relay_connections(relay) == 0);
}

/* No descriptor is left from here on; returns the limit that there was. */
static struct rlimit take_descriptors(void)
{
    struct rlimit limit, none;
    int next = dup(STDERR_FILENO);

    ck_assert_int_ge(next, 0);
    close(next);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = (struct rlimit){(rlim_t)next, limit.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    return limit;
}

static void on_tick(evutil_socket_t fd, short what, void *argument)
{
}

/* A loop that does nothing else has one turn for each tick, and those of the connection. */
TEST(relays, without_descriptors_it_waits_and_is_not_busy)
{
    struct event *ticks = event_new(base, -1, EV_PERSIST, on_tick, NULL);
    const struct timeval tick = {0, 10000};
    struct rlimit limit;
    struct end *end;
    unsigned turns = 0;

    start_relay(listen_at, false);
    end = connect_end();
    limit = take_descriptors();
    say(end, "hello");
    event_add(ticks, &tick);
    for (int64_t until = now_ms() + 300; now_ms() < until; turns++)
        event_base_loop(base, EVLOOP_ONCE);
    event_free(ticks);
    ck_assert_uint_eq(relay_connections(relay), 0);
    ck_assert_uint_lt(turns, 200);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    expect(end, "hello");
    drop(end);
}

#define RUSH 500

static struct end *rushed[RUSH];
static size_t n_rushed;

/* Somebody else is outside before this one has come in. */
static unsigned come_again(const struct relay_peer *client, void *user_data)
{
    if (n_rushed < RUSH)
        rushed[n_rushed++] = connect_end();
    return 0;
}

static void on_rush(evutil_socket_t fd, short what, void *argument)
{
    *(size_t *)argument = n_rushed;
}

TEST(relays, the_loop_goes_on_however_many_come)
{
    struct relay_options options = {.listen = listen_at, .upstream = upstream, .group_of = come_again};
    char why[160] = "";
    size_t seen = 0;
    struct event *once = evtimer_new(base, on_rush, &seen);

    relay = relay_create(base, &options, why, sizeof why);
    ck_assert_msg(relay != NULL, "%s", why);
    n_rushed = 0;
    rushed[n_rushed++] = connect_end();
    event_add(once, &(struct timeval){0, 0});
    WAIT_UNTIL(n_rushed == RUSH && seen > 0);
    ck_assert_uint_lt(seen, 100);
    event_free(once);
    while (n_rushed > 0)
        drop(rushed[--n_rushed]);
}

TEST(relays, addresses_that_cannot_be_are_named)
{
    static const char *const bad[] = {"http://127.0.0.1:1", "unix://", "127.0.0.1:6379"};
    char why[160] = "";

    for (size_t i = 0; i < 3; i++) {
        struct relay_options options = {.listen = bad[i], .upstream = upstream};

        ck_assert_ptr_null(relay_create(base, &options, why, sizeof why));
        ck_assert_msg(strstr(why, bad[i]) != NULL, "%s", why);
    }
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    return suite_run(suite_collect("relay"));
}
