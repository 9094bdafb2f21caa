/* A claim's memory and its counts. */
#include "votes/claim.h"

#include <stdlib.h>
#include <string.h>

#include "kinds/mutex.h"
#include "suite.h"

static struct rl_claim *make_from_garbage(size_t n_nodes)
{
    struct rl_claim *claim = malloc(rl_claim_size(n_nodes, &rl_mutex_kind));

    ck_assert_ptr_nonnull(claim);
    memset(claim, 0xa5, rl_claim_size(n_nodes, &rl_mutex_kind));
    rl_claim_init(claim, n_nodes, n_nodes / 2 + 1, &rl_mutex_kind);
    return claim;
}

GROUP(cases, "claim", NULL, NULL)

TESTS(cases, a_fresh_claim_is_empty_whatever_the_memory_held, 1, 32)
{
    size_t n = (size_t)_i;
    struct rl_claim *claim = make_from_garbage(n);

    ck_assert_uint_eq(claim->n_nodes, n);
    ck_assert_uint_eq(claim->in_flight, 0);
    ck_assert_uint_eq(claim->round, 0);
    ck_assert(!claim->rolling_back && !claim->done && !claim->lock);
    ck_assert(rl_list_empty(&claim->link) && !claim->in_outbox);
    for (size_t step = 0; step < RL_STEP_COUNT; step++)
        ck_assert_uint_eq(claim->to_send[step], 0);
    ck_assert_uint_eq(rl_claim_count_answers(claim, RL_NOT_ASKED), n);
    ck_assert_uint_eq(rl_claim_count_clean(claim, (UINT32_C(1) << n) - 1), n);
    for (size_t i = 0; i < n; i++) {
        ck_assert_int_eq(claim->votes[i].bound.ns, RL_LONG_AGO.ns);
        ck_assert_uint_eq(claim->votes[i].latency_us, RL_NO_LATENCY);
    }
    free(claim);
}

TESTS(cases, a_fenced_claim_has_its_token_and_counters_behind_the_slots, 1, 32)
{
    size_t n = (size_t)_i;
    size_t size = rl_claim_size(n, &rl_fenced_kind);
    struct rl_claim *claim = malloc(size);
    const struct rl_fence *fence;

    ck_assert_ptr_nonnull(claim);
    memset(claim, 0xa5, size);
    rl_claim_init(claim, n, n / 2 + 1, &rl_fenced_kind);
    fence = rl_claim_fence(claim);
    ck_assert((const char *)fence >= (const char *)&claim->votes[n]);
    ck_assert_ptr_eq((const char *)&fence->counters[n], (const char *)claim + size);
    ck_assert_uint_eq(rl_claim_token(claim), 0);
    for (size_t i = 0; i < n; i++)
        ck_assert_uint_eq(fence->counters[i], 0);
    ck_assert(fence->proposal == 0 && fence->raised == 0 && fence->refused == 0);
    free(claim);
}

TEST(cases, a_claim_without_a_fence_has_no_token)
{
    struct rl_claim *claim = make_from_garbage(3);

    ck_assert_ptr_null(rl_claim_fence(claim));
    ck_assert_uint_eq(rl_claim_token(claim), 0);
    free(claim);
}

TEST(cases, answers_are_counted_apart_from_votes)
{
    struct rl_claim *claim = make_from_garbage(3);

    claim->votes[0].outcome = RL_GRANTED;
    claim->votes[1].outcome = RL_GRANTED;
    claim->votes[2].answer = RL_GRANTED;
    ck_assert_uint_eq(rl_claim_count_answers(claim, RL_GRANTED), 1);
    ck_assert_uint_eq(rl_claim_count_answers(claim, RL_NOT_ASKED), 2);
    free(claim);
}

TEST(cases, a_master_is_clean_if_it_never_had_the_value_or_is_known_to_have_lost_it)
{
    struct rl_claim *claim = make_from_garbage(4);

    claim->votes[0].rollback = RL_ROLLBACK_NONE;
    claim->votes[1].rollback = RL_ROLLBACK_PENDING;
    claim->votes[2].rollback = RL_ROLLBACK_SENT;
    claim->votes[3].rollback = RL_ROLLBACK_CONFIRMED;
    ck_assert_uint_eq(rl_claim_count_clean(claim, 0xf), 2);
    ck_assert_uint_eq(rl_claim_count_clean(claim, 0x3f), 4); /* two that came after it */
    free(claim);
}

SUITE("claim")
