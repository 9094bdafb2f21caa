/* Names are resolved off the loop, each address is tried, and nobody waits for a resolver that does not answer. */
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "driver/resolver.h"
#include "rig.h"

/* For LeakSanitizer: a lookup may be under way when the process ends, and what the C library has allocated for its
 * thread then looks like a leak. */
const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
    return "leak:res_context_send\n";
}

static void setup(void);

GROUP(driver, "driver", setup, rig_teardown)

TEST_IF(suite_resolves_localhost(), driver, a_name_is_resolved_and_every_address_is_tried)
{
    struct fake_server *server = fake_server_create(rig.base, FAKE_TCP4, 16);
    char url[200];

    snprintf(url, sizeof url, "redis://localhost%s", strrchr(server->url, ':'));
    rig.servers[0] = server;
    rig_add_url(url);
    rig_start_ready();
    ck_assert_uint_eq(server->accepted, 1);
    ck_assert(!rig.driver->nodes[0]->conn.looking_up);
}

/* --- A name with a dead address ----------------------------------------------------------------------------------- */

#define TWO_ADDRESSES "two.test"

/* Stands in for the C library's: this name has the addresses 127.0.0.2 and 127.0.0.1. */
int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **ret_info)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    struct addrinfo *last;
    int error;

    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    if (strcmp(host, TWO_ADDRESSES) != 0)
        return real(host, service, hints, ret_info);
    if (hints->ai_flags & AI_NUMERICHOST)
        return EAI_NONAME;
    error = real("127.0.0.2", service, hints, ret_info);
    for (last = *ret_info; !error && last->ai_next;)
        last = last->ai_next;
    return error ? error : real("127.0.0.1", service, hints, &last->ai_next);
}

static int listen_at(in_addr_t host, uint16_t port, int backlog)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(host)}, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(listen(fd, backlog), 0);
    return fd;
}

/* One connection fills the queue of a listener that accepts nothing; the kernel drops the next one's SYN. */
static void go_dead(in_addr_t host, uint16_t port, int ret_fds[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(host)}, .sin_port = htons(port)};

    ret_fds[0] = listen_at(host, port, 0);
    ret_fds[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(connect(ret_fds[1], (struct sockaddr *)&address, sizeof address), 0);
}

static void close_both(const int fds[2])
{
    close(fds[0]);
    close(fds[1]);
}

/* The server is at the second address. */
static struct fake_server *add_two_addresses(int ret_dead[2])
{
    struct fake_server *server = fake_server_create(rig.base, FAKE_TCP4, 16);
    uint16_t port = (uint16_t)atoi(strrchr(server->url, ':') + 1);
    char url[64];

    snprintf(url, sizeof url, "redis://" TWO_ADDRESSES ":%u", port);
    rig.servers[0] = server;
    go_dead(INADDR_LOOPBACK + 1, port, ret_dead);
    rig_add_url(url);
    return server;
}

/* An equal share of the time for connecting would be half a minute. */
TEST(driver, the_second_address_is_tried_soon_when_the_first_one_is_dead)
{
    struct rl_instant began = rl_clock_now(&rig.clock);
    int dead[2];

    add_two_addresses(dead);
    rig.config.connect_timeout = rl_ms(60000);
    rig_start_ready();
    ck_assert_int_lt(rl_until(began, rl_clock_now(&rig.clock)).ns, rl_ms(10000).ns);
    close_both(dead);
}

/* For masters that are far away. */
TEST(driver, an_address_is_tried_for_twice_as_long_after_a_failure)
{
    const struct rl_conn *conn;
    int dead[2];

    add_two_addresses(dead)->rules.ping = "+WHAT\r\n";
    rig.config.connect_timeout = rl_ms(5000);
    rig_start();
    conn = &rig.driver->nodes[0]->conn;
    for (unsigned failures = 0; failures < 2; failures++) {
        while (conn->backoff.failures != failures || conn->state != RL_CONN_CONNECTING)
            rig_turn();
        ck_assert_uint_eq(conn->next_address, 1);
        ck_assert_int_ge(rl_until(conn->began, conn->step.at).ns, rl_ms(250 << failures).ns);
        ck_assert_int_lt(rl_until(conn->began, conn->step.at).ns, rl_ms(2400).ns);
    }
    close_both(dead);
}

