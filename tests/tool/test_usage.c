/* What the command says, and its exit codes, where no master is needed. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"
#include "tool.h"

#define MASTERS " --nodes 127.0.0.1:1,127.0.0.1:2,127.0.0.1:3"

static struct tool tool;

static void expect_usage_error(const char *line, const char *message)
{
    tool_expect_run(&tool, line, 2);
    ck_assert_msg(strstr(tool.err, message) != NULL, "'%s' says:\n%s", line, tool.err);
    ck_assert_msg(strncmp(tool.err, "redlock: ", 9) == 0, "'%s' says:\n%s", line, tool.err);
    ck_assert_str_eq(tool.out, "");
}

GROUP(words, "words", NULL, NULL)

TEST(words, every_command_explains_itself)
{
    static const char *const names[] = {"run",   "lock",   "extend", "unlock", "check",
                                        "break", "status", "latch",  "nodes",  "demo", "ls"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *const asked[][4] = {
            {"help", names[i], NULL},
            {names[i], "-h", NULL},
            {names[i], "--hel", NULL},
            {names[i], "--help", "x", NULL},
        };
        char usage[64];

        snprintf(usage, sizeof usage, "Usage: redlock %s", names[i]);
        for (size_t j = 0; j < sizeof asked / sizeof asked[0]; j++) {
            tool_start(&tool, asked[j]);
            tool_expect_end(&tool, 0);
            ck_assert_msg(strncmp(tool.out, usage, strlen(usage)) == 0, "%s", tool.out);
            ck_assert_str_eq(tool.err, "");
        }
    }
}

TEST(words, help_fits_a_terminal_of_80_columns)
{
    static const char *const lines[] = {"--help",       "run --help",   "lock --help",   "extend --help",
                                        "unlock --help", "check --help", "break --help",  "status --help",
                                        "latch --help",  "nodes --help",  "demo --help",   "help masters"};

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        tool_run(&tool, lines[i]);
        for (const char *line = tool.out; *line != '\0'; line += strcspn(line, "\n") + 1)
            ck_assert_msg(strcspn(line, "\n") <= 80, "%s: %.*s", lines[i], (int)strcspn(line, "\n"), line);
    }
}

TEST(words, the_command_lists_its_commands)
{
    tool_expect_run(&tool, "--help", 0);
    ck_assert_ptr_nonnull(strstr(tool.out, "  unlock "));
    tool_expect_run(&tool, "", 2);
    ck_assert_str_eq(tool.out, "");
    ck_assert_ptr_nonnull(strstr(tool.err, "Usage: redlock COMMAND"));
}

/* With the fewest the loader fails. libevent would end the process with 1, which is somebody else's lock. */
TEST(words, too_few_descriptors_for_a_loop_are_3)
{
    const char *command = tool_path();
    bool refused = false;

    for (int n = 3; n <= 16; n++) {
        char script[120];

        snprintf(script, sizeof script, "ulimit -n %d; exec \"$0\" lock k" MASTERS, n);
        tool_set_path("/bin/sh");
        tool_start(&tool, (const char *const[]){"-c", script, command, NULL});
        tool_set_path(command);
        tool_finish(&tool);
        ck_assert_msg(tool.exit_code == 3 || tool.exit_code == 127, "%d descriptors: %s", n, tool.err);
        refused = refused || strcmp(tool.err, "redlock: lock: the system refuses an event loop\n") == 0;
    }
    ck_assert(refused);
}

TEST(words, help_explains_itself)
{
    static const char *const lines[] = {"help", "help help", "help --help", "help -h"};

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        tool_expect_run(&tool, lines[i], 0);
        ck_assert_ptr_nonnull(strstr(tool.out, "Usage: redlock COMMAND"));
    }
}

TEST(words, version_names_tool_and_library)
{
    tool_expect_run(&tool, "--version", 0);
    ck_assert_int_eq(strncmp(tool.out, "redlock ", 8), 0);
    ck_assert_ptr_nonnull(strstr(tool.out, "(library "));
}

