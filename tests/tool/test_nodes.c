/* redlock nodes: the look, the declaration of a new deployment, and what the other commands make of it. */
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "nodes_rig.h"

/* --- The look ----------------------------------------------------------------------------------------------------- */

GROUP(looks, "looks", setup, teardown)

TEST(looks, a_look_at_a_new_deployment_writes_nothing_and_exits_with_1)
{
    run("nodes", 1);
    expect_out("All 3 masters: no marker");
    expect_out("redlock nodes --new-deployment");
    expect_out("Enough of them will max_ttl + 1 s after a client has met them.");
    for (size_t i = 0; i < N; i++)
        ck_assert_int_eq(ask_integer(masters, i, "DBSIZE"), 0);
}

/* Whoever tried to lock first and looks then is told the same way out. */
TEST(looks, a_new_deployment_that_a_client_has_met_may_be_declared_too)
{
    run("lock job --wait 0", 3);
    run("nodes", 1);
    expect_out("All 3 masters: new memory");
    expect_out("redlock nodes --new-deployment");
    run("nodes --new-deployment --yes", 0);
    run("lock job --wait 0", 0);
}

/* Commands are for copying: they stay in one piece. */
TEST(looks, nothing_but_commands_is_wider_than_80_columns)
{
    declared();
    ask_expect(masters, 0, "CONFIG SET maxmemory 100mb", "OK");
    ask_expect(masters, 0, "CONFIG SET maxmemory-policy volatile-random", "OK");
    ask_expect(masters, 1, "REPLICAOF 127.0.0.1 1", "OK");
    ck_assert(masters_kill(masters, 2));
    run("nodes", 1);
    for (const char *line = tool.out; *line != '\0'; line += strcspn(line, "\n") + 1)
        ck_assert_msg(strcspn(line, "\n") <= 80 || strncmp(line, "        redis-cli ", 18) == 0, "%.*s",
                      (int)strcspn(line, "\n"), line);
}

TEST(looks, json_is_one_line_with_verdict_and_advice)
{
    run("nodes --json", 1);
    ck_assert_ptr_eq(strchr(tool.out, '\n'), tool.out + strlen(tool.out) - 1);
    expect_out("{\"schema\":1,\"verdict\":\"unsafe\",\"quorum\":2,\"answering\":3,\"voting\":0,\"quorum_in_ms\":null,");
    expect_out("\"fault\":\"no-marker\"");
    expect_out("\"command\":\"redlock nodes --new-deployment --node-timeout 5s\"");
    run("nodes --json --new-deployment --yes", 0);
    expect_out("{\"schema\":1,\"verdict\":\"safe\",\"quorum\":2,\"answering\":3,\"voting\":3,\"quorum_in_ms\":0,");
}

/* A label of a name has 63 characters at most, so that no server of names is asked. */
TEST(looks, a_name_that_is_unknown_is_to_be_corrected)
{
    static const char label[] = "an-unknown-name-an-unknown-name-an-unknown-name-an-unknown-name-an-unknown-name";
    char line[320];

    snprintf(line, sizeof line, "nodes --nodes %s:1,%s:2,%s:3", label, label, label);
    run(line, 3);
    expect_out("Correct the name");
    ck_assert_ptr_null(strstr(tool.out, "PONG"));
}

static bool write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");

    return file && fputs(text, file) >= 0 && fclose(file) == 0;
}

/* Whoever asks for a name from now on asks a server that says nothing. False: that may not be done. */
static bool silence_the_name_server(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(53), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    char path[256], map[64];
    int server;

    snprintf(map, sizeof map, "0 %ld 1", (long)getuid());
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS) != 0 || !write_text("/proc/self/uid_map", map) ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return false;
    snprintf(path, sizeof path, "%s/resolv.conf", masters_dir(masters));
    server = socket(AF_INET, SOCK_DGRAM, 0);
    return write_text(path, "nameserver 127.0.0.1\noptions timeout:30 attempts:5\n") &&
           ioctl(server, SIOCSIFFLAGS, &loopback) == 0 &&
           bind(server, (struct sockaddr *)&address, sizeof address) == 0 &&
           mount(path, "/etc/resolv.conf", NULL, MS_BIND, NULL) == 0;
}

