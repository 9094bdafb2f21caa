/* redlock nodes on real masters: every fault, what is said of it, and how it ends. The first master of three has
 * it, so that the others still vote. */
#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/nodes/advice.h"
#include "clock_fault.h"
#include "nodes_rig.h"
#include "relay/relays.h"

/* The master, and another one, without which there is no safe quorum. */
static void expect_unsafe(const char *command)
{
    ask_expect(masters, 1, command, "OK");
    run("nodes", 1);
    expect_out("no safe quorum: 1 of 3 masters vote (2 needed)");
}

GROUP(faults, "faults", setup, teardown)

TEST(faults, a_replica_is_excluded_and_told_how_to_be_none)
{
    declared();
    ask_expect(masters, 0, "REPLICAOF 127.0.0.1 1", "OK");
    expect_first("excluded", "a replica: its master overwrites");
    expect_out("REPLICAOF NO ONE\n");
    expect_out(" replica ");
    expect_unsafe("REPLICAOF 127.0.0.1 1");
    expect_out("That will not change until");
}

TEST(faults, an_evicting_master_is_excluded_until_the_command_is_run)
{
    declared();
    ask_expect(masters, 0, "CONFIG SET maxmemory 100mb", "OK");
    ask_expect(masters, 0, "CONFIG SET maxmemory-policy volatile-random", "OK");
    expect_first("excluded", "may evict locks: maxmemory is set");
    expect_out("volatile-random\n");
    expect_out("CONFIG SET maxmemory-policy noeviction\n");
    ask_expect(masters, 1, "CONFIG SET maxmemory-policy allkeys-lru", "OK");
    expect_unsafe("CONFIG SET maxmemory 100mb");
    ask_expect(masters, 0, "CONFIG SET maxmemory-policy noeviction", "OK");
    run("nodes", 0);
}

TEST(faults, another_quorum_is_another_ring_and_nothing_is_overwritten)
{
    char *before;

    declared();
    before = ask(masters, 0, "HGET redlock:marker inc");
    run("nodes --quorum 3", 1);
    expect_out("All 3 masters: marked by clients with other masters or another quorum.");
    expect_out("no safe quorum: 0 of 3 masters vote (3 needed)");
    run("nodes --quorum 3 --new-deployment --yes", 1);
    ck_assert_ptr_nonnull(strstr(tool.err, "not declared: "));
    ck_assert_ptr_nonnull(strstr(tool.err, "in use by a deployment with other masters"));
    ask_expect(masters, 0, "HGET redlock:marker inc", before);
    run("nodes --quorum 3 --new-deployment --yes --force", 0);
    free(before);
}

/* A lock may be had before the first master has been met. */
static void meet_first(void)
{
    char command[64];

    for (int i = 0; i < 1000; i++) {
        snprintf(command, sizeof command, "lock job%d --verbose --ttl 3s", i);
        run(command, 0);
        if (strstr(tool.err, "in quarantine, "))
            return;
    }
    ck_abort_msg("no lock has met the first master: %s", tool.err);
}

TEST(faults, a_master_that_restarted_empty_has_no_marker_and_then_waits)
{
    declared();
    ck_assert(masters_kill(masters, 0) && masters_restart(masters, 0));
    expect_first("no marker", "never met by a guarded client, or emptied since");
    ck_assert_ptr_null(strstr(tool.out, "--new-deployment")); /* the others vote */
    ck_assert_int_eq(ask_integer(masters, 0, "DBSIZE"), 0);
    meet_first();
    expect_first("quarantined", "new memory (restarted, emptied, replaced or first used)");
}

TEST(faults, a_user_without_rights_is_told_which)
{
    char url[512];

    ask_expect(masters, 0, "ACL SETUSER me on >secret ~* +@all -info", "OK");
    snprintf(url, sizeof url, "unix://me:secret@%s", masters_url(masters, 0) + strlen("unix://"));
    use(url);
    run("nodes --new-deployment --yes", 0);
    expect_first("excluded", "cannot be judged: the user lacks ");
    expect_out(" +info\n");
    ck_assert_ptr_null(strstr(tool.out, "'~*'"));
    ck_assert_ptr_null(strstr(tool.out, "secret"));
}

TEST(faults, a_wrong_password_is_named)
{
    char url[512];

    declared();
    snprintf(url, sizeof url, "unix://me:wrong@%s", masters_url(masters, 0) + strlen("unix://"));
    use(url);
    expect_first("refuses", "Give the right user and password, in its URL or by --user");
    ck_assert_ptr_null(strstr(tool.out, "me:wrong"));
}

