/* Repairs (rule 4.6) of locks that are given up: what was given back is released, and then nothing is given back
 * any more. Held since t = 0, ttl 1000. */
#include <string.h>

#include "core_harness.h"
#include "suite.h"

/* Master 0 has refused the claim, and was given the key later. */
static struct core *start_repaired(const char *answer)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request();

    core_acquire(core, &request);
    core_answers(core, "rgg");
    core_extend(core, 0);
    core_answers(core, ".gg");
    core_miss(core, 0);
    core_answers(core, answer);
    core_skip(core);
    return core;
}

GROUP(cases, "rolling_back", NULL, core_stop_all)

TESTS(cases, a_key_that_was_given_back_is_released_whatever_became_of_the_repair, 0, 5)
{
    static const char *const answers[] = {"g", "r", "f", "u", "."};
    struct core *core = start_repaired(answers[_i]);

    core_release(core);
    core_expect(core, "t=0ms SEND release #1: 0 1 2\n");
}

TEST(cases, a_repair_that_comes_through_behind_the_release_is_no_vote)
{
    struct core *core = start_repaired(".");

    core_release(core);
    core_answers(core, "ggg");
    core_answers(core, "g");
    core_forget(core);
    ck_assert_int_eq(core_deadline_ms(core), INT64_MIN);
    ck_assert_uint_eq(core_live_claims(core), 0);
}

TEST(cases, a_repair_of_a_detached_lock_leaves_no_claim_behind)
{
    struct core *core = start_repaired(".");

    core_detach(core);
    core_answers(core, "g");
    core_expect(core, "t=0ms DISPOSE #1\n");
}

TESTS(cases, a_key_found_missing_after_the_lock_was_given_up_is_not_given_back, 0, 2)
{
    struct core *core = core_start_restarted(1);

    core_extend(core, 0);
    core_answers(core, ".gg");
    if (_i)
        core_detach(core);
    else
        core_release(core);
    core_skip(core);
    core_miss(core, 0);
    ck_assert_ptr_null(strstr(core->log, "repair"));
}

SUITE("engine_repair_rollback")