TEST(looks, a_silent_name_server_is_not_waited_for)
{
    static const char *const lines[] = {"nodes --new-deployment --yes --force", "nodes", "status job",
                                        "break job --yes"};
    static const int codes[] = {0, 0, 1, 1};
    struct timespec begun, ended;

    declared();
    if (!silence_the_name_server())
        return;
    tool_set_node_timeout("1s");
    use("redis://master.example:1");
    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        run(lines[i], codes[i]);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    ck_assert_int_lt(ended.tv_sec - begun.tv_sec, 60);
    run("status job", 1);
    expect_out("resolving the name: no answer for 1000 ms");
}

/* --- The declaration ---------------------------------------------------------------------------------------------- */

/* A terminal on which `answer` has been typed. */
static int terminal(const char *answer, int *ret_keyboard)
{
    int screen;

    *ret_keyboard = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    ck_assert(*ret_keyboard >= 0 && grantpt(*ret_keyboard) == 0 && unlockpt(*ret_keyboard) == 0);
    screen = open(ptsname(*ret_keyboard), O_RDWR | O_NOCTTY | O_CLOEXEC);
    ck_assert_int_ge(screen, 0);
    ck_assert_int_eq(write(*ret_keyboard, answer, strlen(answer)), (ssize_t)strlen(answer));
    return screen;
}

static void answer(const char *line, const char *typed, const char *question, int exit_code)
{
    int keyboard;
    int screen = terminal(typed, &keyboard);

    tool_set_input(screen);
    run(line, exit_code);
    tool_set_input(-1);
    close(screen);
    close(keyboard);
    ck_assert_msg(strstr(tool.err, question) != NULL, "no '%s' in:\n%s", question, tool.err);
}

GROUP(declarations, "declarations", setup, teardown)

TEST(declarations, a_declaration_asks_and_takes_no_other_word_than_new)
{
    answer("nodes --new-deployment", "y\n", "Type 'new' to go on:", 1);
    ck_assert_ptr_null(strstr(tool.err, "by:"));
    ck_assert_ptr_nonnull(strstr(tool.err, "Nothing is declared."));
    ck_assert_int_eq(ask_integer(masters, 0, "DBSIZE"), 0);
    answer("nodes --new-deployment", "new\n", "Type 'new' to go on:", 0);
    ck_assert_int_eq(ask_integer(masters, 0, "DBSIZE"), 1);
}

TEST(declarations, a_declared_deployment_locks_at_once)
{
    declared();
    run("lock job", 0);
}

TEST(declarations, a_deployment_in_use_is_not_declared_new)
{
    declared();
    ck_assert(masters_kill(masters, 0) && masters_restart(masters, 0));
    run("nodes --new-deployment --yes", 1);
    ck_assert_ptr_nonnull(strstr(tool.err, "2 of 3 masters vote, so this deployment is not new"));
    ck_assert_int_eq(ask_integer(masters, 0, "DBSIZE"), 0);
    run("nodes --new-deployment --yes --force", 0);
    ck_assert_ptr_nonnull(strstr(tool.err, "2 of 3 masters vote already: they are declared once more"));
    expect_out("safe quorum: 3 of 3");
}

static void expect_err(const char *text)
{
    ck_assert_msg(strstr(tool.err, text) != NULL, "no '%s' in:\n%s", text, tool.err);
}

/* The line of this reason names so many masters. */
static void expect_names(const char *reason, size_t n)
{
    char beginning[128];
    const char *line;
    size_t named = 0;

    snprintf(beginning, sizeof beginning, "\nredlock:   %s", reason);
    line = strstr(tool.err, beginning);
    ck_assert_msg(line != NULL, "no line with '%s' in:\n%s", reason, tool.err);
    for (size_t i = 0; i < N; i++) {
        const char *name = strstr(line, masters_url(masters, i) + strlen("unix://"));

        named += name && !memchr(line + 1, '\n', (size_t)(name - line - 1));
    }
    ck_assert_msg(named == n, "%zu masters are named for '%s' in:\n%s", named, reason, tool.err);
}

/* JSON has the reason of this master. */
static void expect_reason(size_t node, const char *reason)
{
    const char *at = strstr(tool.out, masters_url(masters, node) + strlen("unix://"));
    const char *detail = at ? strstr(at, "\"detail\":\"") : NULL;

    ck_assert_msg(detail && strncmp(detail + strlen("\"detail\":\""), reason, strlen(reason)) == 0,
                  "master %zu does not say '%s' in:\n%s", node, reason, tool.out);
}

