/* The rights that a user of locks is advised to have: enough, no more than needed, and as the manual prints them. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/nodes/advice.h"
#include "nodes_rig.h"

static const char *manual; /* redlock(7), as it is written */

enum { LEAVE_NONE = -1 };

static int count_rights(void)
{
    int number = 1;

    for (const char *at = ADVICE_RIGHTS; *at != '\0'; at++)
        number += *at == ' ';
    return number;
}

/* The user with the advised rights on one master, but for one of them. */
static void set_locker(size_t master, int left_out)
{
    const char *words[64] = {"ACL", "SETUSER", "locker", "on", ">pw", "resetkeys", "~app:*", "~redlock-demo:*", "-@all",
                             "resetchannels", "&app:*", "&redlock-demo:*"};
    size_t n = suite_server_is(6, 2) ? 12 : 9; /* channels are for everybody before */
    char rights[] = ADVICE_RIGHTS;
    int number = 0;
    char *reply;

    for (char *word = strtok(rights, " "); word; word = strtok(NULL, " "))
        if (number++ != left_out) {
            ck_assert_uint_lt(n + 1, sizeof words / sizeof words[0]);
            words[n++] = word;
        }
    ck_assert_int_eq(number, count_rights());
    reply = masters_command(masters, master, words);
    ck_assert_msg(reply != NULL, "%s", masters_error());
    free(reply);
}

/* The commands are this user's from now on, who lacks the right on the first master only. */
static void use_locker(int left_out)
{
    char urls[1024] = "";

    for (size_t i = 0; i < N; i++) {
        size_t length = strlen(urls);

        set_locker(i, i == 0 ? left_out : LEAVE_NONE);
        snprintf(urls + length, sizeof urls - length, "%sunix://locker:pw@%s?db=1", i > 0 ? "," : "",
                 masters_url(masters, i) + strlen("unix://"));
    }
    setenv("REDLOCK_NODES", urls, 1);
}

/* So many, on a majority: on the first master there may be no right for it. */
static bool are_in_queue(const char *status, unsigned number)
{
    char words[40];
    const char *first;

    snprintf(words, sizeof words, "\"queue_length\":%u", number);
    first = strstr(status, words);
    return first && strstr(first + 1, words);
}

static void await_line(const char *key, unsigned number)
{
    char line[80];

    snprintf(line, sizeof line, "status %s --prefix app: --json", key);
    do
        tool_run(&tool, line);
    while (!are_in_queue(tool.out, number));
}

static void start_waiter(struct tool *waiter, const char *key)
{
    tool_start(waiter, (const char *const[]){"lock", key, "--prefix", "app:", "--wait", "20s", "--quiet", NULL});
}

static void stop_waiter(struct tool *waiter)
{
    ck_assert_int_eq(kill(waiter->pid, SIGTERM), 0);
    tool_finish(waiter);
    ck_assert_msg(waiter->exit_code != 0, "it has got the lock");
}

struct token {
    char text[128];
};

static struct token printed_by(const struct tool *ended)
{
    struct token token;

    ck_assert_int_eq(sscanf(ended->out, "%127s", token.text), 1);
    return token;
}

static void unlock(struct token token)
{
    char line[256];

    snprintf(line, sizeof line, "unlock job %s --prefix app:", token.text);
    run(line, 0);
}

/* One takes the lock, and another waits in the queue when this returns. Answers the first one's token. */
static struct token enter_queue(struct tool *waiter)
{
    struct token first;

    run("lock job --prefix app: --quiet", 0);
    first = printed_by(&tool);
    start_waiter(waiter, "job");
    await_line("job", 1);
    return first;
}

/* One waits in the queue, another joins it behind and leaves; the first is handed the lock when it is given up. */
static void hand_off(void)
{
    static struct tool waiter, leaver;
    struct token first = enter_queue(&waiter);

    start_waiter(&leaver, "job");
    await_line("job", 2);
    stop_waiter(&leaver);
    unlock(first);
    tool_expect_end(&waiter, 0);
    unlock(printed_by(&waiter));
}

