/* Batches: one command for many claims. */
#ifndef RL_HOST_BATCH_H
#define RL_HOST_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/command.h"
#include "host/transport.h"
#include "util/instant.h"
#include "util/list.h"
#include "kinds/command.h"

struct rl_claim;
struct rl_effect;
struct rl_host;

/* In the order in which what one turn has gathered is written, which is that of the steps of one claim. */
enum rl_batch_kind {
    RL_BATCH_ENQUEUES,
    RL_BATCH_REFRESHES,
    RL_BATCH_EXTENSIONS,
    RL_BATCH_RELEASES,
    RL_BATCH_ROLLBACKS,
    RL_BATCH_KINDS,
};

/* One batch for the command to all masters. It goes back among the spare ones when the last master has ended it. */
struct rl_batch {
    struct rl_list link;    /* in the host's list of all */
    struct rl_batch *next_spare;
    enum rl_batch_kind kind;
    struct rl_instant sent;
    uint32_t nodes;
    uint32_t ttl_ms;        /* of a wait queue: the lease */
    size_t n;
    unsigned unanswered;    /* masters */
    struct {
        struct rl_claim *claim;
        uint32_t round;
        uint64_t ticket;    /* of a refresh */
    } entries[RL_BATCH_MAX];
};

struct rl_batching {
    struct rl_batch *gathered[RL_BATCH_KINDS]; /* in this turn, not written yet; NULL: nothing */
    struct rl_batch *spare;
    struct rl_list all;
};

static inline enum rl_step rl_batch_step(const struct rl_batch *batch)
{
    static const enum rl_step steps[RL_BATCH_KINDS] = {
        [RL_BATCH_ENQUEUES] = RL_STEP_ENQUEUE,   [RL_BATCH_REFRESHES] = RL_STEP_ENQUEUE,
        [RL_BATCH_EXTENSIONS] = RL_STEP_EXTEND,  [RL_BATCH_RELEASES] = RL_STEP_RELEASE,
        [RL_BATCH_ROLLBACKS] = RL_STEP_ROLLBACK,
    };

    return steps[batch->kind];
}

void rl_batch_init(struct rl_batching *batching);
void rl_batch_fini(struct rl_batching *batching);

/* Takes an RL_EFFECT_SEND into a batch. false: the command must be written alone, and now: what is gathered that has to
 * reach the masters before it has been written. */
bool rl_batch_gather(struct rl_host *host, const struct rl_effect *effect);

/* Writes all that is gathered: at the end of the turn, and before what no effect asks for. true: any was. */
bool rl_batch_flush(struct rl_host *host);

/* The master did not know the script: the batch is written to it once more, as it was, when nothing is gathered.
 * false: it may not be, or cannot be. */
bool rl_batch_repeat(struct rl_host *host, unsigned node, const struct rl_tag *tag);

/* The last master has ended the batch. */
void rl_batch_give_back(struct rl_batching *batching, struct rl_batch *batch);

#endif
