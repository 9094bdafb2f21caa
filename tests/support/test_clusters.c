/* Servers of another system, the one that $REDLOCK_TEST_SYSTEM names: they find each other, one of them leads, and
 * they go through what is done to them. */
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "masters.h"
#include "suite.h"

#define PATIENCE_MS (SUITE_PATIENCE_S * 1000)

static enum masters_system system_under_test;
static bool is_known;
static struct masters *masters;

/* Comes before the tests are added: some are only for some systems. */
__attribute__((constructor)) static void find_system(void)
{
    const char *name = getenv("REDLOCK_TEST_SYSTEM");

    while (name && !is_known && system_under_test < MASTERS_SYSTEMS) {
        is_known = strcmp(masters_system_name(system_under_test), name) == 0;
        system_under_test += !is_known;
    }
}

static void start_relayed(bool relayed)
{
    struct masters_options options = {.system = system_under_test, .relayed = relayed};

    masters = masters_create(&options);
    ck_assert_msg(masters, "%s", masters_error());
    ck_assert_msg(masters_cleanup_on_exit(masters), "%s", masters_error());
}

static void start(void)
{
    start_relayed(false);
}

static void stop(void)
{
    masters_destroy(masters);
    masters = NULL;
}

GROUP(lives, "lives", start, stop)
GROUP(parts, "parts", NULL, stop)

#define DO(call) ck_assert_msg(call, "%s", masters_error())

/* The leader once there is one that is not `other`. */
static size_t wait_for_leader(size_t other)
{
    size_t leader = MASTERS_MAX;

    for (int waited = 0; waited < PATIENCE_MS; waited += 20) {
        leader = masters_leader(masters);
        if (leader != MASTERS_MAX && leader != other)
            return leader;
        usleep(20000);
    }
    ck_abort_msg("nobody but %zu leads after %d s: %s", other, SUITE_PATIENCE_S, masters_error());
    return leader;
}

static bool is_alone(void)
{
    return masters_count(masters) == 1;
}

TEST(lives, the_members_serve_under_one_leader)
{
    char version[64] = "";
    size_t leader = wait_for_leader(MASTERS_MAX);

    DO(masters_server_version(masters, leader, version, sizeof version));
    ck_assert_msg(strpbrk(version, "0123456789"), "the version is \"%s\"", version);
    DO(masters_wait_until_serving(masters, PATIENCE_MS));
    for (size_t i = 0; masters_entries(masters)[i]; i++)
        ck_assert_msg(strstr(masters_entries(masters)[i], "127.0.0.1:"), "%s", masters_entries(masters)[i]);
}

static const struct {
    bool (*begin)(struct masters *masters, size_t member);
    bool (*end)(struct masters *masters, size_t member);
} faults[] = {
    {masters_kill, masters_restart},
    {masters_hang, masters_resume},
};
#define N_FAULTS 2

TESTS(lives, another_member_leads_when_the_leader_fails, 0, N_FAULTS)
{
    size_t leader = wait_for_leader(MASTERS_MAX);

    DO(faults[_i].begin(masters, leader));
    if (is_alone())
        ck_assert_uint_eq(masters_leader(masters), MASTERS_MAX);
    else
        wait_for_leader(leader);
    DO(faults[_i].end(masters, leader));
    DO(masters_wait_until_serving(masters, PATIENCE_MS));
}

static bool has_members_to_part(void)
{
    return system_under_test != MASTERS_POSTGRES && system_under_test != MASTERS_MARIADB &&
           masters_can_part(system_under_test);
}

/* Where they do not, a client's name says nothing. */
static bool members_meet(void)
{
    return system_under_test == MASTERS_SENTINEL || system_under_test == MASTERS_ETCD;
}

/* The others go on, and it comes back to them. */
TEST_IF(has_members_to_part(), parts, another_member_leads_when_the_leader_is_cut_off)
{
    size_t leader;

    start_relayed(true);
    leader = wait_for_leader(MASTERS_MAX);
    DO(masters_part(masters, leader, true));
    wait_for_leader(leader);
    DO(masters_part(masters, leader, false));
    DO(masters_wait_until_serving(masters, PATIENCE_MS));
}