/* --- max_ttl ------------------------------------------------------------------------------------------------------ */

TEST(declarations, a_command_with_a_larger_max_ttl_is_refused_until_the_operator_declares_it)
{
    run("nodes --new-deployment --yes --max-ttl 60s", 0);
    run("lock day --ttl 24h --max-ttl 24h", 2);
    ck_assert_ptr_nonnull(strstr(tool.err, "max_ttl is 60 s there, and 24 h 0 min here: "));
    expect_err("redlock: 'redlock nodes --max-ttl 1d --node-timeout 5s' lets masters take such a max_ttl\n");
    run("run --key day --ttl 24h --max-ttl 24h true", 125);
    ask_expect(masters, 0, "HGET redlock:marker longest", "60000");
    run("nodes --max-ttl 24h --yes", 0);
    run("lock day --ttl 24h --max-ttl 24h", 0);
    run("lock job", 0);
}

TEST(declarations, a_smaller_max_ttl_is_told_with_the_time_for_which_the_longer_counts)
{
    declared();
    run("nodes --max-ttl 24h --yes", 0);
    run("nodes --max-ttl 60s --yes", 0);
    expect_out("locks of up to 24 h 0 min may be alive");
    run("lock day --ttl 24h --max-ttl 24h", 2);
    run("lock job", 0);
}

TEST(declarations, a_change_of_max_ttl_asks_and_says_who_comes_first)
{
    declared();
    run("nodes --max-ttl 30s", 2);
    ck_assert_ptr_nonnull(strstr(tool.err, "--max-ttl asks on a terminal, and standard input is none: add --yes"));
    answer("nodes --max-ttl 30s", "yes\n", "change max_ttl from 1m to 30s, on all 3 masters.", 1);
    ck_assert_ptr_nonnull(strstr(tool.err, "So the clients come first: "));
    answer("nodes --max-ttl 90s", "no\n", "The masters come first, and the clients", 1);
    ask_expect(masters, 0, "HGET redlock:marker longest", "60000");
    answer("nodes --max-ttl 30s", "change\n", "Type 'change' to go on:", 0);
    expect_out("deployment: prefix none, max_ttl 30s\n");
    run("nodes --max-ttl 30s", 0); /* nothing is to be done */
}

TEST(declarations, max_ttl_is_not_changed_behind_the_back_of_a_master)
{
    declared();
    ck_assert(masters_kill(masters, 2));
    run("nodes --max-ttl 24h --yes", 3);
    ck_assert_ptr_nonnull(strstr(tool.err, "max_ttl is not changed, since every master must learn of it: "));
    ask_expect(masters, 0, "HGET redlock:marker longest", "60000");
}

TEST(declarations, masters_that_nobody_has_met_are_not_told_a_max_ttl)
{
    run("nodes --max-ttl 24h --yes", 1);
    ck_assert_int_eq(ask_integer(masters, 0, "DBSIZE"), 0);
}

/* --- What the other commands make of it --------------------------------------------------------------------------- */

/* A quarantine lasts 61 s and a little more, of which some may have passed: the number behind the words. */
static void expect_rest(const char *text, const char *words, long unit)
{
    const char *at = strstr(text, words);
    long rest = at ? strtol(at + strlen(words), NULL, 10) : 0;

    ck_assert_msg(at != NULL, "no '%s' in:\n%s", words, text);
    ck_assert_int_gt(rest, 30 * unit);
    ck_assert_int_le(rest, 62 * unit);
}

GROUP(others, "other commands", setup, teardown)

TEST(others, lock_says_that_masters_abstain_and_for_how_long)
{
    run("lock job", 3);
    expect_err("'job' not acquired: 0 of 3 masters can vote (2 needed)\n");
    expect_rest(tool.err, "\nredlock:   in quarantine, ", 1);
    expect_rest(tool.err, "\nredlock: enough of them vote in ", 1);
    expect_err("never had a lock, 'redlock nodes --new-deployment --node-timeout 5s' lets them vote at once\n");
    run("lock job --json --wait 1s", 3);
    expect_rest(tool.out, "\"reachable\":3,\"voting\":0,\"quorum_in_ms\":", 1000);
    for (size_t i = 0; i < N; i++)
        expect_reason(i, "in quarantine, ");
    run("nodes", 1);
    expect_rest(tool.out, "Enough of them will in ", 1);
}