/* RFC 6761: .invalid never exists. Without a working resolver the attempt ends by its deadline instead. */
TEST(driver, a_name_that_does_not_exist_is_reported)
{
    rig_add_url("redis://name.invalid");
    rig.config.connect_timeout = rl_ms(2000);
    rig_start();
    rig_until_link(0, RL_LINK_DOWN);
    ck_assert_msg(strncmp(rig.links[0].why, "resolving the name: ", 20) == 0, "%s", rig.links[0].why);
}

TEST(driver, an_attempt_that_ended_leaves_at_most_one_lookup_behind)
{
    struct rl_conn *conn;

    rig_add_url("redis://name.invalid");
    rig.config.connect_timeout = rl_ms(1);
    rig_start();
    conn = &rig.driver->nodes[0]->conn;
    while (rig_stats(0).disconnects < 5 || conn->looking_up)
        rig_turn();
    ck_assert_str_eq(rig.links[0].path, "DOWN ");
}

TEST(driver, destroying_with_a_lookup_under_way_waits_for_nobody)
{
    rig_add_url("redis://name.invalid");
    rig_add_url("redis://localhost:1");
    rig_start();
    event_base_loop(rig.base, EVLOOP_NONBLOCK);
    event_base_loop(rig.base, EVLOOP_NONBLOCK);
}

static unsigned n_resolved;
static bool found;

static void on_resolved(void *ctx, const struct rl_addresses *addresses, const char *why)
{
    n_resolved++;
    found = addresses && addresses->count;
    ck_assert_ptr_eq(ctx, &n_resolved);
}

static void setup(void);

GROUP(resolver_tests, "resolver", setup, rig_teardown)

TEST_IF(suite_resolves_localhost(), resolver_tests, lookups_of_one_resolver_run_side_by_side)
{
    struct rl_resolver *resolver = rl_resolver_create(rig.base);

    ck_assert_ptr_nonnull(resolver);
    for (int i = 0; i < 20; i++)
        ck_assert(rl_resolver_start(resolver, "localhost", 1, on_resolved, &n_resolved));
    while (n_resolved < 20)
        rig_turn();
    ck_assert(found);
    rl_resolver_destroy(resolver, false);
}

/* Threads that nobody joins: what they share with the resolver is freed by whoever is last, in either order. */
TEST(resolver_tests, resolvers_may_be_destroyed_at_any_moment_of_a_lookup)
{
    for (int i = 0; i < 100; i++) {
        struct rl_resolver *resolver = rl_resolver_create(rig.base);

        ck_assert_ptr_nonnull(resolver);
        ck_assert(rl_resolver_start(resolver, "localhost", 1, on_resolved, &n_resolved));
        for (int j = 0; j < i % 5; j++)
            event_base_loop(rig.base, EVLOOP_NONBLOCK);
        rl_resolver_destroy(resolver, false);
    }
}

TEST(resolver_tests, the_programs_signal_mask_is_left_alone)
{
    struct rl_resolver *resolver = rl_resolver_create(rig.base);
    sigset_t before;
    sigset_t after;

    sigemptyset(&before);
    sigaddset(&before, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &before, NULL);
    ck_assert(rl_resolver_start(resolver, "localhost", 1, on_resolved, &n_resolved));
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    ck_assert(sigismember(&after, SIGUSR1));
    ck_assert(!sigismember(&after, SIGUSR2));
    while (!n_resolved)
        rig_turn();
    rl_resolver_destroy(resolver, false);
}

static void setup(void)
{
    rig_setup();
    n_resolved = 0;
    found = false;
}

SUITE("names")
