/* Replies to ENQUEUE, made by hand. */
#ifndef TESTS_QUEUE_REPLIES_H
#define TESTS_QUEUE_REPLIES_H

#include "kinds/wait_queue.h"

#define BIG UINT64_C(1700000000123457)
#define N_ELEMENTS 8

struct numbers {
    int64_t code, time_us, ticket, lower, rank, pttl, look, counter;
};

extern const struct numbers granted;
extern const struct numbers queued;

struct rl_reply reply_of(struct numbers numbers);

void expect_answer(struct rl_reply reply, bool fenced, enum rl_outcome outcome, enum rl_detail detail, uint64_t fence);

/* It does not fit the command, with tokens and without. */
void expect_unknown(struct rl_reply reply);

#endif
