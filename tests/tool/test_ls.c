/* ls on real masters. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "locks_rig.h"
#include "suite.h"

GROUP(ls, "ls", locks_open, locks_close)

#define TOKEN(digit, label) digit "0000000-0000-4000-8000-000000000000:" label

enum { ALL = 5 };

static void expect(const char *text)
{
    ck_assert_msg(strstr(tool.out, text), "no '%s' in:\n%s", text, tool.out);
}

static void expect_none(const char *text)
{
    ck_assert_msg(!strstr(tool.out, text), "'%s' in:\n%s", text, tool.out);
}

/* On the first `n` masters. */
static void hold(size_t n, const char *key, const char *value)
{
    for (size_t i = 0; i < n; i++)
        locks_command(i, (const char *const[]){"SET", key, value, "PX", "600000", NULL});
}

static void line_up(size_t n, const char *key, const char *value, long long ago_s)
{
    char queue[64], waiters[64], ticket[32];

    snprintf(queue, sizeof queue, "redlock:queue:%s", key);
    snprintf(waiters, sizeof waiters, "redlock:waiters:%s", key);
    snprintf(ticket, sizeof ticket, "%lld", ((long long)time(NULL) - ago_s) * 1000000);
    for (size_t i = 0; i < n; i++) {
        locks_command(i, (const char *const[]){"ZADD", queue, ticket, value, NULL});
        locks_command(i, (const char *const[]){"HSET", waiters, value, "99999999999999 0 - 0 0 channel", NULL});
    }
}

/* The masters have a marker, and counters and queues are left behind. */
TEST(ls, names_of_the_library_are_no_keys)
{
    tool_expect_run(&tool, "run job --fence -- true", 0);
    tool_expect_run(&tool, "ls", 1);
    ck_assert_str_eq(tool.out, "0 keys held or awaited\n");
    tool_run(&tool, "ls --json");
    expect("\"whole\":true,\"quorum\":3,\"found\":0,\"keys\":[]");
}

TEST(ls, locks_are_shown_with_holder_and_waiters_the_longest_wait_first)
{
    tool_expect_run(&tool, "lock held --ttl 50s --label web1:7 --token-file /dev/null", 0);
    hold(ALL, "wanted", TOKEN("1", "web2:8+1700000000"));
    line_up(ALL, "wanted", TOKEN("2", "a"), 20);
    line_up(ALL, "wanted", TOKEN("3", "b"), 10);
    line_up(ALL, "free", TOKEN("4", "c"), 60);
    tool_expect_run(&tool, "ls", 0);
    expect("\nheld    lock  web1:7  ");
    expect("  5/5\n3 keys\nawaited: 2\n");
    ck_assert_ptr_nonnull(strstr(strstr(tool.out, "\nfree    lock  -  "), "\nwanted  lock  web2:8  "));
    tool_expect_run(&tool, "ls wan* --json", 0);
    expect("\"keys\":[{\"key\":\"wanted\",\"kind\":\"lock\",\"verdict\":\"held\",\"answered\":5,\"present\":5,"
           "\"minority\":false,\"pttl_ms\":");
    expect("\"asked_us\":1700000000000000,\"held_by\":[{\"token_prefix\":\"10000000\",\"label\":\"web2:8\"");
    expect("\"queue_length\":2,\"ticket\":");
    tool_expect_run(&tool, "ls --sort hold --limit 1", 0);
    expect("\nwanted");
    expect("\n3 keys, 1 shown\n");
}

