/* What a report says that a master was, from what was done to it and what clients have written down. */
#include <stdlib.h>

#include <redlock/observe.h>

#include "lab/failover/lanes.h"
#include "suite.h"

#define CLIENTS 2
#define START 1000

static const struct fo_options options;
static struct fo_run run;
static struct fo_outcome outcome;

static void set_up(void)
{
    run = (struct fo_run){.options = &options, .shared = fo_shared_create(CLIENTS), .course = {.start_ns = START}};
    ck_assert_ptr_nonnull(run.shared);
    outcome = (struct fo_outcome){.n_masters = 2, .end_ns = 900};
}

static void tear_down(void)
{
    free(outcome.spans);
    free(outcome.terms);
    fo_shared_destroy(run.shared);
}

static void done(uint32_t node, enum fo_state state, int64_t at)
{
    run.course.marks[run.course.n_marks++] = (struct fo_mark){START + at, node, state};
}

static void seen(uint32_t client, enum fo_kind kind, uint8_t node, uint8_t detail, int64_t at)
{
    fo_journal_add(run.shared, client, (struct fo_record){.kind = (uint8_t)kind, .at_ns = START + at, .node = node,
                                                          .detail = detail});
}

static void check_span(size_t i, enum fo_state state, int64_t from, int64_t to)
{
    ck_assert_uint_lt(i, outcome.n_spans);
    ck_assert_int_eq(outcome.spans[i].state, state);
    ck_assert_int_eq(outcome.spans[i].from_ns, from);
    ck_assert_int_eq(outcome.spans[i].to_ns, to);
}

GROUP(masters, "masters", set_up, tear_down)

TEST(masters, a_started_master_is_not_up_before_a_client_has_met_it)
{
    done(0, FO_DOWN, 100);
    done(0, FO_UP, 200);
    seen(0, FO_LINK, 0, REDLOCK_LINK_READY, 50);
    seen(0, FO_LINK, 0, REDLOCK_LINK_DOWN, 110);
    seen(0, FO_LINK, 1, REDLOCK_LINK_READY, 210);
    seen(0, FO_LINK, 0, REDLOCK_LINK_READY, 400);
    seen(1, FO_LINK, 0, REDLOCK_LINK_READY, 300);
    ck_assert(fo_lanes(&outcome, &run));
    ck_assert_uint_eq(outcome.n_spans, 5);
    check_span(0, FO_UP, 0, 100);
    check_span(1, FO_DOWN, 100, 200);
    check_span(2, FO_UNMET, 200, 300);
    check_span(3, FO_UP, 300, 900);
    check_span(4, FO_UP, 0, 900);
}

TEST(masters, a_client_may_be_faster_than_the_mark_of_the_start)
{
    done(0, FO_DOWN, 100);
    done(0, FO_UP, 200);
    seen(1, FO_LINK, 0, REDLOCK_LINK_READY, 190);
    ck_assert(fo_lanes(&outcome, &run));
    ck_assert_uint_eq(outcome.n_spans, 4);
    check_span(2, FO_UP, 200, 900);
}

TEST(masters, a_master_that_nobody_meets_is_never_up)
{
    done(0, FO_DOWN, 100);
    done(0, FO_UP, 200);
    done(0, FO_DOWN, 500);
    done(0, FO_UP, 600);
    ck_assert(fo_lanes(&outcome, &run));
    ck_assert_uint_eq(outcome.n_spans, 6);
    check_span(2, FO_UNMET, 200, 500);
    check_span(3, FO_DOWN, 500, 600);
    check_span(4, FO_UNMET, 600, 900);
}

TEST(masters, what_was_only_stopped_need_not_be_met_again)
{
    done(0, FO_HUNG, 100);
    done(0, FO_UP, 200);
    ck_assert(fo_lanes(&outcome, &run));
    check_span(2, FO_UP, 200, 900);
}

SUITE("lanes")
