/* redlock nodes where names lead to other servers than they should: to the same one, to others than before, or to two
 * by turns; and the names in the commands that are printed. */
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nodes_rig.h"

GROUP(names, "names", setup, teardown)

TEST(names, the_same_server_twice_is_one_vote)
{
    char link[256];

    snprintf(link, sizeof link, "%s/twin", masters_dir(masters));
    ck_assert_int_eq(symlink(masters_url(masters, 1) + strlen("unix://"), link), 0);
    use(link);
    run("nodes --new-deployment --yes", 0);
    expect_first("excluded", "the same server as");
    expect_out("two votes of one memory");
}

/* A name that leads to master `node` from now on. */
static void lead(const char *name, size_t node)
{
    char link[256];

    snprintf(link, sizeof link, "%s/%s", masters_dir(masters), name);
    unlink(link);
    ck_assert_int_eq(symlink(masters_url(masters, node) + strlen("unix://"), link), 0);
}

TEST(names, names_that_lead_to_other_servers_than_before_have_no_votes)
{
    char list[512];

    snprintf(list, sizeof list, "%s/one,%s/two,%s", masters_dir(masters), masters_dir(masters),
             masters_url(masters, 2) + strlen("unix://"));
    setenv("REDLOCK_NODES", list, 1);
    lead("one", 0);
    lead("two", 1);
    run("nodes --new-deployment --yes", 0);
    lead("one", 1);
    expect_first("excluded", "the same server as");
    lead("two", 0);
    run("nodes", 1);
    expect_out("marked as another master of the list: this name leads to another server than before");
    expect_out("no safe quorum: 1 of 3 masters vote (2 needed)");
    lead("one", 0);
    lead("two", 1);
    run("nodes", 0);
}

/* --- Two servers by turns ---------------------------------------------------------------------------------------- */

/* Carries a connection to the server and back, until one of both ends. */
static void carry(int client, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    struct pollfd ends[] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
    char buffer[65536];

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (connect(server, (struct sockaddr *)&address, sizeof address) != 0)
        return;
    while (poll(ends, 2, -1) > 0)
        for (int i = 0; i < 2; i++) {
            ssize_t size = ends[i].revents != 0 ? read(ends[i].fd, buffer, sizeof buffer) : 0;

            if (ends[i].revents != 0 && (size <= 0 || write(ends[1 - i].fd, buffer, (size_t)size) != size))
                return;
        }
}

static pid_t start_to_carry(int client, size_t server)
{
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    carry(client, masters_url(masters, server) + strlen("unix://"));
    _exit(0);
}

/* Where the name of the first master leads: to servers 0 and N by turns, or the first connection to 0 and others to N.
 * If it has moved, the first one ends when the second comes. */
enum way { BY_TURNS, FIRST_ALONE, MOVED };

static int listener;

static pid_t start_to_lead(enum way way)
{
    pid_t pid = fork(), first = 0;

    if (pid != 0)
        return pid;
    for (int i = 0;; i++) {
        int client = accept(listener, NULL, NULL);
        pid_t carrier;

        if (way == MOVED && i == 1) {
            kill(first, SIGKILL);
            waitpid(first, NULL, 0);
        }
        carrier = start_to_carry(client, i == 0 || (way == BY_TURNS && i % 2 == 0) ? 0 : N);
        first = i == 0 ? carrier : first;
        close(client);
    }
}

/* `redlock nodes`, with the words, is led so, and ends with this. */
static void run_led(enum way way, const char *line, int exit_code)
{
    pid_t leader = start_to_lead(way);

    tool_run(&tool, line);
    kill(leader, SIGKILL);
    waitpid(leader, NULL, 0);
    tool_expect(&tool, exit_code);
}