static const struct {
    const char *line;
    const char *message;
} wrong[] = {
    {"fly", "redlock: unknown command 'fly'"},
    {"help fly", "redlock: unknown command 'fly'"},
    {"help lock k", "redlock: unexpected argument 'k'"},
    {"masters", "redlock: unknown command 'masters'"},
    {"--fly lock", "redlock: unknown option '--fly'"},
    {"--version x", "redlock: unexpected argument 'x'"},
    {"lock", "redlock: lock: KEY is missing"},
    {"lock k --fly" MASTERS, "redlock: lock: unknown option '--fly'"},
    {"lock k -x" MASTERS, "redlock: lock: unknown option '-x'"},
    {"lock k --node-t", "redlock: lock: option '--node-t' needs an argument"},
    {"lock k --m 1ms" MASTERS, "redlock: lock: ambiguous option '--m'"},
    {"lock k --ttl", "redlock: lock: option '--ttl' needs an argument"},
    {"lock k --json=yes" MASTERS, "redlock: lock: option '--json' takes no argument"},
    {"lock k --ttl 5x" MASTERS, "'5x' is not a duration"},
    {"lock k --ttl -5" MASTERS, "'-5' is not a duration"},
    {"lock k --ttl 300" MASTERS, "redlock: lock: --ttl: 300 what? Write 300ms or 300s"},
    {"lock k -t 1.5" MASTERS, "redlock: lock: --ttl: 1.5 what? Write 1.5s or 1.5m"},
    {"lock k --wait 5" MASTERS, "--wait: 5 what?"},
    {"lock k --node-timeout 500" MASTERS, "--node-timeout: 500 what?"},
    {"lock k --max-ttl 60" MASTERS, "--max-ttl: 60 what?"},
    {"lock k --min-validity 5" MASTERS, "--min-validity: 5 what?"},
    {"extend f --ttl 5" MASTERS, "--ttl: 5 what?"},
    {"check f --at-least 5", "--at-least: 5 what?"},
    {"demo --node-timeout 500", "--node-timeout: 500 what?"},
    {"lock k --ttl 5.5ms" MASTERS, "'5.5ms' is not a whole number of milliseconds"},
    {"lock k --ttl 1.00000001s" MASTERS, "1.00000001s is not a whole number of microseconds"},
    {"lock k --ttl 99999999h" MASTERS, "--ttl: 99999999h is too much (at most 1d)"},
    {"lock k --ttl 99999999999999999999s" MASTERS, "--ttl: 99999999999999999999s is too much"},
    {"lock k --wait ever" MASTERS, "or 'forever'"},
    {"lock k --ttl 0" MASTERS, "redlock: lock: --ttl: 0 is too little (at least 5ms)"},
    {"lock k --ttl 2m" MASTERS, "--ttl 2m is above --max-ttl, the limit for all users of the masters (1m)"},
    {"lock k --min-validity 30s" MASTERS, "--min-validity must be less than --ttl, 30s"},
    {"lock k --node-timeout 0" MASTERS, "--node-timeout: 0 is too little (at least 1ms)"},
    {"lock k --max-ttl 2d" MASTERS, "--max-ttl: 2d is too much (at most 1d)"},
    {"lock k -qv" MASTERS, "redlock: lock: --verbose and --quiet exclude each other"},
    {"extend f -q -v" MASTERS, "redlock: extend: --verbose and --quiet exclude each other"},
    {"unlock k t --quiet --verbose" MASTERS, "redlock: unlock: --verbose and --quiet exclude each other"},
    {"lock k other" MASTERS, "redlock: lock: unexpected argument 'other'; write --key before each of several keys"},
    {"lock -k other k" MASTERS, "redlock: lock: two keys are given: 'k' and --key 'other'; write --key before each"},
    {"lock -k k -k other --permits 1/2" MASTERS, "redlock: lock: --permits takes one key"},
    {"lock -k k --permits 1/2 --shared" MASTERS, "redlock: lock: --permits and --shared exclude each other"},
    {"status k other" MASTERS, "redlock: status: unexpected argument 'other': only one key is possible"},
    {"lock k", "redlock: lock: no masters given"},
    {"lock k --nodes a,,b", "redlock: lock: --nodes: empty item in the list of masters"},
    {"lock k --nodes a,b,a:6379", "masters 1 and 3 are the same"},
    {"lock k --node http://a", "redlock: lock: master 1"},
    {"unlock k" MASTERS, "redlock: unlock: TOKEN is missing"},
    {"unlock" MASTERS, "redlock: unlock: KEY is missing"},
    {"unlock k --token-file f" MASTERS, "redlock: unlock: --token-file stands for KEY and TOKEN"},
    {"extend" MASTERS, "redlock: extend: FILE is missing"},
    {"extend f", "redlock: extend: no masters given"},
    {"check a b", "redlock: check: unexpected argument 'b'"},
    {"check", "redlock: check: FILE is missing"},
    {"check f --json -q", "redlock: check: --json and --quiet exclude each other"},
    {"check f" MASTERS, "redlock: check: unknown option '--nodes'"},
    {"break" MASTERS, "redlock: break: KEY is missing"},
    {"break k" MASTERS, "add --yes"},
    {"break k --yes", "redlock: break: no masters given"},
    {"unlock k t --ttl 5s" MASTERS, "redlock: unlock: unknown option '--ttl'"},
    {"unlock k t", "redlock: unlock: no masters given"},
    {"status" MASTERS, "redlock: status: KEY is missing"},
    {"status k --wait 1s" MASTERS, "redlock: status: unknown option '--wait'"},
    {"status k", "redlock: status: no masters given"},
    {"ls", "redlock: ls: no masters given"},
    {"ls a b" MASTERS, "redlock: ls: unexpected argument 'b'"},
    {"ls a[" MASTERS, "'[' in PATTERN has no ']': '\\[' is the character itself"},
    {"ls a\\" MASTERS, "PATTERN ends with '\\', behind which a character means itself: '\\\\' is a backslash"},
    {"ls --sort age" MASTERS, "--sort: 'age' is not one of wait, hold, name"},
    {"ls --rate 0" MASTERS, "--rate: 0 is too little (at least 1)"},
    {"status k 127.0.0.1:1", "'127.0.0.1:1'; masters are named by an option: --nodes 127.0.0.1:1"},
    {"status k redis://me:secret@a", "masters are named by an option: --nodes redis://me:***@a"},
    {"nodes /run/redis.sock", "masters are named by an option: --nodes /run/redis.sock"},
    {"check f a:1", "redlock: check: unexpected argument 'a:1'\n"},
    {"lock k -t" MASTERS, "is not a duration"},
    {"lock k -w" , "redlock: lock: option '-w' needs an argument"},
    {"lock k --profile safe" MASTERS, "--profile: 'safe' is not one of guarded, classic"},
    {"lock k --quorum two" MASTERS, "'two' is not a whole number"},
    {"lock k --quorum 4294967296" MASTERS, "--quorum: 4294967296 is too much"},
    {"lock k --quorum 0" MASTERS, "redlock: lock: --quorum: 0 is too little (at least 1)"},
    {"lock k --quorum 1" MASTERS, "quorum"},
    {"lock k --prefix 12345678901234567890123456789012345678901234567890123456789012345" MASTERS, "prefix"},
    {"nodes k" MASTERS, "redlock: nodes: unexpected argument 'k'"},
    {"nodes", "redlock: nodes: no masters given"},
    {"nodes --profile classic" MASTERS, "redlock: nodes: unknown option '--profile'"},
    {"nodes --quorum 4" MASTERS, "quorum"},
    {"nodes --yes" MASTERS, "--yes goes with --new-deployment, --max-ttl and a change of the masters only"},
    {"nodes --force" MASTERS, "--force goes with --new-deployment only"},
    {"nodes --new-deployment" MASTERS, "standard input is none: add --yes"},
    {"demo now", "redlock: demo: unexpected argument 'now'"},
    {"demo --ttl 5s", "redlock: demo: unknown option '--ttl'"},
    {"demo --nodes a,a", "redlock: demo: masters 1 and 2 are the same"},
    {"bench", "redlock: 'bench' is a command of redlock-lab now: 'redlock-lab bench' "},
    {"failover --all", "'redlock-lab failover' "},
    {"engine --help", "'redlock-lab engine' "},
    {"help bench", "'redlock-lab bench' "},
};

