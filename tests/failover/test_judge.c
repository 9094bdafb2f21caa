/* The referee's judgement over what clients have written down, and the counter file. */
#include <stdlib.h>

#include "lab/failover/counter.h"
#include "lab/failover/referee.h"
#include "suite.h"

#define KEY 7

static struct fo_referee *referee;
static struct fo_verdict verdict;

static void set_up(void)
{
    referee = calloc(1, sizeof *referee);
    ck_assert_ptr_nonnull(referee);
    verdict = (struct fo_verdict){0};
}

static void tear_down(void)
{
    fo_referee_fini(referee);
    free(referee);
}

static void acquired(uint8_t client, int64_t at, int64_t until, uint64_t fence)
{
    struct fo_record record = {
        .kind = FO_ACQUIRED, .key = KEY, .client = client, .at_ns = at, .until_ns = until, .fence = fence};

    fo_referee_take(referee, &record);
}

static void said(uint8_t client, enum fo_kind kind, int64_t at, int64_t until)
{
    struct fo_record record = {
        .kind = (uint8_t)kind, .key = KEY, .client = client, .at_ns = at, .until_ns = until};

    fo_referee_take(referee, &record);
}

static void wrote(enum fo_write what, uint32_t count, bool valid, uint64_t fence)
{
    struct fo_record record = {.kind = FO_WRITTEN, .fence = fence, .key = KEY, .count = count,
                               .detail = (uint8_t)what, .status = valid};

    fo_referee_take(referee, &record);
}

static void written(enum fo_write what, bool valid)
{
    wrote(what, 0, valid, 1);
}

static void judge(void)
{
    fo_referee_judge(referee, INT64_MAX, &verdict);
}

GROUP(judgement, "judge", set_up, tear_down)

TEST(judgement, holds_one_after_the_other_are_fine)
{
    acquired(0, 100, 1000, 1);
    said(0, FO_RELEASED, 200, 0);
    acquired(1, 200, 1200, 2);
    said(1, FO_RELEASED, 300, 0);
    acquired(0, 301, 1301, 3);
    judge();
    ck_assert_uint_eq(verdict.double_holds, 0);
    ck_assert_uint_eq(verdict.fence_regressions, 0);
    ck_assert_uint_eq(verdict.acquired, 3);
    ck_assert_uint_eq(fo_verdict_violations(&verdict), 0);
}

/* The clients' journals are read one after the other: the order of reading must not matter. */
TEST(judgement, two_holders_at_a_time_are_found_in_any_order)
{
    acquired(1, 150, 1150, 2);
    said(1, FO_RELEASED, 180, 0);
    acquired(0, 100, 1000, 1);
    said(0, FO_RELEASED, 151, 0);
    judge();
    ck_assert_uint_eq(verdict.double_holds, 1);
    ck_assert_uint_eq(fo_verdict_violations(&verdict), 1);
}

/* A long hold that contains two short ones clashes with both. */
TEST(judgement, every_hold_inside_a_longer_one_counts)
{
    acquired(0, 100, 1000, 1);
    acquired(1, 200, 300, 2);
    said(1, FO_RELEASED, 250, 0);
    acquired(2, 400, 500, 3);
    judge();
    ck_assert_uint_eq(verdict.double_holds, 2);
}

TEST(judgement, a_hold_ends_with_its_validity_though_nobody_says_so)
{
    acquired(0, 100, 1000, 1);
    acquired(1, 1000, 2000, 2);
    said(0, FO_RELEASED, 5000, 0);
    judge();
    ck_assert_uint_eq(verdict.double_holds, 0);
}

TEST(judgement, a_renewal_makes_a_hold_longer)
{
    acquired(0, 100, 1000, 1);
    said(0, FO_RENEWED, 500, 1500);
    acquired(1, 1100, 2000, 2);
    judge();
    ck_assert_uint_eq(verdict.double_holds, 1);
}

TEST(judgement, a_lost_lock_is_not_held_any_more)
{
    acquired(0, 100, 1000, 1);
    said(0, FO_LOST, 400, 0);
    acquired(1, 500, 1500, 2);
    judge();
    ck_assert_uint_eq(verdict.double_holds, 0);
    ck_assert_ptr_null(fo_referee_holder(referee, KEY, 2000));
    ck_assert_uint_eq(fo_referee_holder(referee, KEY, 600)->client, 1);
}

TEST(judgement, the_dead_hold_nothing)
{
    acquired(0, 100, 1000, 1);
    fo_referee_crash(referee, 0, 300);
    acquired(1, 400, 1400, 2);
    judge();
    ck_assert_uint_eq(verdict.double_holds, 0);
    ck_assert_int_eq(referee->holds[0].ending, FO_CRASHED);
}

TEST(judgement, the_same_instant_on_different_keys_is_no_clash)
{
    struct fo_record other = {
        .kind = FO_ACQUIRED, .key = KEY + 1, .client = 1, .at_ns = 150, .until_ns = 1150, .fence = 1};

    acquired(0, 100, 1000, 5);
    fo_referee_take(referee, &other);
    judge();
    ck_assert_uint_eq(fo_verdict_violations(&verdict), 0);
}

TEST(judgement, a_token_must_be_larger_than_all_before)
{
    acquired(0, 100, 200, 10);
    acquired(1, 300, 400, 12);
    acquired(0, 500, 600, 11);
    acquired(1, 700, 800, 12);
    acquired(0, 900, 950, 13);
    judge();
    ck_assert_uint_eq(verdict.fence_regressions, 2);
    ck_assert_uint_eq(verdict.double_holds, 0);
}

