/* `redlock latch` on real masters. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "run_rig.h"
#include "suite.h"

#define OF_TWO " --parties 2 --generation 7"

static void run(int exit_code, const char *line)
{
    tool_expect_run(&tool, line, exit_code);
}

/* `party`: an option, or NULL. */
static void start_await(struct tool *waiting, const char *generation, const char *party)
{
    tool_start(waiting, WORDS("latch", "await", "ready", "--parties", "2", "--generation", generation, "--wait", "60s",
                              party));
}

static void expect_open(struct tool *waiting)
{
    tool_expect_end(waiting, 0);
    ck_assert_str_eq(waiting->out, "");
    ck_assert_str_eq(waiting->err, "");
}

/* --- How it opens ------------------------------------------------------------------------------------------------- */

GROUP(opening, "opening", locks_open, locks_close)

TEST(opening, a_latch_opens_when_all_have_arrived)
{
    struct tool waiting;

    start_await(&waiting, "7", NULL);
    run(0, "latch arrive ready --party east" OF_TWO);
    run(1, "latch await ready --wait 0" OF_TWO);
    ck_assert_ptr_nonnull(strstr(tool.err, "'ready' is not open: 1 of 2 parties are known to have arrived"));
    run(0, "latch arrive ready --party east" OF_TWO); /* once more is not one more */
    run(1, "latch await ready --wait 0" OF_TWO);
    run(0, "latch arrive ready --party west" OF_TWO);
    expect_open(&waiting);
    run(0, "latch await ready" OF_TWO);
    run(0, "status ready --latch");
}

/* Each arrives and waits; the round after it is another one. */
TEST(opening, parties_that_await_are_a_barrier)
{
    struct tool parties[2];

    for (size_t round = 0; round < 2; round++) {
        start_await(&parties[0], round ? "8" : "7", "--party=east");
        start_await(&parties[1], round ? "8" : "7", "--party=west");
        expect_open(&parties[0]);
        expect_open(&parties[1]);
    }
}

TEST(opening, the_answer_is_a_document)
{
    run(0, "latch arrive ready --party east --json" OF_TWO);
    ck_assert_ptr_nonnull(strstr(tool.out, "{\"schema\":1,\"key\":\"ready\",\"status\":\"REDLOCK_OK\""));
    ck_assert_ptr_nonnull(strstr(tool.out, "\"generation\":\"7\",\"parties\":2,\"party\":\"east\","
                                           "\"arrived\":[\"east\"]"));
    run(1, "latch await ready --json --wait 0" OF_TWO);
    ck_assert_ptr_nonnull(strstr(tool.out, "\"status\":\"REDLOCK_DEADLINE\""));
    ck_assert_ptr_nonnull(strstr(tool.out, "\"answered\":true,\"recorded\":false,\"open\":false"));
    ck_assert_uint_eq(strcspn(tool.out, "\n") + 1, strlen(tool.out));
}

TEST(opening, a_signal_ends_the_wait)
{
    struct tool waiting;

    start_await(&waiting, "7", "--party=east");
    do {
        tool_run(&tool, "status ready --latch --json");
    } while (!strstr(tool.out, "\"arrived\":[\"east\"]"));
    kill(waiting.pid, SIGTERM);
    tool_finish(&waiting);
    ck_assert_int_eq(waiting.signal, SIGTERM);
    run(0, "latch arrive ready --party west" OF_TWO);
    run(0, "latch await ready" OF_TWO); /* what had arrived stays so */
}

/* --- What is wrong ------------------------------------------------------------------------------------------------ */

GROUP(refusing, "refusing", locks_open, locks_close)