TESTS(words, wrong_usage_is_named_and_exits_with_2, 0, sizeof wrong / sizeof wrong[0])
{
    expect_usage_error(wrong[_i].line, wrong[_i].message);
}

TEST(words, a_password_never_reaches_an_error_message)
{
    static const char *const lines[] = {
        "lock k --node redis://me:secret@host:port", "lock k --nod=redis://me:secret@host --fly=redis://me:secret@host",
        "lock k redis://me:secret@host", "lock k --nodes redis://me:secret@host,,b",
    };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        tool_expect_run(&tool, lines[i], 2);
        ck_assert_msg(!strstr(tool.err, "secret"), "%s", tool.err);
    }
}

TEST(words, an_empty_key_is_refused_by_every_command)
{
    const char *const lines[][6] = {
        {"lock", "", "--node", "127.0.0.1:1", NULL},
        {"unlock", "", "token", "--node", "127.0.0.1:1", NULL},
        {"status", "", "--node", "127.0.0.1:1", NULL},
        {"break", "", "--yes", "--node", "127.0.0.1:1", NULL},
    };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        tool_start(&tool, lines[i]);
        tool_expect_end(&tool, 2);
        ck_assert_ptr_nonnull(strstr(tool.err, "the key is empty"));
    }
}

TEST(words, a_terminal_gets_no_commands_from_wrong_words)
{
    const char *const lines[][4] = {
        {"a\033[31mb", NULL},
        {"--a\033[31mb", NULL},
        {"help", "a\033[31mb", NULL},
        {"help", "lock", "a\033[31mb", NULL},
    };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        tool_start(&tool, lines[i]);
        tool_expect_end(&tool, 2);
        ck_assert_msg(strstr(tool.err, "a\\x1b[31mb'") != NULL, "%s", tool.err);
        ck_assert_ptr_null(strchr(tool.err, '\033'));
    }
}