TEST(faults, masters_that_are_down_or_silent_are_named_and_too_many_exit_with_3)
{
    declared();
    ck_assert(masters_kill(masters, 0));
    expect_first("down", "not reached: connect: ");
    expect_out(" PING\n");
    ck_assert(masters_hang(masters, 1));
    run("nodes --node-timeout 2s", 3);
    expect_out("unknown: only 1 of 3 masters answered (2 needed)");
}

/* The first master is 700 ms away from now on, there and back. */
static struct relays *move_away(void)
{
    const struct relay_toxics toxics = {.latency_us = 700000};
    const char *upstream = masters_url(masters, 0);
    char why[160];
    struct relays *relays = relays_create(&upstream, 1, masters_dir(masters), 1, why, sizeof why);

    ck_assert_msg(relays != NULL, "%s", why);
    ck_assert(relays_set(relays, 0, 0, RELAY_DOWNSTREAM, &toxics));
    use(relays_urls(relays)[0]);
    return relays;
}

/* A handshake takes two round trips, and 1.3 s are what it has; the time that is advised works. */
TEST(faults, a_slow_master_is_told_from_a_silent_one_with_a_time_that_is_enough)
{
    struct relays *relays = move_away();
    const char *command;
    char line[64] = "";

    run("nodes --new-deployment --yes --force", 0);
    expect_out("safe quorum: 3 of 3");
    tool_set_node_timeout("300ms");
    expect_first("slow", "slow: its handshake takes about ");
    command = strstr(tool.out, "redlock nodes --node-timeout ");
    ck_assert_ptr_nonnull(command);
    ck_assert_int_eq(sscanf(command, "redlock %63[^\n]", line), 1);
    run(line, 0);
    expect_out("safe quorum: 3 of 3");
    relays_destroy(relays);
    ck_assert(masters_hang(masters, 0));
    use(masters_url(masters, 0));
    run("nodes", 1);
    expect_out("not reached: handshake: no answer within ");
    expect_out("It takes connections and answers nothing");
}

/* The handshake has as long as any other answer: by default a second. */
TEST(faults, masters_that_answer_within_the_node_timeout_are_reached)
{
    struct tool looking;
    struct pollfd output;

    declared();
    for (size_t i = 0; i < N; i++)
        ck_assert(masters_hang(masters, i));
    tool_start(&looking, (const char *const[]){"nodes", "--node-timeout", "30s", NULL});
    output = (struct pollfd){.fd = looking.fds[0], .events = POLLIN};
    ck_assert_int_eq(poll(&output, 1, 1500), 0);
    for (size_t i = 0; i < N; i++)
        ck_assert(masters_resume(masters, i));
    tool_expect_end(&looking, 0);
}

TEST(faults, a_node_of_a_cluster_is_excluded)
{
    static const char *const cluster[] = {"--cluster-enabled", "yes", NULL};
    const struct masters_setup setups[N] = {{.extra_args = cluster}};
    const struct masters_options options = {.count = N, .tcp = true, .setups = setups};

    teardown();
    setup_with(&options);
    run("nodes --new-deployment --yes", 0);
    expect_first("excluded", "a node of a Redis Cluster");
    ask_serve_slots(masters, 0);
    while (!strstr(tool.out, " cluster "))
        run("nodes", 0);
    expect_first("excluded", "a node of a Redis Cluster");
}

TEST(faults, a_clock_that_is_behind_is_noted)
{
    struct clock_fault *fault = clock_fault_create();
    const struct masters_setup setups[N] = {{.environment = clock_fault_environment(fault)}};
    const struct masters_options options = {.count = N, .setups = setups};

    clock_fault_step_ms(fault, -90000);
    teardown();
    setup_with(&options);
    declared();
    expect_out(" -90 s ");
    expect_out("clock 90.0 s behind this machine's");
    clock_fault_destroy(fault);
}

/* Its quarantine would not end. One that only runs slow by a tenth votes. */
TEST(faults, a_clock_that_stands_still_is_excluded_at_a_single_look)
{
    struct clock_fault *fault = clock_fault_create();
    const struct masters_setup setups[N] = {{.environment = clock_fault_environment(fault)}};
    const struct masters_options options = {.count = N, .setups = setups};

    teardown();
    setup_with(&options);
    declared();
    clock_fault_drift_ppm(fault, -100000);
    run("nodes", 0);
    expect_out("safe quorum: 3 of 3");
    clock_fault_drift_ppm(fault, -1000000);
    expect_first("excluded", "its clock stands still");
    expect_out("Restart the server");
    run("nodes --json", 0);
    expect_out("\"fault\":\"clock-slow\",\"quarantine_ms\":0,");
    clock_fault_drift_ppm(fault, 0);
    run("nodes", 0);
    expect_out("safe quorum: 3 of 3");
    clock_fault_destroy(fault);
}