TEST(ls, a_semaphore_is_one_line)
{
    hold(ALL, "pool#0", TOKEN("1", "a"));
    hold(3, "pool#4", TOKEN("2", "b"));
    hold(1, "pool#7", TOKEN("3", "late"));
    hold(ALL, "pool#gate", TOKEN("4", "several"));
    line_up(ALL, "pool#2", TOKEN("5", "c"), 5);
    line_up(ALL, "pool#gate", TOKEN("6", "d"), 9);
    hold(ALL, "pool#x", TOKEN("7", "no-permit"));
    tool_expect_run(&tool, "ls pool", 0);
    expect("\npool  permits 2/8+  a +1  ");
    expect("      2  ");
    expect("3/5!\n1 key\nawaited: 1\n! 1 without a majority");
    tool_run(&tool, "ls pool* --json --verbose");
    expect("\"kind\":\"semaphore\",\"verdict\":\"held\"");
    expect("\"held\":2,\"permits_at_least\":8,\"unsettled\":1");
    expect("\"held_by\":[{\"slot\":0,\"token\":\"" TOKEN("1", "a") "\"");
    expect("{\"key\":\"pool#x\",\"kind\":\"lock\"");
}

TEST(ls, shared_locks_are_counted)
{
    for (size_t i = 0; i < 4; i++) {
        locks_command(i, (const char *const[]){"ZADD", "job", "99999999999999", "r " TOKEN("1", "a"),
                                               "99999999999999", "r " TOKEN("2", "b"), NULL});
        locks_command(i, (const char *const[]){"PEXPIRE", "job", "60000", NULL});
    }
    locks_command(4, (const char *const[]){"ZADD", "job", "99999999999999", "r " TOKEN("3", "c"), NULL});
    tool_expect_run(&tool, "ls", 0);
    expect("job  shared 2  ");
    expect(" +1  ");
    tool_run(&tool, "ls --json");
    expect("\"verdict\":\"shared\"");
    expect("\"shared_by\":2");
}

static void arrive(size_t n, const char *latch, const char *party)
{
    for (size_t i = 0; i < n; i++)
        locks_command(i, (const char *const[]){"HSET", latch, "n", "3", "gen", "1", party, "1", NULL});
}

TEST(ls, latches_are_shown_until_they_are_open)
{
    arrive(ALL, "redlock:latch:build", "a:one");
    arrive(2, "redlock:latch:build", "a:two");
    arrive(ALL, "redlock:latch:over", "open");
    tool_expect_run(&tool, "ls", 0);
    expect("\nbuild  latch 2/3  -  ");
    expect_none("over");
    tool_run(&tool, "ls --all --json");
    expect("{\"key\":\"over\",\"kind\":\"latch\",\"verdict\":\"open\"");
    expect("{\"key\":\"build\",\"kind\":\"latch\",\"verdict\":\"shut\"");
}

/* A connection that hears of the leaders of a key. */
static int observe(const char *key)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char text[128];

    snprintf(address.sun_path, sizeof address.sun_path, "%s", strchr(masters_url(masters, 1), '/') + 2);
    ck_assert_int_eq(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    snprintf(text, sizeof text, "SUBSCRIBE redlock:leader:%s\r\n", key);
    ck_assert_int_gt(write(fd, text, strlen(text)), 0);
    ck_assert_int_gt(read(fd, text, sizeof text), 0);
    return fd;
}

TEST(ls, a_lock_whose_leaders_are_heard_is_an_election)
{
    int fd = observe("boss");

    hold(ALL, "boss", TOKEN("1", "leader"));
    hold(ALL, "job", TOKEN("2", "worker"));
    tool_expect_run(&tool, "ls", 0);
    expect("\nboss  election  leader  ");
    expect("\njob   lock      worker  ");
    for (size_t i = 0; i < ALL; i++)
        locks_command(i, (const char *const[]){"ACL", "SETUSER", "default", "-pubsub", NULL});
    tool_expect_run(&tool, "ls", 0);
    expect("\nboss  lock  leader  ");
    close(fd);
}

TEST(ls, what_a_minority_has_is_marked)
{
    hold(2, "rest", TOKEN("1", "gone"));
    tool_expect_run(&tool, "ls", 0);
    expect("\nrest  lock  (gone)      -  ");
    expect("  2/5!\n1 key\n! 1 without a majority");
    tool_run(&tool, "ls --json");
    expect("\"verdict\":\"split\",\"answered\":5,\"present\":2,\"minority\":true");
    expect("\"seen\":[{\"token_prefix\":\"10000000\",\"label\":\"gone\"");
}