TEST(others, lock_says_why_a_master_is_excluded)
{
    declared();
    for (size_t i = 0; i < N; i++)
        ask_expect(masters, i, "REPLICAOF 127.0.0.1 1", "OK");
    run("lock job", 3);
    expect_err("0 of 3 masters can vote (2 needed)\n");
    expect_names("it is a replica", 3);
    expect_err("'redlock nodes --node-timeout 5s' tells more, and how to mend it\n");
    ck_assert_ptr_null(strstr(tool.err, "--new-deployment"));
}

/* A line for the one and a line for the others, whatever the command. */
static void expect_two_reasons(const char *line, int exit_code)
{
    run(line, exit_code);
    expect_err("1 of 3 masters can be reached (2 needed)");
    expect_names("AUTH: WRONGPASS", 1);
    expect_names("connect: ", 1);
    ck_assert_ptr_null(strstr(tool.err, "me:wrong"));
}

TEST(others, each_reason_has_a_line_with_the_masters_it_is_true_of)
{
    char url[512];

    declared();
    ck_assert(masters_kill(masters, 1));
    snprintf(url, sizeof url, "unix://me:wrong@%s", masters_url(masters, 0) + strlen("unix://"));
    use(url);
    expect_two_reasons("lock job --wait 1s", 3);
    expect_two_reasons("run --key job --wait 1s true", 122);
    expect_two_reasons("unlock job token", 3);
    ck_assert_ptr_null(strstr(tool.err, "missing"));
    run("lock job --wait 1s --json", 3);
    expect_reason(0, "AUTH: WRONGPASS");
    expect_reason(1, "connect: ");
    run("unlock job token --json", 3);
    expect_reason(1, "connect: ");
    run("run --key job --wait 1s --json-log true", 122);
    expect_err("\"why\":\"1 of 3 masters can be reached: 1 not reached (AUTH: WRONGPASS");
    expect_err("\"detail\":\"connect: ");
}

TEST(others, break_says_who_has_not_answered_and_why)
{
    declared();
    for (size_t i = 0; i < N; i++)
        ck_assert(masters_kill(masters, i));
    run("break job --yes", 3);
    expect_err("'job': 0 of 3 masters have answered (2 needed); it may stay held until its ttl ends\n");
    expect_names("Connection refused", 3);
    run("break job --yes --json", 3);
    expect_out("\"status\":\"REDLOCK_NO_QUORUM\"");
    expect_out("\"answered\":false,\"error\":\"Connection refused\"");
}

TEST(others, a_lock_that_waits_outlasts_the_quarantine)
{
    run("lock job --max-ttl 200ms --ttl 190ms --wait 30s", 0);
    ck_assert_int_eq(ask_integer(masters, 0, "EXISTS redlock:marker"), 1);
}

TEST(others, the_classic_profile_needs_no_marker)
{
    run("lock job --profile classic", 0);
    ck_assert_int_eq(ask_integer(masters, 0, "EXISTS redlock:marker"), 0);
    ck_assert_int_eq(ask_integer(masters, 0, "EXISTS job"), 1);
}

TEST(others, unlock_and_status_write_no_marker)
{
    run("status job", 1);
    run("unlock job token", 1);
    ck_assert_int_eq(ask_integer(masters, 0, "DBSIZE"), 0);
}

TEST(others, a_prefix_stands_before_key_and_marker)
{
    run("nodes --new-deployment --yes --prefix app:", 0);
    run("lock job --prefix app:", 0);
    ck_assert_int_eq(ask_integer(masters, 0, "EXISTS app:job app:redlock:marker"), 2);
    run("status job --prefix app:", 0);
    run("status job", 1);
}

TEST(others, a_larger_quorum_is_asked_for)
{
    run("nodes --new-deployment --yes --quorum 3", 0);
    ck_assert(masters_kill(masters, 0));
    run("lock job --quorum 3", 3);
    run("nodes --quorum 3", 3);
    ask_expect(masters, 1, "SET job v PX 60000", "OK");
    ask_expect(masters, 2, "SET job v PX 60000", "OK");
    run("status job --quorum 3", 3);
    run("status job", 0);
}

int main(int argc, char **argv)
{
    setenv("LC_ALL", "C", 1);
    return tool_run_suite(argc, argv, suite_collect("nodes"));
}
