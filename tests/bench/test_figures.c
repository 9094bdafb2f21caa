/* The arithmetic of the benchmark: medians, ratios of neighbours, what a held lock costs, and what breaks a promise. */
#include <stdlib.h>

#include "lab/bench/figures.h"
#include "lab/bench/worker.h"
#include "suite.h"

static const struct bench_scenario load = {.name = "conc", .work = BENCH_LOAD};
static const struct bench_scenario hold = {.name = "hold", .work = BENCH_HOLD};
static struct bench_options options;
static struct bench_record *record;

static void set_up(void)
{
    options = (struct bench_options){.scenario = &load, .ttl_ms = 30000};
    record = calloc(1, sizeof *record);
    ck_assert_ptr_nonnull(record);
}

static void tear_down(void)
{
    free(record);
}

GROUP(test_case, "figures", set_up, tear_down)

/* The library's middle slice was disturbed, and so was its neighbour. */
TEST(test_case, ratios_are_those_of_neighbours)
{
    struct bench_slice library[] = {{110, 900, 2}, {500, 100, 9}, {120, 800, 3}};
    struct bench_slice classic[] = {{100, 1000, 1}, {500, 125, 9}, {100, 1000, 2}};
    struct bench_slice bare[] = {{50, 2000, 1}, {50, 2000, 1}, {50, 2000, 1}};
    struct bench_comparison comparison = {.n = 3, .slices = {library, classic, bare}};
    struct bench_verdict verdict = bench_compare(&comparison, BENCH_CLASSIC);

    ck_assert_double_eq_tol(verdict.ratio.acquire_p50_us, 1.1, 1e-9);
    ck_assert_double_eq_tol(verdict.ratio.locks_per_s, 0.8, 1e-9);
    ck_assert_double_eq_tol(verdict.ratio.cpu_s_per_10k, 1.5, 1e-9);
    ck_assert_double_eq(verdict.library.acquire_p50_us, 120);
    ck_assert_double_eq(verdict.other.acquire_p50_us, 100);
    ck_assert_double_eq(verdict.library_best.locks_per_s, 900);
    ck_assert_double_eq(verdict.other_best.locks_per_s, 1000);
    ck_assert_double_eq(verdict.library_best.acquire_p50_us, 110);
    verdict = bench_compare(&comparison, BENCH_FLOOR);
    ck_assert_double_eq(verdict.other.acquire_p50_us, 50);
    ck_assert_double_eq_tol(verdict.ratio.locks_per_s, 0.4, 1e-9);
}

TEST(test_case, a_slice_with_nothing_in_it_has_no_ratio)
{
    struct bench_slice library[] = {{100, 1000, 1}}, none[] = {{0, 0, 0}};
    struct bench_comparison comparison = {.n = 1, .slices = {library, none}};
    struct bench_verdict verdict = bench_compare(&comparison, BENCH_CLASSIC);

    ck_assert_double_eq(verdict.ratio.acquire_p50_us, 0);
}

TEST(test_case, the_cpu_of_the_idle_client_is_deducted)
{
    struct bench_hold facts = {.idle_s = 4, .idle_cpu_s = 0.02};

    record->seconds = 20;
    record->cpu_s = 0.6;
    ck_assert_double_eq_tol(bench_hold_cpu(record, &facts), 0.025, 1e-9);
    record->cpu_s = 0.5;
    ck_assert(bench_hold_cpu_met(record, &facts));
    record->cpu_s = 0.61;
    ck_assert(!bench_hold_cpu_met(record, &facts));
}

TEST(test_case, the_memory_of_a_lock_is_without_its_key)
{
    struct bench_hold facts = {.locks = 1000, .heap_before = 5000, .rss_kb_before = 10};

    facts.heap_after = 5000 + 1000 * (640 + BENCH_KEY_SIZE);
    facts.rss_kb_after = 10 + 1000;
    ck_assert_double_eq_tol(bench_hold_heap(&facts), 640, 1e-9);
    ck_assert_double_eq_tol(bench_hold_rss(&facts), 1024 - BENCH_KEY_SIZE, 1e-9);
    ck_assert(bench_hold_bytes_met(&facts));
    facts.heap_after += 1000;
    ck_assert(!bench_hold_bytes_met(&facts));
}

TEST(test_case, what_the_system_counts_stands_in_for_a_silent_malloc)
{
    struct bench_hold facts = {.locks = 1024, .rss_kb_before = 10, .rss_kb_after = 10 + 500};

    ck_assert_double_eq(bench_hold_heap(&facts), 0);
    ck_assert(bench_hold_bytes_met(&facts));
    facts.rss_kb_after = 10 + 700;
    ck_assert(!bench_hold_bytes_met(&facts));
}

TEST(test_case, no_locks_cost_nothing)
{
    struct bench_hold facts = {.heap_before = 1, .heap_after = 2};

    ck_assert_double_eq(bench_hold_heap(&facts), 0);
    ck_assert_double_eq(bench_renewals_per_s(record), 0);
    ck_assert_double_eq(bench_one_trip(record), 0);
}

TEST(test_case, renewals_are_counted_by_the_second)
{
    record->seconds = 20;
    record->totals.renewals = 200000;
    ck_assert_double_eq(bench_renewals_per_s(record), 10000);
}

TEST(test_case, raises_are_acquisitions_of_two_round_trips)
{
    record->locks = 1000;
    record->totals.raises = 10;
    ck_assert_double_eq_tol(bench_one_trip(record), 0.99, 1e-9);
}

TEST(test_case, two_holders_or_a_token_that_did_not_grow_break_the_promise)
{
    ck_assert(!bench_broken(options.scenario, record));
    record->overlaps = 1;
    ck_assert(bench_broken(options.scenario, record));
    record->overlaps = 0;
    record->violations = 1;
    ck_assert(bench_broken(options.scenario, record));
}

TEST(test_case, failures_and_late_holders_do_not_break_it)
{
    record->failed = record->release_failed = record->late = 1;
    record->totals.renewals_failed = 1;
    ck_assert(!bench_broken(options.scenario, record));
}

TEST(test_case, a_lost_lock_breaks_the_promise_of_the_hold_scenario_only)
{
    record->totals.lost = 1;
    ck_assert(!bench_broken(options.scenario, record));
    options.scenario = &hold;
    ck_assert(bench_broken(options.scenario, record));
}

TEST(test_case, locks_to_be_held_are_renewed_after_a_third_of_their_ttl)
{
    ck_assert_double_eq_tol(bench_hold_renewal_s(&options), 10, 1e-9);
}

SUITE("figures")