TEST(faults, what_is_not_durable_is_a_note_and_what_is_is_none)
{
    declared();
    expect_out("note: All 3 masters: not durable");
    for (size_t i = 0; i < N; i++) {
        ask_expect(masters, i, "CONFIG SET appendonly yes", "OK");
        ask_expect(masters, i, "CONFIG SET appendfsync always", "OK");
    }
    run("nodes", 0);
    expect_out(" always ");
    ck_assert_ptr_null(strstr(tool.out, "note:"));
}

/* --- Masters that say no ------------------------------------------------------------------------------------------ */

static void all(const char *command)
{
    for (size_t i = 0; i < N; i++)
        ask_expect(masters, i, command, "OK");
}

static const struct {
    const char *refuse, *allow, *meaning, *command;
} writes[] = {
    {"CONFIG SET maxmemory 1mb", "CONFIG SET maxmemory 0", "its memory is full: it takes no new lock",
     " INFO memory\n"},
    {"CONFIG SET min-replicas-to-write 1", "CONFIG SET min-replicas-to-write 0", "it takes no writes without replicas",
     " CONFIG SET min-replicas-to-write 0\n"},
};

TESTS(faults, masters_that_refuse_writes_do_not_vote_and_are_no_safe_quorum, 0, 2)
{
    declared();
    ask_expect(masters, 0, writes[_i].refuse, "OK");
    expect_first("refuses", writes[_i].meaning);
    expect_out(writes[_i].command);
    all(writes[_i].refuse);
    run("nodes", 1);
    expect_out("no safe quorum: 0 of 3 masters vote (2 needed)");
    run("nodes --json", 1);
    expect_out("\"standing\":\"refuses\"");
    run("lock job", 3);
    all(writes[_i].allow);
    run("nodes", 0);
}

/* An answer to each command: those begin with '*' on a line of its own. */
static bool say(int fd, const char *answer, const char *commands, ssize_t size)
{
    for (ssize_t i = 0; i < size; i++)
        if (commands[i] == '*' && (i == 0 || commands[i - 1] == '\n') && write(fd, answer, strlen(answer)) < 0)
            return false;
    return true;
}

