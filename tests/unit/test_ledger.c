/* The vote ledger against a naive sort. */
#include "votes/claim.h"

#include <stdlib.h>

#include "kinds/mutex.h"
#include "suite.h"
#include "util/random.h"

static struct rl_claim *make(size_t n_nodes, size_t quorum)
{
    struct rl_claim *claim = calloc(1, rl_claim_size(n_nodes, &rl_mutex_kind));

    ck_assert_ptr_nonnull(claim);
    rl_claim_init(claim, n_nodes, quorum, &rl_mutex_kind);
    return claim;
}

static int falling(const void *a, const void *b)
{
    const int64_t *left = a;
    const int64_t *right = b;

    return (*left < *right) - (*left > *right);
}

static int64_t naive_deadline(const struct rl_claim *claim, int64_t guard_ns)
{
    int64_t bounds[31];

    for (size_t i = 0; i < claim->n_nodes; i++)
        bounds[i] = claim->votes[i].bound.ns;
    qsort(bounds, claim->n_nodes, sizeof *bounds, falling);
    return bounds[claim->quorum - 1] == INT64_MIN ? INT64_MIN : bounds[claim->quorum - 1] - guard_ns;
}

/* From a small range, so that duplicates are common; one in five does not count. */
static struct rl_instant draw_bound(uint64_t *random)
{
    uint64_t draw = rl_random_next(random);

    return (struct rl_instant){draw % 5 == 0 ? INT64_MIN : (int64_t)((draw >> 8) % 40) - 20};
}

static void scatter(struct rl_claim *claim, uint64_t *random)
{
    for (size_t i = 0; i < claim->n_nodes; i++)
        rl_ledger_set(claim, i, draw_bound(random));
}

/* Each change in every way, one after the other: what the claim keeps at hand must follow. */
static void change(struct rl_claim *claim, uint64_t *random)
{
    size_t node = rl_random_next(random) % claim->n_nodes;
    struct rl_instant bound = draw_bound(random);

    switch (rl_random_next(random) % 4) {
    case 0:
        rl_ledger_sent(claim, node, bound);
        break;
    case 1:
        rl_ledger_revoke(claim, node);
        break;
    default:
        rl_ledger_grant(claim, node, bound);
    }
}

GROUP(cases, "ledger", NULL, NULL)

TESTS(cases, the_deadline_is_the_bound_at_the_quorum_of_a_sorted_list, 1, 32)
{
    size_t n = (size_t)_i;
    uint64_t random = 4711;

    for (size_t quorum = 1; quorum <= n; quorum++) {
        struct rl_claim *claim = make(n, quorum);

        for (unsigned round = 0; round < 300; round++) {
            int64_t guard_ns = (int64_t)(rl_random_next(&random) % 9);

            change(claim, &random);
            ck_assert_int_eq(rl_ledger_deadline(claim, (struct rl_span){guard_ns}).ns,
                             naive_deadline(claim, guard_ns));
        }
        free(claim);
    }
}

/* rule 2.5: valid at t iff at least q of the lb_j - guard exceed t. */
TEST(cases, a_quorum_exceeds_every_instant_before_the_deadline_and_none_from_it_on)
{
    struct rl_claim *claim = make(5, 3);
    uint64_t random = 99;

    for (unsigned round = 0; round < 200; round++) {
        int64_t deadline_ns;

        scatter(claim, &random);
        deadline_ns = rl_ledger_deadline(claim, (struct rl_span){4}).ns;
        for (int64_t t = -40; t < 40; t++) {
            size_t exceeding = 0;

            for (size_t i = 0; i < 5; i++)
                exceeding += claim->votes[i].bound.ns != INT64_MIN && claim->votes[i].bound.ns - 4 > t;
            ck_assert_int_eq(exceeding >= 3, t < deadline_ns);
        }
    }
    free(claim);
}

TEST(cases, with_fewer_votes_than_the_quorum_there_is_no_deadline_whatever_the_guard)
{
    struct rl_claim *claim = make(3, 2);

    ck_assert_int_eq(rl_ledger_deadline(claim, (struct rl_span){0}).ns, RL_LONG_AGO.ns);
    rl_ledger_grant(claim, 2, (struct rl_instant){500});
    ck_assert_int_eq(rl_ledger_deadline(claim, (struct rl_span){7}).ns, RL_LONG_AGO.ns);
    rl_ledger_grant(claim, 0, (struct rl_instant){600});
    ck_assert_int_eq(rl_ledger_deadline(claim, (struct rl_span){7}).ns, 493);
    free(claim);
}

TEST(cases, equal_bounds_are_counted_one_by_one)
{
    struct rl_claim *claim = make(4, 4);

    for (size_t i = 0; i < 3; i++)
        rl_ledger_grant(claim, i, (struct rl_instant){100});
    ck_assert_int_eq(rl_ledger_deadline(claim, (struct rl_span){0}).ns, RL_LONG_AGO.ns);
    rl_ledger_grant(claim, 3, (struct rl_instant){90});
    ck_assert_int_eq(rl_ledger_deadline(claim, (struct rl_span){0}).ns, 90);
    rl_ledger_grant(claim, 3, (struct rl_instant){100});
    ck_assert_int_eq(rl_ledger_deadline(claim, (struct rl_span){0}).ns, 100);
    free(claim);
}

TEST(cases, a_shorter_ttl_lowers_the_bound_when_it_is_sent)
{
    struct rl_claim *claim = make(1, 1);

    rl_ledger_grant(claim, 0, (struct rl_instant){1000});
    rl_ledger_sent(claim, 0, (struct rl_instant){400});
    ck_assert_int_eq(claim->votes[0].bound.ns, 400);
    rl_ledger_sent(claim, 0, (struct rl_instant){700});
    ck_assert_int_eq(claim->votes[0].bound.ns, 400);
    free(claim);
}

TEST(cases, sending_gives_no_vote_to_who_has_none)
{
    struct rl_claim *claim = make(1, 1);

    rl_ledger_sent(claim, 0, (struct rl_instant){400});
    ck_assert_int_eq(claim->votes[0].bound.ns, RL_LONG_AGO.ns);
    free(claim);
}

TEST(cases, a_grant_counts_until_its_bound_and_a_revoked_vote_not_at_all)
{
    struct rl_claim *claim = make(1, 1);

    rl_ledger_grant(claim, 0, (struct rl_instant){2000});
    ck_assert_int_eq(claim->votes[0].bound.ns, 2000);
    rl_ledger_revoke(claim, 0);
    ck_assert_int_eq(claim->votes[0].bound.ns, RL_LONG_AGO.ns);
    free(claim);
}

SUITE("ledger")
