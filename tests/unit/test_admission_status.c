#include "votes/admission.h"

#include <string.h>

#include "suite.h"

GROUP(tc, "admission status", NULL, NULL)

TEST(tc, every_fault_has_a_text_of_its_own)
{
    ck_assert_str_eq(rl_fault_text(RL_FAULT_NONE), "");
    for (int fault = RL_FAULT_NONE + 1; fault < RL_FAULT_COUNT; fault++) {
        ck_assert_uint_gt(strlen(rl_fault_text((enum rl_fault)fault)), 0);
        for (int other = RL_FAULT_NONE; other < fault; other++)
            ck_assert_str_ne(rl_fault_text((enum rl_fault)fault), rl_fault_text((enum rl_fault)other));
    }
}

TEST(tc, what_is_no_fault_has_no_text)
{
    ck_assert_str_eq(rl_fault_text(RL_FAULT_COUNT), "");
    ck_assert_str_eq(rl_fault_text((enum rl_fault)1000), "");
}

static bool votes(enum rl_admission kind, int64_t until, int64_t now)
{
    struct rl_admission_status admission = {.kind = kind, .until = {until}};

    return rl_admission_votes(&admission, (struct rl_instant){now});
}

TEST(tc, a_quarantine_is_over_at_its_end)
{
    ck_assert(!votes(RL_ADMISSION_QUARANTINED, 100, 99));
    ck_assert(votes(RL_ADMISSION_QUARANTINED, 100, 100));
    ck_assert(votes(RL_ADMISSION_QUARANTINED, 100, 101));
    ck_assert(!votes(RL_ADMISSION_QUARANTINED, RL_NEVER.ns, INT64_MAX - 1));
}

TEST(tc, only_masters_that_are_judged_fit_vote)
{
    ck_assert(votes(RL_ADMISSION_VOTES, 0, 0));
    ck_assert(!votes(RL_ADMISSION_UNEVALUATED, 0, 100));
    ck_assert(!votes(RL_ADMISSION_EXCLUDED, 0, 100));
}

SUITE("admission status")