TEST(ls, keys_of_others_are_shown_where_they_matter)
{
    hold(ALL, "app:cache", "<html>");
    for (size_t i = 0; i < ALL; i++)
        locks_command(i, (const char *const[]){"RPUSH", "app:list", "x", NULL});
    tool_expect_run(&tool, "ls", 1);
    tool_expect_run(&tool, "ls --all", 0);
    expect("\napp:list   foreign  -           -  no end  ");
    expect("\napp:cache  foreign  -  ");
    tool_expect_run(&tool, "ls --prefix app:", 0);
    expect("\nlist   foreign  ");
    line_up(ALL, "app:list", TOKEN("1", "a"), 3);
    tool_expect_run(&tool, "ls", 0);
    expect("\napp:list  foreign  ");
    expect_none("app:cache");
}

TEST(ls, a_prefix_is_no_pattern)
{
    hold(ALL, "a*:one", TOKEN("1", "x"));
    hold(ALL, "ab:two", TOKEN("2", "x"));
    tool_expect_run(&tool, "ls --prefix a*:", 0);
    expect("\none  lock");
    expect("\n1 key\n");
}

static const struct {
    const char *pattern, *key;
    bool fits;
} patterns[] = {
    {"a?c", "abc", true},      {"a?c", "ac", false},       {"[a-c]x", "bx", true},    {"[^a-c]x", "bx", false},
    {"a\\*", "a*", true},      {"a\\*", "ab", false},      {"*b*c", "abbxc", true},   {"*b*c", "abbx", false},
    {"[\\]]", "]", true},      {"a", "ab", false},         {"a", "xa", false},        {"*", "abc", true},
    {"[c-a]", "b", true},      {"\\[x", "[x", true},
};

TESTS(ls, patterns_are_those_of_redis, 0, sizeof patterns / sizeof patterns[0])
{
    const char *const words[] = {"ls", patterns[_i].pattern, NULL};

    hold(ALL, patterns[_i].key, TOKEN("1", "x"));
    tool_start(&tool, words);
    tool_expect_end(&tool, patterns[_i].fits ? 0 : 1);
}

TEST(ls, a_master_that_is_down_is_told_and_the_others_answer)
{
    hold(ALL, "job", TOKEN("1", "a"));
    ck_assert(masters_kill(masters, 2));
    tool_expect_run(&tool, "ls", 0);
    expect("\njob  lock  a  ");
    expect("  4/5\n1 key\n");
    ck_assert_ptr_nonnull(strstr(tool.err, "Connection refused"));
    ck_assert(masters_kill(masters, 3));
    ck_assert(masters_hang(masters, 4));
    tool_expect_run(&tool, "ls --node-timeout 1s", 3);
    expect("\njob  lock  (a)  ");
    expect("  2/5?\n1 key, as far as is known\n? 1 of which too few masters have told\n");
}

static void forbid(size_t i)
{
    locks_command(i, (const char *const[]){"ACL", "SETUSER", "default", "-scan", NULL});
}

TEST(ls, a_missing_right_is_named_with_what_grants_it)
{
    char *cure, *end;

    hold(ALL, "job", TOKEN("1", "a"));
    forbid(1);
    tool_expect_run(&tool, "ls", 0);
    expect("\njob  lock  a  ");
    expect("  5/5\n1 key\n");
    ck_assert_ptr_nonnull(strstr(tool.err, masters_url(masters, 1) + strlen("unix://")));
    ck_assert_ptr_nonnull(strstr(tool.err, "its user has no right to SCAN"));
    cure = strstr(tool.err, "redis-cli ");
    ck_assert_ptr_nonnull(cure);
    end = strchr(cure, '\n');
    *end = '\0';
    ck_assert_str_eq(end - strlen(" ACL SETUSER default +scan"), " ACL SETUSER default +scan");
    ck_assert_int_eq(system(strcat(cure, " >/dev/null")), 0);
    tool_expect_run(&tool, "ls", 0);
    ck_assert_str_eq(tool.err, "");
    for (size_t i = 0; i < 3; i++)
        forbid(i);
    tool_expect_run(&tool, "ls", 3);
    expect("\n1 key, as far as is known\n");
}