/* A server that answers whatever comes with this, NULL: that ends each connection. Its process ends with the test. */
static int start_server_that_says(const char *answer)
{
    ssize_t got;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char buffer[4096];

    ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(listen(listener, 16), 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    if (fork() == 0)
        for (;;) {
            int fd = accept(listener, NULL, NULL);

            if (!answer)
                close(fd);
            else if (fork() == 0)
                while ((got = read(fd, buffer, sizeof buffer)) > 0 && say(fd, answer, buffer, got))
                    continue;
        }
    close(listener);
    return ntohs(address.sin_port);
}

static const struct {
    const char *says, *standing, *meaning, *mend;
} refusals[] = {
    {"-DENIED Redis is running in protected mode because it is enabled\r\n", "refuses", "protected mode: it takes",
     "Give its user a password"},
    {"-MASTERDOWN Link with MASTER is down\r\n", "refuses", "a replica without its master", " REPLICAOF NO ONE\n"},
    {"-LOADING Redis is loading the dataset in memory\r\n", "refuses", "it is still reading its data", "Wait"},
    {"-BUSY Redis is busy running a script\r\n", "refuses", "a script or function of another", " SCRIPT KILL\n"},
    {"-MISCONF Redis is configured to save RDB snapshots\r\n", "refuses", "it cannot write its data to its disk",
     " INFO persistence\n"},
    {"-ERR max number of clients reached\r\n", "refuses", "all of its connections are taken", "raise maxclients"},
    {"-NOAUTH Authentication required.\r\n", "refuses", "it wants a password", "Give the right user and password"},
    {"-ERR DB index is out of range\r\n", "refuses", "it has no database of that number", "another number"},
    {"-ERR nobody knows\r\n", "refuses", "it answers with an error. It says: ERR nobody knows.", "its log"},
    {"HTTP/1.1 400 Bad Request\r\n\r\n", "down", "not reached: protocol: ", "is no Redis and no Valkey"},
    {NULL, "down", "not reached: ", "ends the connection without a word"},
};

enum { REFUSALS = sizeof refusals / sizeof refusals[0] };

TESTS(faults, a_server_that_says_no_is_not_down_and_each_word_has_its_cure, 0, REFUSALS)
{
    char url[64];

    snprintf(url, sizeof url, "127.0.0.1:%d", start_server_that_says(refusals[_i].says));
    use(url);
    run("nodes --new-deployment --yes", 0);
    expect_first(refusals[_i].standing, refusals[_i].meaning);
    expect_out(refusals[_i].mend);
    ck_assert_ptr_null(strstr(tool.out, "start it, or open the way to it"));
}

TEST(faults, the_look_at_a_silent_master_ends_before_the_others_are_looked_at_again)
{
    char url[64];

    snprintf(url, sizeof url, "127.0.0.1:%d", start_server_that_says(""));
    use(url);
    run("nodes --new-deployment --yes", 0);
    expect_out("safe quorum: 2 of 3 masters vote (2 needed)");
}

TEST(faults, a_master_that_is_paused_for_writes_does_not_vote)
{
    if (!suite_server_is(6, 2))
        return;
    declared();
    ask_expect(masters, 0, "CLIENT PAUSE 600000 WRITE", "OK");
    tool_set_node_timeout("1s");
    expect_first("refuses", "it answers, but not to a write");
    expect_out(" CLIENT UNPAUSE\n");
    ask_expect(masters, 0, "CLIENT UNPAUSE", "OK");
    run("nodes", 0);
    expect_out("safe quorum: 3 of 3");
}

TEST(faults, a_memory_that_is_nearly_full_is_noted_before_it_is_full)
{
    char command[80];
    char *info;

    declared();
    info = masters_command(masters, 0, (const char *const[]){"INFO", "memory", NULL});
    ck_assert_ptr_nonnull(strstr(info, "used_memory:"));
    snprintf(command, sizeof command, "CONFIG SET maxmemory %lld",
             strtoll(strstr(info, "used_memory:") + strlen("used_memory:"), NULL, 10) * 107 / 100);
    free(info);
    ask_expect(masters, 0, command, "OK");
    run("nodes", 0);
    expect_out("its memory is full to 9");
    expect_out(" INFO memory\n");
    expect_out("safe quorum: 3 of 3");
}

/* A connection of the test's own, when it is the only one to this master. */
static redisContext *take_connection(size_t i)
{
    const char *path = strchr(masters_url(masters, i), '/');
    redisContext *connection = redisConnectUnix(path);
    bool alone = false;

    ck_assert_msg(connection && !connection->err, "%s", path);
    while (!alone) {
        redisReply *reply = redisCommand(connection, "INFO clients");

        ck_assert(reply && reply->type == REDIS_REPLY_STRING);
        alone = strstr(reply->str, "connected_clients:1\r\n") != NULL;
        freeReplyObject(reply);
    }
    return connection;
}

/* The command's client gets the second of two connections, and no look beside it a third one. */
TEST(faults, a_master_that_has_room_for_few_connections_is_noted)
{
    redisContext *connection;

    declared();
    ask_expect(masters, 0, "CONFIG SET maxclients 2", "OK");
    connection = take_connection(0);
    run("nodes", 0);
    expect_out("has one connection, and a second one while it waits");
    expect_out("safe quorum: 3 of 3");
    redisFree(connection);
}

TEST(faults, a_long_answer_is_cut_behind_a_word)
{
    char answer[1024] = "-ERR", url[64];

    while (strlen(answer) < 900)
        strcat(answer, " wordy");
    strcat(answer, "\r\n");
    snprintf(url, sizeof url, "127.0.0.1:%d", start_server_that_says(answer));
    use(url);
    run("nodes", 1);
    expect_out(" wordy...");
}

TEST(faults, a_port_without_tls_is_told_from_one_that_is_down)
{
    char url[64];

    snprintf(url, sizeof url, "rediss://127.0.0.1:%d", start_server_that_says("+PONG\r\n"));
    use(url);
    run("nodes", 1);
    expect_out("it speaks no TLS at this port, and its URL begins with rediss://");
    ck_assert_ptr_null(strstr(tool.out, "redis-cli"));
}

int main(int argc, char **argv)
{
    setenv("LC_ALL", "C", 1);
    return tool_run_suite(argc, argv, suite_collect("faults"));
}
