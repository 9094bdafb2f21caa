#include "queue_replies.h"

#include "kinds/mutex.h"
#include "suite.h"

static const struct rl_kind *const kinds[] = {&rl_mutex_kind, &rl_fenced_kind};

const struct numbers granted = {1, BIG, 100, 0, 0, 2000, -1, 9};
const struct numbers queued = {0, BIG, 100, 0, 2, 1500, 1700, 0};

struct rl_reply reply_of(struct numbers numbers)
{
    struct rl_reply reply = {.root = {.type = RL_REPLY_ARRAY}, .n_elements = N_ELEMENTS};
    const int64_t values[N_ELEMENTS] = {numbers.code, numbers.time_us, numbers.ticket, numbers.lower,
                                        numbers.rank, numbers.pttl,    numbers.look,   numbers.counter};

    for (size_t i = 0; i < N_ELEMENTS; i++)
        reply.elements[i] = (struct rl_reply_item){.type = RL_REPLY_INTEGER, .integer = values[i]};
    return reply;
}

void expect_answer(struct rl_reply reply, bool fenced, enum rl_outcome outcome, enum rl_detail detail, uint64_t fence)
{
    const struct rl_kind *kind = kinds[fenced];
    struct rl_answer answer = kind->answer(RL_STEP_ENQUEUE, &reply);

    ck_assert_int_eq(answer.outcome, outcome);
    ck_assert_int_eq(answer.detail, detail);
    ck_assert_uint_eq(answer.fence, fence);
}

void expect_unknown(struct rl_reply reply)
{
    struct rl_entry_report place;

    expect_answer(reply, false, RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0);
    expect_answer(reply, true, RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0);
    ck_assert(!rl_queue_entry_report(&reply, &place));
}
