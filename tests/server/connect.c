/* Ways to reach a master. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "program_rig.h"

static const char *socket_path(size_t node)
{
    return masters_url(rig.masters, node) + strlen("unix://");
}

/* A lock is taken and given back: the connections carry commands. */
static void expect_locking_works(void)
{
    struct outcome outcome;

    rig_connect(&rig);
    outcome = rig_expect_release(&rig, rig_hold(&rig, "connected", 20000), REDLOCK_OK);
    ck_assert_uint_eq(outcome.granted, rig.n);
}

static void start_tcp(const char *const *extra_args)
{
    struct masters_options options = {.count = 3, .tcp = true, .extra_args = extra_args};

    memset(&rig, 0, sizeof rig);
    rig.n = 3;
    rig.masters = masters_create(&options);
    ck_assert_msg(rig.masters != NULL, "%s", masters_error());
    ck_assert(masters_cleanup_on_exit(rig.masters));
    rig.base = event_base_new();
    rig_default_options(&rig);
    memcpy(rig.urls, masters_urls(rig.masters), 3 * sizeof *rig.urls);
}

GROUP(ways, "ways", NULL, rig_end)

TEST(ways, unix_sockets)
{
    rig_start_masters(&rig, 3, NULL);
    expect_locking_works();
}

TEST(ways, tcp_by_address)
{
    start_tcp(NULL);
    expect_locking_works();
}

static char url_texts[3][256];

static void use_tcp_urls(const char *host)
{
    for (size_t i = 0; i < 3; i++) {
        const char *port = strrchr(masters_url(rig.masters, i), ':') + 1;

        snprintf(url_texts[i], sizeof url_texts[i], "redis://%s:%s", host, port);
        rig.urls[i] = url_texts[i];
    }
}

TEST_IF(suite_resolves_localhost(), ways, tcp_by_host_name)
{
    start_tcp(NULL);
    use_tcp_urls("localhost");
    expect_locking_works();
}

static bool has_ipv6_loopback(void)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    bool works = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0;

    if (fd >= 0)
        close(fd);
    return works;
}

TEST(ways, tcp_by_ipv6_address)
{
    static const char *const both[] = {"--bind", "127.0.0.1", "::1", NULL};

    if (!has_ipv6_loopback())
        return;
    start_tcp(both);
    use_tcp_urls("[::1]");
    expect_locking_works();
    for (size_t i = 0; i < 3; i++) {
        struct redlock_node_stats stats;

        ck_assert_int_eq(redlock_client_node_stats(rig.client, i, &stats, sizeof stats), 0);
        ck_assert_msg(strncmp(stats.name, "[::1]:", 6) == 0, "%s", stats.name);
    }
}

TEST(ways, user_and_password)
{
    rig_start_masters(&rig, 3, NULL);
    for (size_t i = 0; i < 3; i++) {
        rig_do(&rig, i, "ACL", "SETUSER", "locker", "on", ">p@ss/w rd", "~*", "+@all", NULL);
        snprintf(url_texts[i], sizeof url_texts[i], "unix://locker:p%%40ss%%2Fw%%20rd@%s", socket_path(i));
        rig.urls[i] = url_texts[i];
    }
    expect_locking_works();
    for (size_t i = 0; i < 3; i++) {
        char *list = masters_command(rig.masters, i, (const char *const[]){"CLIENT", "LIST", NULL});

        ck_assert_ptr_nonnull(strstr(list, "user=locker"));
        ck_assert_ptr_nonnull(strstr(list, "name=libredlock"));
        free(list);
    }
}

TEST(ways, password_alone)
{
    rig_start_masters(&rig, 3, NULL);
    for (size_t i = 0; i < 3; i++) {
        rig_do(&rig, i, "CONFIG", "SET", "requirepass", "secret", NULL);
        snprintf(url_texts[i], sizeof url_texts[i], "unix://:secret@%s", socket_path(i));
        rig.urls[i] = url_texts[i];
    }
    expect_locking_works();
}

static bool all_have_failed(void *argument)
{
    struct redlock_node_stats stats;

    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(redlock_client_node_stats(rig.client, i, &stats, sizeof stats), 0);
        if (stats.disconnects == 0)
            return false;
    }
    return true;
}

TEST(ways, a_wrong_password_is_an_error_that_does_not_show_it)
{
    struct redlock_error error = {0};

    rig_start_masters(&rig, 3, NULL);
    for (size_t i = 0; i < 3; i++) {
        rig_do(&rig, i, "CONFIG", "SET", "requirepass", "secret", NULL);
        snprintf(url_texts[i], sizeof url_texts[i], "unix://:wrong-guess@%s", socket_path(i));
        rig.urls[i] = url_texts[i];
    }
    ck_assert_int_eq(redlock_client_create(rig.base, rig.urls, 3, &rig.options, &rig.client, &error), 0);
    rig_wait(&rig, all_have_failed, NULL, "the connections to be refused");
    for (size_t i = 0; i < 3; i++) {
        struct redlock_node_stats stats;

        redlock_client_node_stats(rig.client, i, &stats, sizeof stats);
        ck_assert_msg(strstr(stats.last_error, "WRONGPASS") != NULL, "%s", stats.last_error);
        ck_assert_ptr_null(strstr(stats.last_error, "wrong-guess"));
        ck_assert_ptr_null(strstr(stats.name, "wrong-guess"));
    }
}

TEST(ways, a_missing_password_is_no_vote)
{
    struct redlock_acquire_options request = rig_request(20000, 0);
    struct redlock_error error = {0};
    struct redlock_lock *lock;
    struct outcome outcome;

    rig_start_masters(&rig, 3, NULL);
    rig_do_all(&rig, "CONFIG", "SET", "requirepass", "secret", NULL);
    ck_assert_int_eq(redlock_client_create(rig.base, rig.urls, 3, &rig.options, &rig.client, &error), 0);
    lock = rig_new_lock(rig.client, "noauth");
    outcome = rig_expect_acquire(&rig, lock, &request, REDLOCK_NO_QUORUM);
    ck_assert_uint_eq(outcome_count_votes(&outcome, REDLOCK_VOTE_FAILED), 3);
}

TEST(ways, the_database_number_is_honoured)
{
    rig_start_masters(&rig, 3, NULL);
    for (size_t i = 0; i < 3; i++) {
        snprintf(url_texts[i], sizeof url_texts[i], "%s?db=5", masters_url(rig.masters, i));
        rig.urls[i] = url_texts[i];
    }
    rig_connect(&rig);
    rig_hold(&rig, "db", 20000);
    for (size_t i = 0; i < 3; i++) {
        char *found;

        ck_assert_uint_eq(masters_count_key(rig.masters, "db"), 0);
        found = masters_command(rig.masters, i, (const char *const[]){"INFO", "keyspace", NULL});
        ck_assert_ptr_nonnull(strstr(found, rig.guarded ? "db5:keys=2," : "db5:keys=1,")); /* with the marker */
        ck_assert_ptr_null(strstr(found, "db0:"));
        free(found);
    }
}

SUITE_WITH_SERVER("connect")