/* One script on each, since ten thousand commands take long. */
static void hold_many(void)
{
    static const char *const script =
        "for i = 1, 10000 do redis.call('SET', 'many:' .. i, string.format('%08x', i) .. "
        "'-0000-4000-8000-000000000000:h', 'PX', 600000) redis.call('SET', 'redlock:fence:many:' .. i, i) end return 1";

    for (size_t i = 0; i < ALL; i++)
        locks_command(i, (const char *const[]){"EVAL", script, "0", NULL});
}

TEST(ls, ten_thousand_keys_are_walked_at_the_rate_that_is_given)
{
    time_t begun = time(NULL);

    hold_many();
    tool_expect_run(&tool, "ls many:* --limit 2 --rate 100000 --sort name", 0);
    expect("\nmany:1   lock  h  ");
    expect("\nmany:10  lock  h  ");
    expect("\n10000 keys, 2 shown\n");
    begun = time(NULL);
    tool_expect_run(&tool, "ls many:9999 --rate 5000", 0);
    ck_assert_int_ge(time(NULL) - begun, 3);
    expect("\n1 key\n");
}

#define LONG "long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-end"

TEST(ls, keys_of_any_bytes_are_shown_escaped)
{
    hold(ALL, "red\033[31m\xff", TOKEN("1", "a"));
    hold(ALL, LONG, TOKEN("2", "b"));
    locks_command(0, (const char *const[]){"EVAL", "return redis.call('SET', 'a\\0b', 'x', 'PX', 60000)", "0", NULL});
    tool_expect_run(&tool, "ls --sort name", 0);
    expect("\n" LONG "  lock  b  ");
    expect("\nred\\x1b[31m\\xff  ");
    ck_assert_ptr_nonnull(strstr(tool.err, "names with a byte 0 were left out: 1\n"));
    tool_run(&tool, "ls --json");
    expect("\"key_hex\":\"7265641b5b33316dff\"");
}

/* What the command writes to a terminal of 80 columns. */
static void run_on_terminal(char *text, size_t size)
{
    const struct winsize window = {.ws_row = 24, .ws_col = 80};
    int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave;
    size_t n = 0;
    ssize_t got;
    pid_t pid;

    ck_assert(grantpt(fd) == 0 && unlockpt(fd) == 0);
    slave = open(ptsname(fd), O_RDWR | O_NOCTTY | O_CLOEXEC);
    ck_assert_int_eq(ioctl(slave, TIOCSWINSZ, &window), 0);
    pid = fork();
    if (pid == 0) {
        setenv("NO_COLOR", "1", 1);
        dup2(slave, STDOUT_FILENO);
        execl(tool_path(), "redlock", "ls", "--node-timeout", "5s", (char *)NULL);
        _exit(127);
    }
    close(slave);
    while (n + 1 < size && (got = read(fd, text + n, size - n - 1)) > 0)
        n += (size_t)got;
    text[n] = '\0';
    waitpid(pid, NULL, 0);
    close(fd);
}

TEST(ls, nothing_wraps_on_a_terminal)
{
    static char text[16384];

    hold(ALL, LONG, TOKEN("1", "a-host-with-a-name-that-is-long.example.org:12345+1700000000"));
    hold(2, LONG "-2", TOKEN("2", "b+1700000000"));
    for (int i = 0; i < 3; i++)
        line_up(ALL, LONG, (const char *const[]){TOKEN("1", "a"), TOKEN("2", "b"), TOKEN("3", "c")}[i], 100000);
    run_on_terminal(text, sizeof text);
    ck_assert_msg(strstr(text, "long-end") && strstr(text, ".org:12345"), "%s", text);
    for (char *line = strtok(text, "\r\n"); line; line = strtok(NULL, "\r\n"))
        ck_assert_msg(strlen(line) <= 80, "%zu columns: %s", strlen(line), line);
}

int main(int argc, char **argv)
{
    return tool_run_suite(argc, argv, suite_collect("ls"));
}
