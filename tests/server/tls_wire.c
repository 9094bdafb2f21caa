/* TLS over a bad line to real masters: bytes that come one by one, connections that break or fall silent at any byte,
 * and sessions that are resumed. */
#include <event2/event.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "program_rig.h"
#include "watch.h"

/* Of three masters the first is behind the line. */
#define N 3
#define UNLIMITED ((size_t)-1)

/* --- The line -------------------------------------------------------------------------------------------------- */

enum { CLIENT, SERVER };

/* One connection at a time, on the rig's loop. Of what an end says, the other one gets as many bytes as its limit says,
 * `slice` at once; then the connection is closed, or nothing more comes. */
static struct line {
    int listener;
    int fds[2]; /* -1: none */
    struct event *accepting, *events[2];
    in_port_t master_port;
    size_t limits[2];
    size_t passed[2]; /* of this connection */
    size_t slice;
    bool falls_silent;
    char url[60];
} line;

static int loopback(in_port_t port, bool listens)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int result = listens ? bind(fd, (struct sockaddr *)&address, sizeof address)
                         : connect(fd, (struct sockaddr *)&address, sizeof address);

    ck_assert_int_eq(result, 0);
    if (listens)
        ck_assert_int_eq(listen(fd, 8), 0);
    return fd;
}

static void hang_up(void)
{
    for (size_t i = 0; i < 2; i++) {
        if (line.events[i])
            event_free(line.events[i]);
        if (line.fds[i] >= 0)
            close(line.fds[i]);
        line.events[i] = NULL;
        line.fds[i] = -1;
    }
}

/* What is said and not passed on is lost. */
static size_t allowed(size_t from, size_t n)
{
    size_t left = line.limits[from] - line.passed[from];

    return n < left ? n : left;
}

static bool is_used_up(void)
{
    return line.passed[CLIENT] == line.limits[CLIENT] || line.passed[SERVER] == line.limits[SERVER];
}

static void on_bytes(evutil_socket_t fd, short what, void *arg)
{
    size_t from = fd == line.fds[SERVER] ? SERVER : CLIENT;
    unsigned char bytes[16384];
    ssize_t n = recv(fd, bytes, line.slice < sizeof bytes ? line.slice : sizeof bytes, 0);
    size_t size = n > 0 ? allowed(from, (size_t)n) : 0;

    line.passed[from] += size;
    if (size && send(line.fds[1 - from], bytes, size, MSG_NOSIGNAL) != (ssize_t)size)
        n = 0;
    if (n <= 0 || (is_used_up() && !line.falls_silent))
        hang_up();
}

static void on_connection(evutil_socket_t fd, short what, void *arg)
{
    hang_up();
    line.passed[CLIENT] = line.passed[SERVER] = 0;
    line.fds[CLIENT] = accept(fd, NULL, NULL);
    line.fds[SERVER] = loopback(line.master_port, false);
    for (size_t i = 0; i < 2; i++) {
        line.events[i] = event_new(rig.base, line.fds[i], EV_READ | EV_PERSIST, on_bytes, NULL);
        event_add(line.events[i], NULL);
    }
    if (is_used_up() && !line.falls_silent)
        hang_up();
}

static void lay_line(void)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;

    line = (struct line){.fds = {-1, -1}, .limits = {UNLIMITED, UNLIMITED}, .slice = UNLIMITED};
    line.master_port = htons((in_port_t)atoi(strrchr(rig.urls[0], ':') + 1));
    line.listener = loopback(0, true);
    ck_assert_int_eq(getsockname(line.listener, (struct sockaddr *)&address, &size), 0);
    snprintf(line.url, sizeof line.url, "rediss://127.0.0.1:%d", ntohs(address.sin_port));
    rig.urls[0] = line.url;
    line.accepting = event_new(rig.base, line.listener, EV_READ | EV_PERSIST, on_connection, NULL);
    event_add(line.accepting, NULL);
}

/* --- The rig --------------------------------------------------------------------------------------------------- */

