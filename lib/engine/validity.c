/* The validity of a lock: the ledger's while it is held, and none before and after. */
#include "engine/validity.h"

#include "engine/handle.h"
#include "util/mutant.h"
#include "votes/ledger.h"

struct rl_instant rl_lock_deadline(const struct rl_engine *engine, const struct rl_lock *lock)
{
    bool releasing = RL_MUTANT(RELEASE_KEEPS_VALIDITY) && lock->state == RL_LOCK_RELEASING;

    if (!rl_lock_is_held(lock) && !releasing)
        return RL_LONG_AGO;
    if (RL_MUTANT(VALIDITY_IS_A_FLAG))
        return RL_NEVER;
    return rl_ledger_deadline(lock->claim, engine->votes.config.guard);
}

enum rl_mode rl_lock_mode(const struct rl_lock *lock)
{
    if (RL_MUTANT(MODE_LOWERED_LATE) && lock->state == RL_LOCK_EXTENDING)
        return RL_EXCLUSIVE;
    return (enum rl_mode)lock->claim->mode;
}

bool rl_lock_is_valid(const struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now)
{
    return rl_before(now, rl_lock_deadline(engine, lock));
}