TEST(judgement, what_is_acquired_too_late_is_no_hold)
{
    acquired(0, 100, 100, 1);
    acquired(1, 100, 900, 2);
    judge();
    ck_assert_uint_eq(verdict.late_acquired, 1);
    ck_assert_uint_eq(verdict.double_holds, 0);
    ck_assert_uint_eq(verdict.acquired, 1);
}

/* What is not settled yet may still change: an earlier journal may be behind. */
TEST(judgement, only_holds_before_the_given_instant_are_judged)
{
    acquired(0, 100, 1000, 1);
    acquired(1, 500, 900, 2);
    fo_referee_judge(referee, 500, &verdict);
    ck_assert_uint_eq(verdict.double_holds, 0);
    fo_referee_judge(referee, 501, &verdict);
    ck_assert_uint_eq(verdict.double_holds, 1);
}

/* Without a token nothing keeps a former holder's write out; that it is one too many is found all the same. */
TEST(judgement, late_writes_without_a_token_are_counted_by_themselves)
{
    wrote(FO_MIXED, 0, false, 0);
    judge();
    ck_assert_uint_eq(verdict.late_mixed, 1);
    ck_assert_uint_eq(verdict.late_refused, 0);
    ck_assert_uint_eq(fo_verdict_violations(&verdict), 0);
}

TEST(judgement, writes_are_judged_by_the_writers_validity)
{
    written(FO_TAKEN, true);
    written(FO_TAKEN, false);
    written(FO_STALE, false);
    written(FO_MIXED, false);
    judge();
    ck_assert_uint_eq(fo_verdict_violations(&verdict), 0);
    ck_assert_uint_eq(verdict.writes, 2);
    ck_assert_uint_eq(verdict.late_landed, 1);
    ck_assert_uint_eq(verdict.late_refused, 2);
    written(FO_STALE, true);
    wrote(FO_MIXED, 1, true, 1);
    judge();
    ck_assert_uint_eq(verdict.fence_regressions, 1);
    ck_assert_uint_eq(verdict.mixed_writes, 1);
}

/* Its successor has read 5, and finds 6: only one of the two was valid when it wrote. The journals are read in any
 * order. */
TESTS(judgement, a_former_holders_write_amid_those_of_its_successor_is_late, 0, 4)
{
    uint64_t fence = (uint64_t)_i / 2;

    for (int turn = 0; turn < 2; turn++) {
        if (turn == _i % 2)
            wrote(FO_TAKEN, 5, false, fence);
        else
            wrote(FO_MIXED, 5, true, fence);
    }
    judge();
    ck_assert_uint_eq(verdict.late_landed, 1);
    ck_assert_uint_eq(verdict.late_mixed, fence == 0);
    ck_assert_uint_eq(fo_verdict_violations(&verdict), 0);
}

TEST(judgement, two_valid_holders_are_found_whatever_came_late_before)
{
    wrote(FO_TAKEN, 4, false, 0);
    wrote(FO_TAKEN, 5, true, 0);
    wrote(FO_MIXED, 5, true, 0);
    judge();
    ck_assert_uint_eq(verdict.mixed_writes, 1);
    ck_assert_uint_eq(verdict.late_mixed, 0);
}

TEST(judgement, the_counter_takes_what_a_holder_has_read)
{
    _Atomic uint64_t cell = 0;

    ck_assert_int_eq(fo_counter_write(&cell, 1000, 1005, 0), FO_TAKEN);
    ck_assert_int_eq(fo_counter_write(&cell, 1000, 1005, 1), FO_TAKEN);
    ck_assert_int_eq(fo_counter_write(&cell, 1000, 1009, 2), FO_TAKEN);
    ck_assert_uint_eq(fo_counter_read(&cell), 3);
}

TEST(judgement, the_counter_refuses_the_past_and_the_mixed)
{
    _Atomic uint64_t cell = 0;

    ck_assert_int_eq(fo_counter_write(&cell, 1000, 1009, 0), FO_TAKEN);
    ck_assert_int_eq(fo_counter_write(&cell, 1000, 1008, 1), FO_STALE);
    ck_assert_int_eq(fo_counter_write(&cell, 1000, 1009, 0), FO_MIXED);
    ck_assert_int_eq(fo_counter_write(&cell, 1000, 1010, 0), FO_MIXED);
    ck_assert_uint_eq(fo_counter_read(&cell), 1);
}

/* By the order of the store, whatever the clocks of the writers say. */
TEST(judgement, a_stored_write_is_late_behind_one_of_a_later_holder)
{
    static const uint64_t turns[] = {5, 5, 7, 6, 7, 5, 9, 9};
    struct fo_stored stored = {0};

    for (size_t i = 0; i < sizeof turns / sizeof turns[0]; i++)
        fo_stored_take(&stored, turns[i]);
    ck_assert_uint_eq(stored.n, 8);
    ck_assert_uint_eq(stored.late, 2);
    ck_assert_uint_eq(stored.largest, 9);
}

TEST(judgement, only_in_a_guarded_record_a_late_write_breaks_a_promise)
{
    struct fo_verdict sum = {0};

    verdict.stored[FO_UNGUARDED] = (struct fo_stored){.n = 4, .late = 3, .largest = 9};
    ck_assert_uint_eq(fo_verdict_violations(&verdict), 0);
    verdict.stored[FO_GUARDED] = (struct fo_stored){.n = 4, .late = 1, .largest = 9};
    fo_verdict_add(&sum, &verdict);
    fo_verdict_add(&sum, &verdict);
    ck_assert_uint_eq(fo_verdict_violations(&sum), 2);
    ck_assert_uint_eq(sum.stored[FO_UNGUARDED].late, 6);
    ck_assert_uint_eq(sum.stored[FO_GUARDED].n, 8);
}

SUITE("judge")