static void open_rig(void)
{
    struct masters_options options = {.count = N, .tls = MASTERS_TLS};

    rig_start(&rig, &options);
    rig.options.backoff_min_ms = rig.options.backoff_max_ms = 1;
    lay_line();
}

static void close_rig(void)
{
    hang_up();
    redlock_client_destroy(rig.client);
    rig.client = NULL;
    event_free(line.accepting);
    close(line.listener);
    rig_close(&rig);
}

static bool has_failed_again(void *argument)
{
    return watch_node_stats(rig.client, 0).disconnects > *(const uint64_t *)argument;
}

static void wait_disconnect(uint64_t before)
{
    struct redlock_node_stats stats;

    rig_wait(&rig, has_failed_again, &before, "the connection to fail");
    stats = watch_node_stats(rig.client, 0);
    ck_assert_msg(stats.last_error[0] && !strstr(stats.last_error, "error 0"), "\"%s\"", stats.last_error);
}

/* The first master votes, and a lock is granted and given up; by how many is told. */
static unsigned expect_grant(const char *key)
{
    struct outcome outcome;

    rig_wait_vote(&rig, rig.client, 0);
    outcome = rig_expect_release(&rig, rig_hold(&rig, key, 60000), REDLOCK_OK);
    rig_wait_absent(&rig, key);
    return outcome.granted;
}

static void expect_all_grant(const char *key)
{
    ck_assert_uint_eq(expect_grant(key), N);
}

/* --- What comes is enough -------------------------------------------------------------------------------------- */

GROUP(cuts, "line", open_rig, close_rig)

TEST(cuts, records_may_come_byte_by_byte)
{
    line.slice = 1;
    rig.options.node_timeout_ms = 4000;
    rig.options.connect_timeout_ms = 20000;
    rig_connect(&rig);
    expect_all_grant("sliced");
    ck_assert_uint_eq(watch_node_stats(rig.client, 0).disconnects, 0);
}

/* --- What comes is cut ----------------------------------------------------------------------------------------- */

/* How many bytes come from an end until the master is ready: the handshake, what a client asks at first, and the
 * replies. */
static size_t bytes_until_ready(size_t from)
{
    rig_connect(&rig);
    rig_wait_quiet(&rig, rig.client);
    return line.passed[from];
}

/* The same of a further connection. */
static size_t bytes_of_reconnection(size_t from)
{
    uint64_t before = watch_node_stats(rig.client, 0).disconnects;

    hang_up();
    wait_disconnect(before);
    rig_wait_vote(&rig, rig.client, 0);
    rig_wait_quiet(&rig, rig.client);
    return line.passed[from];
}

/* In each direction: in the handshake at every few bytes, and at some places of what follows. */
TESTS(cuts, a_connection_that_breaks_at_any_byte_says_why_and_comes_back, CLIENT, SERVER + 1)
{
    size_t from = (size_t)_i;
    size_t total;

    rig.options.tls_no_resumption = 1;
    bytes_until_ready(from);
    total = bytes_of_reconnection(from);
    ck_assert_uint_gt(total, 600);
    for (size_t n = 0; n < total; n += n < 900 ? 11 : total / 20) {
        uint64_t before = watch_node_stats(rig.client, 0).disconnects;

        line.limits[from] = n;
        hang_up();
        wait_disconnect(before + 1);
    }
    line.limits[from] = UNLIMITED;
    expect_all_grant("after");
}

static void cut_acquisition(size_t from, size_t n)
{
    struct redlock_lock *lock = rig_new_lock(rig.client, "cut");
    struct redlock_acquire_options request = rig_request(60000, 20000);
    uint64_t before = watch_node_stats(rig.client, 0).disconnects;

    line.limits[from] = line.passed[from] + n;
    rig_expect_acquire(&rig, lock, &request, REDLOCK_OK);
    rig_expect_release(&rig, lock, REDLOCK_OK);
    redlock_lock_destroy(lock);
    wait_disconnect(before);
    line.limits[from] = UNLIMITED;
    rig_wait_absent(&rig, "cut");
    rig_wait_vote(&rig, rig.client, 0);
    rig_wait_quiet(&rig, rig.client);
}