static void setup_with_a_twin(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const struct masters_options options = {.count = N + 1};
    socklen_t size = sizeof address;
    char url[64];

    setup_with(&options);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(listen(listener, 16), 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    snprintf(url, sizeof url, "127.0.0.1:%d", ntohs(address.sin_port));
    use(url);
}

GROUP(twins, "two servers", setup_with_a_twin, teardown)

/* Two others vote, and yet it is not safe: another client may count the other server. */
TESTS(twins, a_name_that_leads_to_two_servers_is_found_at_a_single_look, 0, 2)
{
    enum way way = _i == 0 ? BY_TURNS : FIRST_ALONE;

    run_led(FIRST_ALONE, "nodes --new-deployment --yes", 1);
    ck_assert_ptr_nonnull(strstr(tool.err, "leads to two servers by turns, and clients may count both. "));
    ck_assert_int_eq(ask_integer(masters, 1, "DBSIZE"), 0);
    run_led(BY_TURNS, "nodes --new-deployment --yes --force", 1);
    ck_assert_int_eq(ask_integer(masters, 1, "DBSIZE"), 0);
    run_led(MOVED, "nodes --new-deployment --yes", 0);
    run_led(way, "nodes", 1);
    expect_out("excluded");
    expect_out("its name leads to two servers by turns (run ids ");
    expect_out("Let the name lead to one of them, stop the other, wait max_ttl and 1 s, and restart the one that ");
    expect_out("no safe quorum: 2 of 3 masters vote (2 needed), but clients may count both servers of");
    run_led(way, "nodes --json", 1);
    expect_out("{\"schema\":1,\"verdict\":\"unsafe\"");
    expect_out("\"fault\":\"two-servers\"");
}

TEST(twins, a_server_in_the_place_of_another_is_not_two_by_turns)
{
    run_led(MOVED, "nodes --new-deployment --yes", 0);
    run_led(MOVED, "nodes", 0);
    ck_assert_ptr_null(strstr(tool.out, "by turns"));
}

/* --- Blanks in paths ---------------------------------------------------------------------------------------------- */

/* The first master has this path in the masters' directory. */
static void use_with_blank(const char *path)
{
    char list[1024];

    snprintf(list, sizeof list, "%s%s,%s,%s", masters_dir(masters), path, masters_url(masters, 1),
             masters_url(masters, 2));
    setenv("REDLOCK_NODES", list, 1);
}

TEST(names, a_blank_in_the_path_of_a_socket_is_written_as_percent_20)
{
    lead("a socket", 0);
    use_with_blank("/a socket");
    run("nodes", 2);
    ck_assert_ptr_nonnull(strstr(tool.err, "/a socket': write a blank in a path as %20"));
    use_with_blank("/no such/socket");
    run("nodes", 2);
    ck_assert_ptr_nonnull(strstr(tool.err, "'such/socket' is no master: a path begins with /"));
    use_with_blank("/a%20socket");
    run("nodes --new-deployment --yes", 0);
}

/* --- Commands that are printed ------------------------------------------------------------------------------------ */

/* No variable names the masters: what is printed must. */
TEST(names, a_printed_command_names_the_masters_that_options_have_named)
{
    char line[2048], command[2048] = "";
    const char *printed;

    snprintf(line, sizeof line, "lock job --prefix it's: --quorum 3 --max-ttl 2m --nodes %s", getenv("REDLOCK_NODES"));
    unsetenv("REDLOCK_NODES");
    run(line, 3);
    printed = strstr(tool.err, "'redlock nodes --new-deployment --nodes ");
    ck_assert_msg(printed != NULL, "%s", tool.err);
    ck_assert_ptr_nonnull(strstr(printed, " --prefix 'it'\\''s:' --quorum 3 --max-ttl 2m --node-timeout 5s' "));
    ck_assert_int_eq(sscanf(printed, "'redlock %1000[^']", command), 1);
    *strstr(command, " --prefix ") = '\0';
    strcat(command, " --prefix it's: --quorum 3 --max-ttl 2m --yes");
    run(command, 0);
    run(line, 0);
}

TEST(names, a_printed_command_has_no_password)
{
    char line[2048];

    snprintf(line, sizeof line, "lock job --node unix://me:secret@%s --nodes %s,%s",
             masters_url(masters, 0) + strlen("unix://"), masters_url(masters, 1), masters_url(masters, 2));
    ask_expect(masters, 0, "ACL SETUSER me on >secret ~* &* +@all", "OK");
    unsetenv("REDLOCK_NODES");
    run(line, 3);
    ck_assert_ptr_null(strstr(tool.err, "secret"));
    ck_assert_ptr_nonnull(strstr(tool.err, "'redlock nodes --new-deployment --nodes unix://me@/"));
    ck_assert_ptr_nonnull(strstr(tool.err, " --password-file FILE --node-timeout 5s' lets them vote at once\n"));
}

/* What can be read a second time is named; what comes through a pipe is not. */
TEST(names, a_printed_command_names_the_file_of_masters)
{
    char line[512], path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s/masters", masters_dir(masters));
    snprintf(line, sizeof line, "%s quorum=3 prefix=app:\n", getenv("REDLOCK_NODES"));
    file = fopen(path, "we");
    ck_assert(file && fputs(line, file) >= 0 && fclose(file) == 0);
    unsetenv("REDLOCK_NODES");
    snprintf(line, sizeof line, "lock job --nodes-file %s", path);
    run(line, 3);
    snprintf(line, sizeof line, "'redlock nodes --new-deployment --nodes-file %s --node-timeout 5s' lets them", path);
    ck_assert_msg(strstr(tool.err, line) != NULL, "no \"%s\" in:\n%s", line, tool.err);
}

int main(int argc, char **argv)
{
    setenv("LC_ALL", "C", 1);
    return tool_run_suite(argc, argv, suite_collect("names"));
}
