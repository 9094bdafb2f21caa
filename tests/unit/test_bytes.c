#include "util/bytes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

GROUP(tc, "queue", NULL, NULL)

TEST(tc, what_is_appended_comes_out_in_order)
{
    struct rl_bytes bytes = {0};

    ck_assert(rl_bytes_append(&bytes, "abc", 3));
    ck_assert(rl_bytes_append(&bytes, "def", 3));
    rl_bytes_consume(&bytes, 2);
    ck_assert_uint_eq(rl_bytes_length(&bytes), 4);
    ck_assert_mem_eq(rl_bytes_front(&bytes), "cdef", 4);
    rl_bytes_fini(&bytes);
}

TEST(tc, an_empty_queue_accepts_nothing_and_no_data)
{
    struct rl_bytes bytes = {0};

    ck_assert(rl_bytes_append(&bytes, NULL, 0));
    ck_assert_uint_eq(rl_bytes_length(&bytes), 0);
    rl_bytes_fini(&bytes);
    rl_bytes_fini(&bytes);
}

TEST(tc, a_queue_that_is_always_drained_stops_allocating)
{
    struct rl_bytes bytes = {0};
    unsigned char *data;

    ck_assert(rl_bytes_append(&bytes, "0123456789", 10));
    data = bytes.data;
    for (int i = 0; i < 100000; i++) {
        rl_bytes_consume(&bytes, rl_bytes_length(&bytes));
        if (!rl_bytes_append(&bytes, "0123456789", 10) || bytes.data != data)
            ck_abort_msg("round %d", i);
    }
    rl_bytes_fini(&bytes);
}

TEST(tc, a_large_buffer_is_given_back_when_it_is_empty)
{
    struct rl_bytes bytes = {0};

    ck_assert(rl_bytes_reserve(&bytes, 1 << 20));
    bytes.size = 1 << 20;
    memset(bytes.data, 0, bytes.size);
    rl_bytes_consume(&bytes, 1 << 20);
    ck_assert_ptr_null(bytes.data);
    ck_assert_uint_eq(bytes.capacity, 0);
}

TEST(tc, an_impossible_reservation_changes_nothing)
{
    struct rl_bytes bytes = {0};

    ck_assert(rl_bytes_append(&bytes, "x", 1));
    ck_assert(!rl_bytes_reserve(&bytes, SIZE_MAX));
    ck_assert(!rl_bytes_reserve(&bytes, SIZE_MAX - 1));
    ck_assert_uint_eq(rl_bytes_length(&bytes), 1);
    ck_assert_mem_eq(rl_bytes_front(&bytes), "x", 1);
    rl_bytes_fini(&bytes);
}

/* The n-th byte that goes in is the n-th that comes out, over any mixture of appending and consuming. */
TEST(tc, random_use_behaves_as_a_queue)
{
    struct rl_bytes bytes = {0};
    uint8_t in = 0;
    uint8_t out = 0;

    srand(1);
    for (int i = 0; i < 5000; i++) {
        uint8_t chunk[300];
        size_t more = (size_t)rand() % sizeof chunk;
        size_t less;

        for (size_t j = 0; j < more; j++)
            chunk[j] = in++;
        ck_assert(rl_bytes_append(&bytes, chunk, more));
        less = rl_bytes_length(&bytes) ? (size_t)rand() % (rl_bytes_length(&bytes) + 1) : 0;
        for (size_t j = 0; j < less; j++) {
            if (rl_bytes_front(&bytes)[j] != out++)
                ck_abort_msg("round %d, byte %zu", i, j);
        }
        rl_bytes_consume(&bytes, less);
    }
    rl_bytes_fini(&bytes);
}

SUITE("bytes")
