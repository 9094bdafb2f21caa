/* Conversion: a held lock gets a weaker mode (family 3.2), or a second claim, which is stronger, in the place of its
 * first one (family 3.3). */
#include "engine/convert.h"

#include <assert.h>

#include "engine/states.h"
#include "votes/rollback.h"

/* What the masters have is at least as strong as what the handle says from here on, so no other claim that conflicts
 * with it can have a quorum. Telling the masters first would let one in while this one still counts as stronger. */
void rl_lock_lower(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, const struct rl_kind *kind,
                   enum rl_mode mode)
{
    struct rl_claim *claim = lock->claim;

    assert(lock->state == RL_LOCK_HELD && (unsigned)mode >= claim->mode);
    claim->kind = kind;
    claim->mode = (uint8_t)mode;
    claim->stronger = rl_bit(claim->n_nodes) - 1;
    rl_lock_extend(engine, lock, now, 0);
}

/* What was known of the former claim's renewals and dangers goes with it. */
static void change_claims(struct rl_lock *lock, struct rl_lock *by)
{
    struct rl_claim *former = lock->claim;
    struct rl_instant end = lock->hold.end;

    lock->hold = by->hold;
    lock->hold.end = end;
    lock->wake = by->wake;
    lock->round_start = by->round_start;
    lock->claim = by->claim;
    lock->claim->lock = lock;
    by->claim = former;
    former->lock = by;
}

bool rl_lock_replace(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, struct rl_lock *by)
{
    rl_lock_check_deadline(engine, lock, now);
    if (lock->state != RL_LOCK_HELD)
        return false;
    change_claims(lock, by);
    rl_rollback_start(&engine->votes, by->claim, RL_STEP_RELEASE, now);
    rl_lock_follow(engine, by, now, rl_go(RL_LOCK_IDLE, RL_END_NONE, RL_END_NONE));
    rl_lock_set_claim(engine, by, NULL);
    return true;
}