TEST(refusing, other_parties_and_generations_are_refused)
{
    run(0, "latch arrive ready --party east" OF_TWO);
    run(2, "latch arrive ready --party north --parties 3 --generation 7");
    ck_assert_ptr_nonnull(strstr(tool.err, "no arrival at 'ready': the latch has another number of parties"));
    run(2, "latch await ready --parties 3 --generation 7 --wait 1s");
    run(1, "latch arrive ready --party east --parties 2 --generation 8");
    ck_assert_ptr_nonnull(strstr(tool.err, "an earlier generation of the latch has not opened"));
    run(0, "latch arrive ready --party west" OF_TWO);
    run(2, "latch arrive ready --party north" OF_TWO); /* two others have arrived */
    run(0, "latch await ready" OF_TWO);
    run(0, "latch arrive ready --party east --parties 2 --generation 8");
    run(0, "latch await ready" OF_TWO); /* the one before stays open */
    run(1, "latch await ready --parties 2 --generation 6 --wait 1s");
}

/* The largest ones are numbers like others, and the order is that of the numbers. */
TEST(refusing, a_generation_is_any_number_of_64_bits)
{
    run(0, "latch arrive ready --party east --parties 1 --generation 9223372036854775808");
    run(0, "latch await ready --parties 1 --generation 9223372036854775808");
    run(0, "latch arrive ready --party east --parties 1 --generation 18446744073709551615 --json");
    ck_assert_ptr_nonnull(strstr(tool.out, "\"generation\":\"18446744073709551615\""));
    run(0, "latch await ready --parties 1 --generation 18446744073709551615");
    run(2, "latch await ready --parties 1 --generation 18446744073709551616");
    ck_assert_ptr_nonnull(strstr(tool.err, "--generation: 18446744073709551616 is too much (at most "
                                           "18446744073709551615)"));
    run(2, "latch await ready --parties 1");
    ck_assert_ptr_nonnull(strstr(tool.err, "--generation is missing"));
}

/* One master is silent, one is dead, and then another. */
TEST(refusing, a_minority_of_masters_may_be_missing)
{
    tool_set_node_timeout("2s");
    ck_assert(masters_hang(masters, 0));
    run(0, "latch arrive ready --party east" OF_TWO);
    ck_assert(masters_kill(masters, 1));
    run(0, "latch await ready --party west" OF_TWO);
    ck_assert(masters_kill(masters, 2));
    run(3, "latch arrive ready --party east --parties 2 --generation 8");
    ck_assert_ptr_nonnull(strstr(tool.err, "no arrival at 'ready': 2 of 5 masters can be reached"));
    run(3, "latch await ready --parties 2 --generation 8 --wait 1s");
    ck_assert_ptr_nonnull(strstr(tool.err, "'ready' is not open: 2 of 5 masters can be reached"));
    ck_assert(masters_resume(masters, 0));
    run(0, "latch arrive ready --party east --wait 30s --parties 2 --generation 8");
}

static const struct {
    const char *line;
    const char *message;
} wrong[] = {
    {"latch", "arrive|await is missing"},
    {"latch arrive", "NAME is missing"},
    {"latch go ready" OF_TWO, "'go' is neither 'arrive' nor 'await'"},
    {"latch arrive ready" OF_TWO, "--party is missing"},
    {"latch await ready --generation 7", "--parties is missing"},
    {"latch await ready --parties 2", "--generation is missing"},
    {"latch await ready --parties 1001 --generation 7", "--parties: 1001 is too much (at most 1000)"},
    {"latch await ready --parties 2 --generation -1", "--generation: '-1' is not a whole number"},
    {"latch arrive ready --party a\x01" OF_TWO, "names of 1 to 64 printable characters"},
    {"latch await ready --keep 59s" OF_TWO, "--keep 59s is below --max-ttl, in which what is known is repeated (1m)"},
    {"latch await ready west" OF_TWO, "unexpected argument 'west'"},
    {"latch await ready -q -v" OF_TWO, "--verbose and --quiet exclude each other"},
};

TESTS(refusing, wrong_usage_is_2, 0, sizeof wrong / sizeof wrong[0])
{
    run(2, wrong[_i].line);
    ck_assert_msg(strstr(tool.err, wrong[_i].message) != NULL, "'%s' says: %s", wrong[_i].line, tool.err);
}

int main(int argc, char **argv)
{
    return tool_run_suite(argc, argv, suite_collect("latch"));
}
