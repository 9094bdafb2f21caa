/* Every exit code of `redlock run`, on real masters. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_rig.h"
#include "suite.h"

GROUP(codes_tests, "exit codes", locks_open, locks_close)

TESTS(codes_tests, the_commands_exit_code_is_passed_on, 0, 4)
{
    static const int codes[] = {0, 1, 77, 255};
    char script[16];

    snprintf(script, sizeof script, "exit %d", codes[_i]);
    rig_run(codes[_i], WORDS(SH(script)));
    rig_expect_free();
}

TEST(codes_tests, redlock_dies_by_the_signal_that_its_command_has_died_of)
{
    static const int numbers[] = {SIGTERM, SIGKILL, SIGINT, SIGSEGV};
    char script[32];

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        snprintf(script, sizeof script, "kill -%d $$", numbers[i]);
        tool_start(&tool, WORDS("run", "--key", "job", SH(script)));
        tool_finish(&tool);
        tool_expect_signal(&tool, numbers[i]);
    }
    rig_expect_free();
}

TEST(codes_tests, a_lock_that_another_has_is_124_and_starts_nothing)
{
    locks_lock();
    rig_run(124, WORDS("touch", rig_path("started")));
    ck_assert_ptr_nonnull(strstr(tool.err, "redlock: 'job' is held by another: nothing was run"));
    rig_run(124, WORDS("--wait", "1s", "touch", rig_path("started")));
    ck_assert_int_ne(access(rig_path("started"), F_OK), 0);
}

TEST(codes_tests, busy_can_be_a_success_or_any_code)
{
    locks_lock();
    rig_run(0, WORDS("--on-busy", "skip", "touch", rig_path("started")));
    ck_assert_str_eq(tool.err, "");
    rig_run(0, WORDS("--on-busy", "skip", "--status", "true"));
    ck_assert_ptr_nonnull(strstr(tool.err, "redlock: 'job' is held by another: nothing was run"));
    rig_run(9, WORDS("--busy-exit-code", "9", "touch", rig_path("started")));
    ck_assert_ptr_nonnull(strstr(tool.err, "redlock: 'job' is held by another: nothing was run"));
    rig_run(9, WORDS("--busy-exit-code", "9", "--quiet", "true"));
    ck_assert_str_eq(tool.err, "");
    ck_assert_int_ne(access(rig_path("started"), F_OK), 0);
}

TEST(codes_tests, masters_that_are_down_are_122)
{
    for (size_t i = 0; i < 3; i++)
        ck_assert(masters_kill(masters, i));
    rig_run(122, WORDS("--wait", "1s", "touch", rig_path("started")));
    ck_assert_ptr_nonnull(strstr(tool.err, "of 5 masters can be reached (3 needed)"));
    ck_assert_int_ne(access(rig_path("started"), F_OK), 0);
    rig_expect_free();
}

TEST(codes_tests, masters_that_hang_are_122)
{
    for (size_t i = 0; i < 5; i++)
        ck_assert(masters_hang(masters, i));
    rig_run(122, WORDS("--node-timeout", "100ms", "true"));
}

TEST(codes_tests, a_lost_lock_is_123)
{
    rig_run(123, WORDS("--no-renew", "--ttl", "3s", "sleep", "60"));
    ck_assert_ptr_nonnull(strstr(tool.err, "'job' could not be renewed: the command is warned"));
}

TEST(codes_tests, a_command_that_cannot_be_executed_is_126_and_one_that_is_missing_127)
{
    rig_run(126, WORDS("/"));
    ck_assert_ptr_nonnull(strstr(tool.err, "cannot run '/': "));
    rig_run(127, WORDS("no-such-command-anywhere"));
    ck_assert_ptr_nonnull(strstr(tool.err, "cannot run 'no-such-command-anywhere': "));
    rig_expect_free();
}

#define EIGHT(k) " -k" k "1 -k" k "2 -k" k "3 -k" k "4 -k" k "5 -k" k "6 -k" k "7 -k" k "8"

static const struct {
    const char *line;
    const char *message;
} wrong[] = {
    {"run", "KEY is missing"},
    {"run true", "COMMAND is missing: write it behind '--'"},
    {"run --key job", "COMMAND is missing"},
    {"run --key job --", "COMMAND is missing"},
    {"run job", "COMMAND is missing: write it behind '--'"},
    {"run job --", "COMMAND is missing: write it behind '--'"},
    {"run job true", "write '--' between 'job' and the command 'true'"},
    {"run job -v true -- x", "write '--' between 'job' and the command 'true'"},
    {"run -- true", "KEY is missing"},
    {"run true --key job", "two keys are given: 'true' and --key 'job'; write --key before each of several"},
    {"run --key job -k other -k job true", "--key 'job' is given twice"},
    {"run" EIGHT("a") EIGHT("b") EIGHT("c") EIGHT("d") EIGHT("e") EIGHT("f") EIGHT("g") EIGHT("h") " -k one true",
     "--key: only 64 are possible, and 'one' is one more"},
    {"run -k job -k other --no-renew true", "--no-renew takes one key"},
    {"run -k job -k other --permits 1/2 true", "--permits takes one key"},
    {"run -k job -k other --permits 2/2 true", "--permits takes one key"},
    {"run -k job --permits 2/2 --no-renew true", "--no-renew takes one permit"},
    {"run -k job --permits 1/2 --shared true", "--permits and --shared exclude each other"},
    {"run -k job --permits 2/2 --shared true", "--permits and --shared exclude each other"},
    {"run -k job --permits 3/2 true", "'3/2' is not N/K"},
    {"run -k job --permits 0/2 true", "'0/2' is not N/K"},
    {"run -k job --permits 65/80 true", "'65/80' is not N/K"},
    {"run -k job --permits 2/ true", "'2/' is not N/K"},
    {"run -k job --permits 2 true", "'2' is not N/K"},
    {"run job -k other -- true", "two keys are given: 'job' and --key 'other'"},
    {"run -k job -k other --lock-file /nowhere/at/all true", "cannot write '/nowhere/at/all'"},
    {"run --fly true", "unknown option '--fly'"},
    {"run -x true", "unknown option '-x'"},
    {"run --key job --ttl -5 true", "'-5' is not a duration"},
    {"run --key job --ttl 0 true", "--ttl: 0 is too little (at least 1ms)"},
    {"run --key job --ttl 300 true", "--ttl: 300 what? Write 300ms or 300s"},
    {"run --key job --ttl 30ms true", "--ttl must be at least 84ms"},
    {"run --key job --ttl 83ms true", "--ttl must be at least 84ms"},
    {"run --key job --ttl 2m true", "--ttl 2m is above --max-ttl, the limit for all users of the masters (1m)"},
    {"run --key job --wait -1 true", "'-1' is not a duration"},
    {"run --key job --kill-after 15s true", "--kill-after must be less than half of --ttl"},
    {"run --key job --kill-after 500ms true", "--kill-after must be more than 1s"},
    {"run --key job --kill-after 500ms --kill-margin 500ms true", "--kill-after must be more than --kill-margin"},
    {"run --key job --hold-at-least 2m true", "--hold-at-least 2m is above --max-ttl (1m)"},
    {"run --key job --kill-margin 0 true", "--kill-margin: 0 is too little (at least 1ms)"},
    {"run --key job --kill-margin 8s true", "--kill-margin must be less than a quarter"},
    {"run --key job --on-lost kill --kill-after 3s true", "--on-lost kill gives no warning"},
    {"run --key job --on-lost weep true", "'weep' is not one of"},
    {"run --key job --on-lost signal=SIGNOTHING true", "is not one of"},
    {"run --key job --on-lost exec= true", "is not one of"},
    {"run --key job --on-busy weep true", "'weep' is not one of fail, skip"},
    {"run --key job --busy-exit-code 256 true", "--busy-exit-code: 256 is too much (at most 255)"},
    {"run --key job --on-busy skip --busy-exit-code 1 true", "exclude each other"},
    {"run --key job --quiet --status true", "--quiet excludes"},
    {"run --key job --nodes a,,b true", "empty item"},
    {"run --key job --nodes-file /nowhere/at/all true", "cannot read '/nowhere/at/all'"},
    {"run --key job --nodes-file / true", "cannot read '/': Is a directory"},
    {"run --key job --nodes-file /dev/zero true", "cannot read '/dev/zero': it is too large"},
    {"run --key job --nodes-file /proc/self/environ true", "cannot read '/proc/self/environ': it is no text"},
    {"run --key job --password-file /nowhere/at/all true", "cannot read '/nowhere/at/all'"},
};

TESTS(codes_tests, wrong_usage_is_125, 0, sizeof wrong / sizeof wrong[0])
{
    tool_expect_run(&tool, wrong[_i].line, 125);
    ck_assert_msg(strstr(tool.err, wrong[_i].message) != NULL, "'%s' says:\n%s", wrong[_i].line, tool.err);
    ck_assert_str_eq(tool.out, "");
}

static void run_with_key(const char *key)
{
    tool_start(&tool, WORDS("run", "--key", key, "true"));
    tool_expect_end(&tool, 125);
}

TEST(codes_tests, a_key_that_cannot_be_one_is_125)
{
    static char too_long[5000];

    memset(too_long, 'k', sizeof too_long - 1);
    run_with_key("");
    ck_assert_str_eq(tool.err, "redlock: run: the key is empty\nTry 'redlock run --help'.\n");
    run_with_key(too_long);
    ck_assert_str_eq(tool.err, "redlock: run: the key is too long\nTry 'redlock run --help'.\n");
}

TEST(codes_tests, no_masters_are_125)
{
    unsetenv("REDLOCK_NODES");
    rig_run(125, WORDS("true"));
    ck_assert_ptr_nonnull(strstr(tool.err, "no masters given"));
}

TEST(codes_tests, options_end_at_the_command)
{
    const char *const operand[] = {"run", "-t", "20s", "job", "-q", "--", "sh", "-c", "echo $REDLOCK_KEY $*", "x", "-v",
                                   "--", NULL};
    const char *const option[] = {"run", "-q", "-k", "job", "--", "echo", "--", NULL};

    tool_start(&tool, operand);
    tool_expect_end(&tool, 0);
    ck_assert_str_eq(tool.out, "job -v --\n");
    tool_start(&tool, option);
    tool_expect_end(&tool, 0);
    ck_assert_str_eq(tool.out, "--\n");
    rig_run(0, WORDS("echo", "--ttl", "-v", "--"));
    ck_assert_str_eq(tool.out, "--ttl -v --\n");
    rig_run(0, WORDS("--", SH("echo $0"), "--help"));
    ck_assert_str_eq(tool.out, "--help\n");
}

int main(int argc, char **argv)
{
    return tool_run_suite(argc, argv, suite_collect("run-codes"));
}
