/* Pieces of memory: each its own, aligned, and used again. */
#include "util/pool.h"

#include <stdint.h>
#include <string.h>

#include "suite.h"

#define N_PIECES 200 /* several blocks */
#define SIZE 40

static struct rl_pool pool;
static unsigned char *pieces[N_PIECES];
static size_t ended;

static void setup(void)
{
    rl_pool_init(&pool, SIZE);
    ended = 0;
}

static void teardown(void)
{
    rl_pool_fini(&pool, NULL);
}

static void take_all(void)
{
    for (size_t i = 0; i < N_PIECES; i++) {
        pieces[i] = rl_pool_take(&pool);
        ck_assert_ptr_nonnull(pieces[i]);
        memset(pieces[i], (int)i, SIZE);
    }
}

GROUP(cases, "pool", setup, teardown)

TEST(cases, pieces_do_not_overlap_and_are_aligned)
{
    take_all();
    for (size_t i = 0; i < N_PIECES; i++) {
        ck_assert_uint_eq((uintptr_t)pieces[i] % sizeof(void *), 0);
        for (size_t k = 0; k < SIZE; k++)
            ck_assert_uint_eq(pieces[i][k], (unsigned char)i);
    }
}

TEST(cases, a_new_piece_is_zeroed_but_for_its_end)
{
    for (size_t i = 0; i < N_PIECES; i++) {
        pieces[i] = rl_pool_take(&pool);
        for (size_t k = 0; k < SIZE - sizeof(void *); k++)
            ck_assert_uint_eq(pieces[i][k], 0);
    }
}

TEST(cases, what_was_given_back_is_taken_again)
{
    take_all();
    for (size_t i = 0; i < N_PIECES; i++)
        rl_pool_give(&pool, pieces[i]);
    for (size_t i = N_PIECES; i-- > 0;) {
        unsigned char *piece = rl_pool_take(&pool);

        ck_assert_ptr_eq(piece, pieces[i]);
        ck_assert_uint_eq(piece[0], (unsigned char)i); /* as it was */
    }
}

static void count_used(void *piece)
{
    ended += *(unsigned char *)piece == 77;
}

TEST(cases, the_end_sees_every_piece)
{
    take_all();
    for (size_t i = 0; i < N_PIECES; i++) {
        pieces[i][0] = i % 2 ? 77 : 0;
        if (i % 4 < 2)
            rl_pool_give(&pool, pieces[i]);
    }
    rl_pool_fini(&pool, count_used);
    ck_assert_uint_eq(ended, N_PIECES / 2);
}

SUITE("pool")
