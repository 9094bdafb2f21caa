/* Inside the batches: batch.c and batch_answers.c. */
#ifndef RL_HOST_BATCH_H
#define RL_HOST_BATCH_H

#include "api/client.h"

/* One for the command to all masters. It goes back among the spare ones when the last of them has ended it. */
struct rl_batch {
    struct rl_list link;    /* in the client's list of all */
    struct rl_batch *next_spare;
    enum rl_batch_kind kind;
    struct rl_instant sent;
    uint32_t nodes;
    uint32_t ttl_ms;        /* or the lease */
    size_t n;
    unsigned unanswered;    /* masters */
    struct {
        struct rl_claim *claim;
        uint32_t round;
        uint64_t ticket;    /* of a keeper */
    } entries[RL_BATCH_MAX];
};

static inline enum rl_step rl_batch_step(const struct rl_batch *batch)
{
    return batch->kind == RL_BATCH_EXTENSIONS ? RL_STEP_EXTEND : RL_STEP_ENQUEUE;
}

/* When the last master has ended it. */
void rl_batch_give_back(struct redlock_client *client, struct rl_batch *batch);

#endif