/* Two readers have the key. The vote of one of them has ended, and whoever joins the queue takes it out. */
static void wait_behind_readers(void)
{
    static struct tool waiter;
    static const char *const words[] = {
        "EVAL",
        "redis.call('SELECT', 1)\n"
        "return redis.call('ZADD', 'app:read', 1, 'r ended', 4000000000000, 'r living')", "0", NULL};

    for (size_t i = 0; i < N; i++) {
        char *reply = masters_command(masters, i, words);

        ck_assert_msg(reply != NULL, "%s", masters_error());
        free(reply);
    }
    start_waiter(&waiter, "read");
    await_line("read", 1);
    stop_waiter(&waiter);
}

static void declare_new(void)
{
    tool_run(&tool, "nodes --new-deployment --yes --prefix app:");
    run("nodes --prefix app:", 0);
}

static void use_all_rights(void)
{
    char line[2048];
    struct token token;

    run("lock job --prefix app: --quiet --fenced", 0);
    token = printed_by(&tool);
    run("lock job --prefix app: --quiet --fenced", 1);
    run("lock plain --prefix app: --quiet", 0);
    run("status job --prefix app:", 0);
    unlock(token);
    hand_off();
    wait_behind_readers();
    snprintf(line, sizeof line, "demo --fast --nodes %s", getenv("REDLOCK_NODES"));
    tool_run(&tool, line);
}

GROUP(rights_tests, "rights", setup, teardown)

TEST(rights_tests, the_advised_rights_are_enough)
{
    use_locker(LEAVE_NONE);
    declare_new();
    ck_assert_msg(!strstr(tool.out, "lacks"), "%s", tool.out);
    use_all_rights();
    tool_expect(&tool, 0);
    for (size_t i = 0; i < N; i++)
        ask_expect(masters, i, "ACL LOG", "");
}

static const char *right_of(int number)
{
    static char rights[sizeof ADVICE_RIGHTS];
    const char *word;

    strcpy(rights, ADVICE_RIGHTS);
    word = strtok(rights, " ");
    while (number-- > 0)
        word = strtok(NULL, " ");
    return word;
}

static bool is_right(int number, const char *right)
{
    return strcmp(right_of(number), right) == 0;
}

/* Some are missed so early that the master is not reached, or cannot be judged. */
TESTS(rights_tests, nodes_names_the_right_that_is_missing, 0, count_rights())
{
    char words[80];

    use_locker(_i);
    declare_new();
    run("nodes --prefix app: --json", 0);
    snprintf(words, sizeof words, "\"what\":\"the user lacks %s\"", right_of(_i));
    if (is_right(_i, "+select"))
        expect_out("\"mend\":\"Have its administrator grant what redlock(7) names");
    else if (is_right(_i, "+ping"))
        expect_out("ACL SETUSER locker +ping\"");
    else if (is_right(_i, "+config|get"))
        expect_out("durability not to be seen");
    else if (!strstr("+info +time +hget +hmget +eval +evalsha", right_of(_i)))
        expect_out(words);
    else
        expect_out(strcat(strcpy(words, "\"what\":\"cannot be judged: the user lacks "), right_of(_i)));
}

/* No command leaves a channel: programs do so that stop to observe a leader, or whose credentials end. */
TESTS(rights_tests, each_of_the_advised_rights_is_needed, 0, count_rights())
{
    if (is_right(_i, "+unsubscribe"))
        return;
    use_locker(_i);
    declare_new();
    ask_expect(masters, 0, "ACL LOG RESET", "OK"); /* nodes has tried them all */
    use_all_rights();
    ask_contains(masters, 0, "ACL LOG", "command");
}

static void use_user(const char *rights, const char *options)
{
    char command[160], urls[1024] = "";

    for (size_t i = 0; i < N; i++) {
        size_t length = strlen(urls);

        snprintf(command, sizeof command, "ACL SETUSER me on >pw %s", rights);
        ask_expect(masters, i, command, "OK");
        snprintf(urls + length, sizeof urls - length, "%sunix://me:pw@%s", i > 0 ? "," : "",
                 masters_url(masters, i) + strlen("unix://"));
    }
    setenv("REDLOCK_NODES", urls, 1);
    snprintf(command, sizeof command, "nodes --new-deployment --yes%s", options);
    tool_run(&tool, command);
}

