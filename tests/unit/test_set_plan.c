/* The plan of a set: what is given up while a part is awaited, and what is kept. */
#include "engine/set.h"
#include "suite.h"

#define N 6

static struct rl_set_plan plan;

/* Key 0, a gate with two permits behind it, and the keys 4 and 5. */
static void begin(void)
{
    struct rl_parts gates = {{0}}, permits = {{0}};
    struct rl_set_step step;

    rl_parts_add(&gates, 1);
    rl_parts_add(&permits, 2);
    rl_parts_add(&permits, 3);
    step = rl_set_begin(&plan, N, gates, permits);
    ck_assert_uint_eq(step.try.words[0], 0x3f);
}

/* As bits. */
static void expect(struct rl_set_step step, uint32_t try, uint32_t await, uint32_t give_up)
{
    ck_assert_int_eq(step.outcome, RL_SET_PENDING);
    ck_assert_uint_eq(step.try.words[0], try);
    ck_assert_uint_eq(step.await.words[0], await);
    ck_assert_uint_eq(step.give_up.words[0], give_up);
}

static struct rl_set_step granted(unsigned part)
{
    return rl_set_granted(&plan, part, true);
}

static struct rl_set_step refused(unsigned part)
{
    return rl_set_refused(&plan, part, true);
}

GROUP(parts, "parts", NULL, NULL)

TEST(parts, larger_parts_are_given_up)
{
    begin();
    expect(granted(4), 0, 0, 0);
    expect(refused(0), 0, 1 << 0, 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5);
    expect(granted(0), 0x3e, 0, 0);
}

TEST(parts, permits_are_given_up_with_their_gate)
{
    begin();
    expect(granted(0), 0, 0, 0);
    expect(granted(2), 0, 0, 0);
    expect(refused(1), 0, 1 << 1, 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5);
}

/* Whatever has become of the other permits. */
TESTS(parts, permits_behind_the_gate_are_kept_while_one_is_awaited, 0, 4)
{
    begin();
    expect(granted(0), 0, 0, 0);
    expect(granted(1), 0, 0, 0);
    if (_i == 0)
        expect(granted(3), 0, 0, 0);
    if (_i == 1)
        expect(refused(3), 0, 0, 0);
    expect(refused(2), 0, 1 << 2, 1 << 4 | 1 << 5);
    if (_i == 2)
        expect(granted(3), 0, 0, 0);
    if (_i == 3)
        expect(refused(3), 0, 0, 0);
    expect(granted(2), 1 << 4 | 1 << 5 | (uint32_t)(_i % 2) << 3, 0, 0);
    expect(granted(4), 0, 0, 0);
    if (_i % 2)
        expect(granted(3), 0, 0, 0);
    ck_assert_int_eq(granted(5).outcome, RL_SET_HELD);
}

SUITE("set_plan")
