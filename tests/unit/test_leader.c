/* What a look at a key tells of the leader. */
#include "host/election.h"

#include <string.h>

#include "suite.h"

#define UUID "01234567-89ab-cdef-0123-456789abcdef"
#define TERM (UINT64_C(1) << 40)

static struct rl_leader see(enum rl_mode mode, const char *value)
{
    struct rl_leader leader = {0};

    rl_leader_see(&leader, mode, (struct rl_slice){value, strlen(value)}, TERM);
    return leader;
}

static void check_label(const char *value, const char *label)
{
    struct rl_leader leader = see(RL_EXCLUSIVE, value);

    ck_assert(leader.present);
    ck_assert_uint_eq(leader.term, TERM);
    ck_assert_uint_eq(leader.label_size, strlen(label));
    ck_assert_mem_eq(leader.label, label, strlen(label));
}

GROUP(cases, "leader", NULL, NULL)

TEST(cases, the_label_stands_behind_the_uuid)
{
    check_label(UUID ":a", "a");
    check_label(UUID ":host-7/worker:2", "host-7/worker:2");
}

TEST(cases, a_value_of_another_form_has_no_label)
{
    check_label(UUID, "");
    check_label(UUID ":", "");
    check_label(UUID "-a", "");
    check_label("somebody:else", "");
    check_label("", "");
}

TEST(cases, a_label_that_is_too_long_is_none)
{
    char value[36 + 1 + REDLOCK_MAX_LABEL_BYTES + 2] = UUID ":";

    memset(value + 37, 'x', REDLOCK_MAX_LABEL_BYTES);
    check_label(value, value + 37);
    value[37 + REDLOCK_MAX_LABEL_BYTES] = 'x';
    check_label(value, "");
}

TEST(cases, only_an_exclusive_holder_leads)
{
    ck_assert(!see(RL_SHARED, UUID ":a").present);
    ck_assert(!see(RL_UPGRADEABLE, UUID ":a").present);
}

TEST(cases, leaders_differ_by_presence_term_and_label)
{
    struct rl_leader leader = see(RL_EXCLUSIVE, UUID ":a");
    struct rl_leader same = see(RL_EXCLUSIVE, "fedcba98-89ab-cdef-0123-456789abcdef:a");
    struct rl_leader other = see(RL_EXCLUSIVE, UUID ":b");
    struct rl_leader nobody = {0};
    struct rl_leader later = leader;

    later.term++;
    ck_assert(rl_leader_is(&leader, &same));
    ck_assert(!rl_leader_is(&leader, &other));
    ck_assert(!rl_leader_is(&leader, &later));
    ck_assert(!rl_leader_is(&leader, &nobody));
    ck_assert(rl_leader_is(&nobody, &nobody));
}

static bool is_said(const char *payload, uint64_t term, const char *label)
{
    struct rl_leader leader = {0};

    return rl_leader_said(rl_slice_of(payload), &leader) && leader.present && leader.term == term &&
           leader.label_size == strlen(label) && memcmp(leader.label, label, leader.label_size) == 0;
}

TEST(cases, what_a_leader_tells_is_its_term_and_its_label)
{
    char longest[2 + REDLOCK_MAX_LABEL_BYTES + 1] = "7 ";

    memset(longest + 2, 'x', REDLOCK_MAX_LABEL_BYTES);
    ck_assert(is_said("1", 1, ""));
    ck_assert(is_said("18446744073709551615", UINT64_MAX, ""));
    ck_assert(is_said("17 host-7:4711", 17, "host-7:4711"));
    ck_assert(is_said(longest, 7, longest + 2));
}

TEST(cases, anything_else_tells_nothing)
{
    static const char *const texts[] = {
        "", " ", "0", "01", "-1", "+1", " 1", "1 ", "1  a", "1 a b", "1a", "x", "1\t", "1 \x7f", "1 \xc3\xa4", "1 a\n",
        "18446744073709551616", "99999999999999999999", "184467440737095516150",
    };
    struct rl_leader leader;
    char too_long[2 + REDLOCK_MAX_LABEL_BYTES + 2] = "7 ";

    memset(too_long + 2, 'x', REDLOCK_MAX_LABEL_BYTES + 1);
    ck_assert(!rl_leader_said(rl_slice_of(too_long), &leader));
    ck_assert(!rl_leader_said((struct rl_slice){NULL, 0}, &leader));
    ck_assert(!rl_leader_said((struct rl_slice){"1 \0a", 4}, &leader));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        ck_assert_msg(!rl_leader_said(rl_slice_of(texts[i]), &leader), "%s", texts[i]);
}

SUITE("leader")