/* The commands of an acquisition, or the replies, are lost from their n-th byte on. Whatever became of them, the two
 * others grant the lock, and nothing stays. */
TESTS(cuts, an_acquisition_that_breaks_at_any_byte_leaves_nothing, CLIENT, SERVER + 1)
{
    size_t from = (size_t)_i;
    size_t used = bytes_until_ready(from);

    rig_hold(&rig, "counted", 60000);
    rig_wait_quiet(&rig, rig.client);
    used = line.passed[from] - used;
    for (size_t n = 1; n < used; n += from == CLIENT ? 7 : 2)
        cut_acquisition(from, n);
    expect_all_grant("after");
}

TEST(cuts, a_handshake_that_falls_silent_ends_with_its_deadline)
{
    static const size_t places[] = {0, 1, 5, 60, 400};

    line.falls_silent = true;
    rig.options.connect_timeout_ms = 300;
    line.limits[SERVER] = places[0];
    ck_assert_int_eq(redlock_client_create(rig.base, rig.urls, N, &rig.options, &rig.client, NULL), 0);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        line.limits[SERVER] = places[i];
        wait_disconnect(watch_node_stats(rig.client, 0).disconnects + 1);
        ck_assert_ptr_nonnull(strstr(watch_node_stats(rig.client, 0).last_error, "securing the connection: timed out"));
    }
    line.limits[SERVER] = UNLIMITED;
    expect_all_grant("after");
}

/* Three bytes of a record are all that comes. A busy machine may answer later than this node_timeout. */
TEST(cuts, a_record_that_never_ends_is_a_stall)
{
    struct redlock_acquire_options request = rig_request(60000, 20000);
    uint64_t before;

    rig.options.node_timeout_ms = 100;
    rig.options.stall_timeout_ms = 300;
    rig_connect(&rig);
    rig_wait_quiet(&rig, rig.client);
    before = watch_node_stats(rig.client, 0).disconnects;
    line.falls_silent = true;
    line.limits[SERVER] = line.passed[SERVER] + 3;
    rig_expect_acquire(&rig, rig_new_lock(rig.client, "stalled"), &request, REDLOCK_OK);
    wait_disconnect(before);
    ck_assert_ptr_nonnull(strstr(watch_node_stats(rig.client, 0).last_error, "stalled"));
    line.limits[SERVER] = UNLIMITED;
    expect_grant("after");
}

/* --- Sessions -------------------------------------------------------------------------------------------------- */

/* Most of what the server sends is the certificate, which it does not send when a session is resumed. */
static void expect_resumption(bool resumed)
{
    size_t first = bytes_until_ready(SERVER);
    size_t second = bytes_of_reconnection(SERVER);

    ck_assert_msg((second + 400 < first) == resumed, "%zu and %zu bytes", first, second);
}

GROUP(sessions, "sessions", open_rig, close_rig)

TEST(sessions, a_session_is_resumed)
{
    expect_resumption(true);
}

TEST(sessions, a_session_of_1_2_is_resumed)
{
    rig_do_all(&rig, "CONFIG", "SET", "tls-protocols", "TLSv1.2", NULL);
    expect_resumption(true);
}

TEST(sessions, no_session_is_resumed_if_none_may_be)
{
    rig.options.tls_no_resumption = 1;
    expect_resumption(false);
}

/* The same certificate in another file: a client does not look into it, but asks anew. */
TEST(sessions, no_session_is_resumed_when_the_ca_has_changed)
{
    char command[300];
    size_t first = bytes_until_ready(SERVER);
    size_t second;

    snprintf(command, sizeof command, "cd %s && cp ca.crt next && mv next ca.crt", masters_dir(rig.masters));
    ck_assert_int_eq(system(command), 0);
    second = bytes_of_reconnection(SERVER);
    ck_assert_msg(second + 400 > first, "%zu and %zu bytes", first, second);
    ck_assert_uint_lt(bytes_of_reconnection(SERVER) + 400, first);
}

SUITE_WITH_SERVER("tls_wire")
