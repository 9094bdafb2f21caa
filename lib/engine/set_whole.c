#include "engine/set_whole.h"

#include "engine/validity.h"
#include "util/mutant.h"

static bool may_wait(const struct rl_set *set, struct rl_instant now)
{
    return !set->canceled && rl_before(now, set->deadline);
}

/* Parts that were granted first have used some of their validity up while others were awaited. */
static bool is_valid_enough(const struct rl_set *set, struct rl_instant now)
{
    for (unsigned i = 0; i < set->n; i++) {
        struct rl_instant deadline = rl_lock_deadline(set->engine, set->locks[i]);

        if (RL_MUTANT(SET_GATE_IGNORED) && rl_parts_has(set->gates, i))
            continue;
        if (!rl_before(now, deadline) || rl_before(deadline, rl_after(now, set->min_validity)))
            return false;
    }
    return true;
}

static struct rl_set_step give_up(struct rl_set *set, struct rl_instant now)
{
    struct rl_set_step step = rl_set_abandon(&set->plan);

    step.outcome = may_wait(set, now) ? RL_SET_AGAIN : RL_SET_TOO_SLOW;
    return step;
}

struct rl_set_step rl_set_acquire_again(struct rl_set *set)
{
    return rl_set_begin(&set->plan, set->n, set->gates, set->permits);
}

struct rl_set_step rl_set_acquire(struct rl_set *set)
{
    set->canceled = false;
    return rl_set_acquire_again(set);
}

struct rl_set_step rl_set_part_granted(struct rl_set *set, struct rl_instant now, unsigned part)
{
    struct rl_set_step step = rl_set_granted(&set->plan, part, may_wait(set, now));

    if (step.outcome == RL_SET_HELD && !is_valid_enough(set, now) && !RL_MUTANT(SET_LOSS_OVERLOOKED))
        return give_up(set, now);
    return step;
}

struct rl_set_step rl_set_part_refused(struct rl_set *set, struct rl_instant now, unsigned part)
{
    return rl_set_refused(&set->plan, part, may_wait(set, now));
}

struct rl_set_step rl_set_part_lost(struct rl_set *set, struct rl_instant now, unsigned part)
{
    if (set->plan.parts[part] != RL_PART_HELD || RL_MUTANT(SET_LOSS_OVERLOOKED))
        return (struct rl_set_step){.outcome = RL_SET_PENDING};
    return give_up(set, now);
}

/* The lost part is kept, since it has an alarm and perhaps a result to report. */
struct rl_parts rl_set_rest(const struct rl_set *set, unsigned part)
{
    struct rl_parts rest = rl_parts_below(RL_MUTANT(SET_REST_KEPT) ? 0 : set->n);

    rl_parts_remove(&rest, part);
    return rest;
}