TEST(rights_tests, rights_to_keys_and_channels_are_missed_too)
{
    if (!suite_server_is(6, 2))
        return;
    use_user("resetkeys ~jobs:* ~redlock:marker resetchannels &redlock:* +@all", "");
    tool_expect(&tool, 0);
    expect_out("the user lacks '~redlock:*'.");
    expect_out(" ACL SETUSER me '~redlock:*'\n");
    use_user("~* resetchannels +@all", "");
    run("nodes", 0);
    expect_out("the user lacks '&redlock:*'.");
    expect_out(" ACL SETUSER me '&redlock:*'\n");
    use_user("resetkeys ~jobs:* ~*marker allchannels +@all", " --prefix it's[1]*:");
    expect_out(" ACL SETUSER me '~it'\\''s\\[1\\]\\*:redlock:*'\n");
}

TEST(rights_tests, who_has_forgotten_the_prefix_is_not_told_to_grant_all_keys)
{
    use_user("resetkeys ~app:* +@all", "");
    tool_expect(&tool, 1);
    run("nodes", 1);
    expect_out("If the clients have a prefix, name it by --prefix.");
    ck_assert_ptr_null(strstr(tool.out, "'~*'"));
    run("nodes --new-deployment --yes --prefix app:", 0);
    expect_out("deployment: prefix 'app:', max_ttl 1m\n");
}

static void setup_renamed(void)
{
    const char *const renamed[] = {"--rename-command", "SET", "x", NULL};
    const struct masters_options options = {.count = N, .extra_args = renamed};

    setup_with(&options);
}

GROUP(renamed_tests, "a renamed command", setup_renamed, teardown)

TEST(renamed_tests, a_command_that_was_renamed_is_no_right_that_is_missing)
{
    run("nodes --new-deployment --yes", 1);
    expect_out("it does not know: SET.");
    expect_out("rename-command in its redis.conf");
    expect_out("no safe quorum: 0 of 3 masters vote (2 needed)");
    ck_assert_ptr_null(strstr(tool.out, "ACL SETUSER"));
    run("lock job", 3);
}

static bool was_denied(size_t master, const char *command)
{
    char *reply = masters_command(masters, master, (const char *const[]){"ACL", "LOG", NULL});
    bool denied;

    ck_assert_msg(reply != NULL, "%s", masters_error());
    denied = strstr(reply, command) != NULL;
    free(reply);
    return denied;
}

static void allow_extensions(bool allowed)
{
    for (size_t i = 0; i < N; i++)
        ask_expect(masters, i, allowed ? "ACL SETUSER locker +pexpire" : "ACL SETUSER locker -pexpire", "OK");
}

/* What was handed off has a short lease at first. It may take several extensions until a majority has granted one:
 * that is no reason to give the lock up. */
TEST(rights_tests, a_lock_that_was_handed_over_is_extended_until_a_majority_does)
{
    struct tool waiter;
    struct token first;

    use_locker(LEAVE_NONE);
    tool_run(&tool, "nodes --new-deployment --yes --prefix app:");
    first = enter_queue(&waiter);
    allow_extensions(false);
    unlock(first);
    while (!was_denied(0, "pexpire"))
        continue;
    allow_extensions(true);
    tool_expect_end(&waiter, 0);
    unlock(printed_by(&waiter));
}

/* What the manual prints, without its line breaks. */
TEST(rights_tests, the_advised_rights_are_those_of_the_manual)
{
    char page[65536];
    char rights[1024] = "";
    FILE *file = fopen(manual, "r");
    char *begin, *end;

    ck_assert_ptr_nonnull(file);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    begin = strstr(page, "-@all\n");
    ck_assert_ptr_nonnull(begin);
    end = strstr(begin, "\n.Ed\n");
    ck_assert_ptr_nonnull(end);
    *end = '\0';
    for (char *word = strtok(begin + strlen("-@all"), " \n"); word; word = strtok(NULL, " \n"))
        strcat(strcat(rights, *rights != '\0' ? " " : ""), word);
    ck_assert_str_eq(rights, ADVICE_RIGHTS);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return EXIT_FAILURE;
    tool_set_path(argv[1]);
    manual = argv[2];
    setenv("LC_ALL", "C", 1);
    return suite_run_with_server(suite_collect("rights"));
}
