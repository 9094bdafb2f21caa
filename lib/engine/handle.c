#include "engine/handle.h"

#include <assert.h>

#include "votes/epoch_check.h"

void rl_lock_notify(struct rl_engine *engine, struct rl_lock *lock, enum rl_notice notice)
{
    lock->notices |= notice & RL_NOTICES;
    if (rl_list_empty(&lock->queue))
        rl_list_append(&engine->notices, &lock->queue);
}

void rl_lock_complete(struct rl_engine *engine, struct rl_lock *lock, enum rl_op op, enum rl_end status,
                      enum rl_end cause)
{
    assert(!(lock->notices & RL_NOTICE_COMPLETE));
    lock->attempts = rl_lock_is_acquiring(lock) ? lock->acquisition.attempts : 1;
    lock->ended = op & 7u;
    lock->status = status & 15u;
    lock->cause = cause & 15u;
    rl_lock_notify(engine, lock, RL_NOTICE_COMPLETE);
}

void rl_lock_set_claim(struct rl_engine *engine, struct rl_lock *lock, struct rl_claim *claim)
{
    struct rl_claim *former = lock->claim;

    lock->claim = claim;
    if (claim)
        claim->lock = lock;
    if (former) {
        rl_epoch_check_drop(former);
        former->lock = NULL;
        rl_votes_settle(&engine->votes, former);
    }
}
