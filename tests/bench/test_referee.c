/* The benchmark's referee, who must notice two holders, also in different processes, and nothing else. */
#include <sys/wait.h>
#include <unistd.h>

#include "lab/bench/shared.h"
#include "suite.h"

#define MS INT64_C(1000000)

static struct bench_shared *shared;
static struct bench_cell *cell;
static int64_t now;

static void set_up(void)
{
    shared = bench_shared_create(2, 10);
    ck_assert_ptr_nonnull(shared);
    cell = &shared->cells[0];
    now = bench_now_ns();
}

static void tear_down(void)
{
    bench_shared_destroy(shared);
}

static bool enter(uint32_t task, int64_t at, int64_t remaining, uint64_t *ret_claim)
{
    return bench_referee_enter(shared, cell, task, at, remaining, ret_claim);
}

GROUP(test_case, "referee", set_up, tear_down)

TEST(test_case, a_second_holder_is_noticed)
{
    uint64_t first, second;

    ck_assert(enter(0, now, 10 * MS, &first));
    ck_assert(!enter(1, now + 9 * MS, 10 * MS, &second));
}

TEST(test_case, a_second_holder_in_another_process_is_noticed)
{
    uint64_t claim;
    int status;
    pid_t child = fork();

    if (child == 0)
        _exit(enter(3, now, 1000 * MS, &claim) ? 0 : 1);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert(!enter(4, now + MS, MS, &claim));
}

TEST(test_case, holders_one_after_the_other_are_fine)
{
    uint64_t claim;

    for (uint32_t task = 0; task < 10; task++) {
        ck_assert(enter(task, now, 1000 * MS, &claim));
        bench_referee_leave(cell, claim);
    }
}

TEST(test_case, a_holder_whose_validity_has_ended_is_none)
{
    uint64_t claim;

    ck_assert(enter(0, now, 10 * MS, &claim));
    ck_assert(enter(1, now + 10 * MS, 10 * MS, &claim));
}

TEST(test_case, a_late_leaver_does_not_hide_its_successor)
{
    uint64_t late, successor, third;

    ck_assert(enter(0, now, MS, &late));
    ck_assert(enter(1, now + 2 * MS, 10 * MS, &successor));
    bench_referee_leave(cell, late);
    ck_assert(!enter(2, now + 3 * MS, MS, &third));
}

TEST(test_case, keys_have_a_referee_each)
{
    uint64_t claim;

    ck_assert(enter(0, now, 1000 * MS, &claim));
    cell = &shared->cells[BENCH_MAX_KEYS - 1];
    ck_assert(enter(1, now, 1000 * MS, &claim));
    ck_assert(!enter(2, now, 1000 * MS, &claim));
}

TEST(test_case, tokens_must_grow)
{
    ck_assert(bench_referee_token(cell, 5));
    ck_assert(bench_referee_token(cell, 6));
    ck_assert(bench_referee_token(cell, UINT64_C(1) << 53));
}

TEST(test_case, a_token_that_is_shown_twice_is_noticed)
{
    ck_assert(bench_referee_token(cell, 5));
    ck_assert(!bench_referee_token(cell, 5));
}

TEST(test_case, no_token_is_noticed)
{
    ck_assert(!bench_referee_token(cell, 0));
}

/* The smaller one does not become the mark for those that follow. */
TEST(test_case, a_smaller_token_is_noticed_and_forgotten)
{
    ck_assert(bench_referee_token(cell, 50));
    ck_assert(!bench_referee_token(cell, 40));
    ck_assert(!bench_referee_token(cell, 45));
    ck_assert(bench_referee_token(cell, 51));
}

TEST(test_case, tokens_of_other_keys_do_not_matter)
{
    ck_assert(bench_referee_token(cell, 50));
    ck_assert(bench_referee_token(&shared->cells[1], 40));
}

TEST(test_case, a_smaller_token_of_another_process_is_noticed)
{
    int status;
    pid_t child = fork();

    if (child == 0)
        _exit(bench_referee_token(cell, 7) ? 0 : 1);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert(!bench_referee_token(cell, 6));
    ck_assert(bench_referee_token(cell, 8));
}

TEST(test_case, records_of_processes_add_up_but_their_times_do_not)
{
    static struct bench_record sum;
    struct bench_record *a = bench_shared_record(shared, 0, 1);
    struct bench_record *b = bench_shared_record(shared, 1, 1);

    a->violations = 1, b->violations = 2, a->late = 4;
    a->totals = (struct bench_totals){1, 2, 3, 4, 5, 6};
    b->totals = (struct bench_totals){10, 20, 30, 40, 50, 60};
    a->locks = 3, a->seconds = 2, a->cpu_s = 1, a->rss_peak_kb = 10;
    b->locks = 4, b->seconds = 1, b->cpu_s = 2, b->rss_peak_kb = 30;
    histogram_add(&a->acquire, 5);
    histogram_add(&b->acquire, 7);
    bench_record_merge(&sum, a);
    bench_record_merge(&sum, b);
    ck_assert_uint_eq(sum.locks, 7);
    ck_assert_double_eq(sum.seconds, 2);
    ck_assert_double_eq(sum.cpu_s, 3);
    ck_assert_uint_eq(sum.rss_peak_kb, 30);
    ck_assert_uint_eq(sum.acquire.count, 2);
    ck_assert_uint_eq(sum.violations, 3);
    ck_assert_uint_eq(sum.late, 4);
    ck_assert_uint_eq(sum.totals.commands, 11);
    ck_assert_uint_eq(sum.totals.attempts, 22);
    ck_assert_uint_eq(sum.totals.raises, 33);
    ck_assert_uint_eq(sum.totals.renewals, 44);
    ck_assert_uint_eq(sum.totals.renewals_failed, 55);
    ck_assert_uint_eq(sum.totals.lost, 66);
}

TEST(test_case, what_was_counted_before_a_phase_is_not_its_own)
{
    struct bench_totals before = {1, 2, 3, 4, 5, 6}, end = {10, 20, 30, 40, 50, 60};
    struct bench_totals own = bench_totals_since(&end, &before);

    ck_assert_uint_eq(own.commands, 9);
    ck_assert_uint_eq(own.attempts, 18);
    ck_assert_uint_eq(own.raises, 27);
    ck_assert_uint_eq(own.renewals, 36);
    ck_assert_uint_eq(own.renewals_failed, 45);
    ck_assert_uint_eq(own.lost, 54);
}

/* Nobody's records or counters overlap: each is filled with a value of its own, and keeps it. */
TEST(test_case, every_process_and_phase_has_memory_of_its_own)
{
    for (uint32_t phase = 0; phase < BENCH_PHASES; phase++) {
        for (uint32_t proc = 0; proc < 2; proc++)
            bench_shared_record(shared, proc, phase)->locks = 100 + 10 * proc + phase;
        for (uint32_t task = 0; task < 10; task++)
            bench_shared_counts(shared, phase)[task] = 1000 * (phase + 1) + task;
    }
    for (uint32_t phase = 0; phase < BENCH_PHASES; phase++) {
        for (uint32_t proc = 0; proc < 2; proc++)
            ck_assert_uint_eq(bench_shared_record(shared, proc, phase)->locks, 100 + 10 * proc + phase);
        for (uint32_t task = 0; task < 10; task++)
            ck_assert_uint_eq(bench_shared_counts(shared, phase)[task], 1000 * (phase + 1) + task);
    }
    ck_assert_uint_eq(shared->procs, 2);
    ck_assert_uint_eq(atomic_load(&cell->owner), 0);
    ck_assert_uint_eq(shared->hold.locks, 0);
}

SUITE("referee")