/* To what clients are told of: a connection, and a question that is answered at once. */
static int ask(const char *entry)
{
    static const struct {
        const char *text;
        size_t size;
    } questions[] = {
        [MASTERS_REDIS] = {"PING\r\n", 6},
        [MASTERS_SENTINEL] = {"PING\r\n", 6},
        [MASTERS_ETCD] = {"GET /health HTTP/1.0\r\n\r\n", 24},
        [MASTERS_ZOOKEEPER] = {"srvr", 4},
        [MASTERS_POSTGRES] = {"\0\0\0\x08\x04\xd2\x16\x2f", 8}, /* whether it speaks TLS */
        [MASTERS_MARIADB] = {"", 0},                             /* it speaks first */
    };
    struct sockaddr_in address = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((uint16_t)atoi(strrchr(entry, ':') + 1));
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(send(fd, questions[system_under_test].text, questions[system_under_test].size, MSG_NOSIGNAL),
                     (ssize_t)questions[system_under_test].size);
    return fd;
}

static bool is_answered(int fd, int timeout_ms)
{
    struct pollfd answer = {.fd = fd, .events = POLLIN};
    char byte;

    return poll(&answer, 1, timeout_ms) == 1 && recv(fd, &byte, 1, 0) == 1;
}

/* Also from members that cannot be parted themselves: by the addresses that it is told, or by its name. */
TESTS(parts, a_client_is_cut_off_from_all_members, 0, members_meet() ? 2 : 1)
{
    const char *const *entries;
    int other, fd;

    start_relayed(true);
    entries = _i ? masters_entries(masters) : masters_apart_entries(masters);
    other = ask(masters_entries(masters)[0]);
    ck_assert(is_answered(other, PATIENCE_MS));
    close(other);
    if (_i)
        DO(masters_part_client(masters, getpid()));
    fd = ask(entries[0]);
    ck_assert(is_answered(fd, PATIENCE_MS));
    close(fd);
    DO(masters_part_clients(masters, true));
    fd = ask(entries[0]);
    ck_assert(!is_answered(fd, 200));
    if (!_i) {
        other = ask(masters_entries(masters)[0]);
        ck_assert(is_answered(other, PATIENCE_MS));
        close(other);
    }
    DO(masters_part_clients(masters, false));
    ck_assert(is_answered(fd, PATIENCE_MS));
    close(fd);
    ck_assert(masters_part(masters, 0, false) == masters_can_part(system_under_test));
}

TEST(parts, an_answer_is_late_by_the_delay_each_way)
{
    struct masters_options options = {.system = system_under_test, .relayed = true, .delay_us = 20000};
    int fd;

    masters = masters_create(&options);
    ck_assert_msg(masters, "%s", masters_error());
    fd = ask(masters_entries(masters)[0]);
    ck_assert(!is_answered(fd, system_under_test == MASTERS_MARIADB ? 15 : 30));
    ck_assert(is_answered(fd, PATIENCE_MS));
    close(fd);
}

TEST(lives, members_without_relays_cannot_be_cut_off)
{
    ck_assert(!masters_part(masters, 0, true));
    ck_assert_str_eq(masters_error(), "the members are not relayed");
}

TEST(lives, a_member_that_has_lost_its_memory_serves_again)
{
    size_t leader = wait_for_leader(MASTERS_MAX);
    size_t follower = is_alone() ? leader : (leader + 1) % 3;

    DO(masters_kill(masters, follower));
    DO(masters_wipe(masters, follower));
    DO(masters_restart(masters, follower));
    DO(masters_wait_until_serving(masters, PATIENCE_MS));
}

int main(void)
{
    if (!is_known) {
        fprintf(stderr, "REDLOCK_TEST_SYSTEM names none of the systems\n");
        return EXIT_FAILURE;
    }
    if (!masters_is_installed(system_under_test))
        return suite_skip(suite_collect("clusters"), masters_error());
    return suite_run(suite_collect("clusters"));
}
