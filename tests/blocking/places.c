/* Who sleeps where, and who is woken first: without a thread, a kernel or a second processor. */
#include <check.h>

#include "blocking/futex.h"
#include "blocking/sleepers.h"
#include "suite.h"

static struct rl_sleepers sleepers;
static int processor;

/* The calls to wake several, in order: which futex, and how many sleepers of it. */
static struct {
    unsigned n;
    unsigned dormitory[RL_DORMITORIES];
    unsigned sleepers[RL_DORMITORIES];
} woken;

/* Instead of libc's. */
int sched_getcpu(void)
{
    return processor;
}

bool rl_futex_wait(_Atomic uint32_t *word, uint32_t value, uint32_t bits, int64_t end_ns)
{
    (void)word, (void)value, (void)bits, (void)end_ns;
    ck_abort_msg("nobody sleeps here");
    return false;
}

void rl_futex_wake(_Atomic uint32_t *word)
{
    (void)word;
    ck_abort_msg("nobody has a word of his own here");
}

void rl_futex_wake_all(_Atomic uint32_t *word, uint32_t bits)
{
    ck_assert_uint_lt(woken.n, RL_DORMITORIES);
    for (unsigned i = 0; i < RL_DORMITORIES; i++) {
        if (word == &sleepers.dormitories[i].calls)
            woken.dormitory[woken.n] = i;
    }
    woken.sleepers[woken.n++] = (unsigned)__builtin_popcount(bits);
}

static void begin(void)
{
    rl_sleepers_init(&sleepers);
    woken.n = 0;
}

/* Taken by who runs on a processor of this half when `i` are taken: the fewer futexes, the fewer calls. */
static unsigned nth_place(unsigned half, unsigned i)
{
    unsigned of_half = i % (RL_PLACES / 2);
    unsigned side = i < RL_PLACES / 2 ? half : !half;

    return (of_half / 32 * 2 + side) * 32 + of_half % 32;
}

static void enter(int on, unsigned n)
{
    _Atomic uint32_t state = 0;

    processor = on;
    for (unsigned i = 0; i < n; i++)
        rl_sleepers_call(&sleepers, rl_sleepers_enter(&sleepers), &state);
}

START_TEST(each_place_is_taken_once_those_of_the_own_half_first)
{
    processor = _i;
    for (unsigned i = 0; i < RL_PLACES; i++)
        ck_assert_uint_eq(rl_sleepers_enter(&sleepers), nth_place((unsigned)_i % 2, i));
    ck_assert_uint_eq(rl_sleepers_enter(&sleepers), RL_NO_PLACE);
    rl_sleepers_leave(&sleepers, RL_NO_PLACE);
    ck_assert_uint_eq(rl_sleepers_enter(&sleepers), RL_NO_PLACE);
}
END_TEST

START_TEST(what_is_left_is_taken_next)
{
    processor = 1;
    while (rl_sleepers_enter(&sleepers) != RL_NO_PLACE)
        ;
    rl_sleepers_leave(&sleepers, 200);
    rl_sleepers_leave(&sleepers, 63);
    ck_assert_uint_eq(rl_sleepers_enter(&sleepers), 63);
    ck_assert_uint_eq(rl_sleepers_enter(&sleepers), 200);
    ck_assert_uint_eq(rl_sleepers_enter(&sleepers), RL_NO_PLACE);
}
END_TEST

START_TEST(where_the_processor_is_not_known_all_places_are_to_be_had)
{
    processor = -1;
    for (unsigned i = 0; i < RL_PLACES; i++)
        ck_assert_uint_lt(rl_sleepers_enter(&sleepers), RL_PLACES);
    ck_assert_uint_eq(rl_sleepers_enter(&sleepers), RL_NO_PLACE);
}
END_TEST

START_TEST(each_half_is_woken_at_once_the_own_one_last)
{
    enter(0, 3);
    enter(7, 2);
    enter(4, 1);
    processor = _i;
    rl_sleepers_wake_called(&sleepers);
    ck_assert_uint_eq(woken.n, 2);
    for (unsigned i = 0; i < 2; i++) {
        unsigned half = (i + 1 + (unsigned)_i) % 2;

        ck_assert_uint_eq(woken.dormitory[i], half);
        ck_assert_uint_eq(woken.sleepers[i], half ? 2 : 4);
    }
    rl_sleepers_wake_called(&sleepers);
    ck_assert_uint_eq(woken.n, 2);
}
END_TEST

START_TEST(overcrowded_halves_are_woken_in_that_order_too)
{
    enter(0, RL_PLACES / 2);
    enter(1, RL_PLACES / 2);
    processor = 0;
    rl_sleepers_wake_called(&sleepers);
    ck_assert_uint_eq(woken.n, RL_DORMITORIES);
    for (unsigned i = 0; i < RL_DORMITORIES; i++) {
        ck_assert_uint_eq(woken.dormitory[i] % 2, i < RL_DORMITORIES / 2);
        ck_assert_uint_eq(woken.sleepers[i], 32);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("places");
    TCase *tc = suite_add_case(suite, "places", begin, NULL);

    tcase_add_loop_test(tc, each_place_is_taken_once_those_of_the_own_half_first, 0, 4);
    tcase_add_test(tc, what_is_left_is_taken_next);
    tcase_add_test(tc, where_the_processor_is_not_known_all_places_are_to_be_had);
    tcase_add_loop_test(tc, each_half_is_woken_at_once_the_own_one_last, 0, 4);
    tcase_add_test(tc, overcrowded_halves_are_woken_in_that_order_too);
    return suite_run(suite);
}