GROUP(masters, "masters", NULL, NULL)

TEST(masters, masters_that_cannot_be_reached_are_no_usage_error)
{
    tool_expect_run(&tool, "lock k" MASTERS, 3);
    ck_assert_ptr_nonnull(strstr(tool.err, "0 of 3 masters can be reached (2 needed)"));
    ck_assert_str_eq(tool.out, "");
    tool_expect_run(&tool, "unlock k token" MASTERS, 3);
    tool_expect_run(&tool, "status k" MASTERS, 3);
    ck_assert_ptr_nonnull(strstr(tool.out, "unknown: only 0 of 3 masters answered"));
    tool_expect_run(&tool, "nodes --new-deployment --yes" MASTERS, 3);
    ck_assert_ptr_nonnull(strstr(tool.err, "no master answers: nothing is declared"));
    tool_expect_run(&tool, "nodes" MASTERS, 3);
    ck_assert_ptr_nonnull(strstr(tool.out, "unknown: only 0 of 3 masters answered"));
}

TEST(masters, the_environment_names_masters)
{
    setenv("REDLOCK_NODES", "127.0.0.1:1,unix:/nowhere", 1);
    tool_run(&tool, "status k");
    unsetenv("REDLOCK_NODES");
    tool_expect(&tool, 3);
    ck_assert_ptr_nonnull(strstr(tool.out, "127.0.0.1:1 "));
    ck_assert_ptr_nonnull(strstr(tool.out, "/nowhere "));
}

/* A file of masters says what all users must have in common, the environment as well, and an option comes first. */
TEST(masters, what_all_must_have_in_common_is_found_in_the_file_and_the_environment)
{
    char path[] = "/tmp/redlock-nodes-XXXXXX", line[128];
    FILE *file = fdopen(mkstemp(path), "w");

    fputs("\xef\xbb\xbf# masters\r\n127.0.0.1:1 127.0.0.1:2,127.0.0.1:3\r\nprefix=app: quorum=3\nmax-ttl=20s\n", file);
    fclose(file);
    snprintf(line, sizeof line, "lock k --nodes-file %s", path);
    setenv("REDLOCK_QUORUM", "2", 1);
    tool_run(&tool, line);
    ck_assert_ptr_nonnull(strstr(tool.err, "--ttl 30s is above --max-ttl, the limit for all users of the masters "
                                           "(20s)"));
    snprintf(line, sizeof line, "nodes --nodes-file %s", path);
    tool_run(&tool, line);
    ck_assert_ptr_nonnull(strstr(tool.out, "only 0 of 3 masters answered (3 needed)"));
    ck_assert_ptr_nonnull(strstr(tool.out, "prefix 'app:'"));
    file = fopen(path, "w");
    fputs("127.0.0.1:1 127.0.0.1:2 127.0.0.1:3 quorum=2 max_ttl=20s\n", file);
    fclose(file);
    tool_expect_run(&tool, line, 2);
    ck_assert_ptr_nonnull(strstr(tool.err, "says 'max_ttl=': that is none of prefix=, quorum= and max-ttl="));
    unlink(path);
    setenv("REDLOCK_PREFIX", "env:", 1);
    setenv("REDLOCK_QUORUM", " 3\n", 1);
    tool_run(&tool, "nodes" MASTERS);
    ck_assert_ptr_nonnull(strstr(tool.out, "prefix 'env:'"));
    ck_assert_ptr_nonnull(strstr(tool.out, "(3 needed)"));
    tool_run(&tool, "nodes --quorum 2 --prefix opt:" MASTERS);
    ck_assert_ptr_nonnull(strstr(tool.out, "prefix 'opt:'"));
    ck_assert_ptr_nonnull(strstr(tool.out, "(2 needed)"));
    setenv("REDLOCK_MAX_TTL", "30", 1);
    tool_expect_run(&tool, "nodes" MASTERS, 2);
    ck_assert_ptr_nonnull(strstr(tool.err, "so says REDLOCK_MAX_TTL"));
    unsetenv("REDLOCK_MAX_TTL");
    unsetenv("REDLOCK_PREFIX");
    unsetenv("REDLOCK_QUORUM");
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return EXIT_FAILURE;
    tool_set_path(argv[1]);
    tool_set_input(open("/dev/null", O_RDONLY));
    unsetenv("REDLOCK_NODES");
    return suite_run(suite_collect("usage"));
}
