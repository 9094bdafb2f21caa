#include "engine/set.h"

#include <assert.h>
#include <string.h>

#include "engine/hold.h"

/* The first part that is not a permit behind the same gate as this one. */
static unsigned end_of_permits(const struct rl_set_plan *plan, unsigned part)
{
    unsigned end = part + 1;

    while (rl_parts_has(plan->permits, part) && end < plan->n && rl_parts_has(plan->permits, end))
        end++;
    return end;
}

/* Gives up the parts from `first` on. */
static struct rl_parts give_up_from(struct rl_set_plan *plan, unsigned first)
{
    struct rl_parts given_up = {{0}};

    for (unsigned i = first; i < plan->n; i++) {
        if (plan->parts[i] != RL_PART_FREE && plan->parts[i] != RL_PART_REFUSED)
            rl_parts_add(&given_up, i);
        plan->parts[i] = RL_PART_FREE;
    }
    return given_up;
}

/* Permits that were kept, or are still being tried, stay as they are. */
static struct rl_parts try_from(struct rl_set_plan *plan, unsigned first)
{
    struct rl_parts tried = {{0}};

    for (unsigned i = first; i < plan->n; i++) {
        if (plan->parts[i] != RL_PART_FREE && plan->parts[i] != RL_PART_REFUSED)
            continue;
        plan->parts[i] = RL_PART_TRIED;
        rl_parts_add(&tried, i);
    }
    return tried;
}

static struct rl_set_step fail(struct rl_set_plan *plan, unsigned decisive)
{
    return (struct rl_set_step){.give_up = give_up_from(plan, 0), .outcome = RL_SET_FAILED, .decisive = decisive};
}

/* The larger parts need not have been answered: they are given up whatever the answer will be. */
static struct rl_set_step wait_for(struct rl_set_plan *plan, unsigned part)
{
    struct rl_set_step step = {0};

    rl_parts_add(&step.await, part);
    plan->parts[part] = RL_PART_AWAITED;
    step.give_up = give_up_from(plan, end_of_permits(plan, part));
    return step;
}

/* All smaller parts have to be known before a refusal counts. */
static struct rl_set_step decide(struct rl_set_plan *plan, bool may_wait)
{
    for (unsigned i = 0; i < plan->n; i++) {
        if (plan->parts[i] == RL_PART_HELD)
            continue;
        if (plan->parts[i] != RL_PART_REFUSED)
            return (struct rl_set_step){0};
        return may_wait ? wait_for(plan, i) : fail(plan, i);
    }
    return (struct rl_set_step){.outcome = RL_SET_HELD, .give_up = plan->gates};
}

struct rl_set_step rl_set_begin(struct rl_set_plan *plan, unsigned n, struct rl_parts gates, struct rl_parts permits)
{
    assert(n >= 1 && n <= RL_SET_MAX_PARTS);
    memset(plan, 0, sizeof *plan);
    plan->n = n;
    plan->gates = gates;
    plan->permits = permits;
    return (struct rl_set_step){.try = try_from(plan, 0)};
}

struct rl_set_step rl_set_granted(struct rl_set_plan *plan, unsigned part, bool may_wait)
{
    bool awaited = plan->parts[part] == RL_PART_AWAITED;
    struct rl_set_step step = {0};

    assert(awaited || plan->parts[part] == RL_PART_TRIED);
    plan->parts[part] = RL_PART_HELD;
    if (awaited)
        step.try = try_from(plan, part + 1);
    return rl_parts_any(step.try) ? step : decide(plan, may_wait);
}

struct rl_set_step rl_set_refused(struct rl_set_plan *plan, unsigned part, bool may_wait)
{
    bool awaited = plan->parts[part] == RL_PART_AWAITED;

    assert(awaited || plan->parts[part] == RL_PART_TRIED);
    plan->parts[part] = RL_PART_REFUSED;
    return awaited ? fail(plan, part) : decide(plan, may_wait);
}

struct rl_set_step rl_set_abandon(struct rl_set_plan *plan)
{
    return fail(plan, 0);
}

static bool may_wait(const struct rl_set *set, struct rl_instant now)
{
    return !set->canceled && rl_before(now, set->deadline);
}

/* Parts that were granted first have used some of their validity up while others were awaited. */
static bool is_valid_enough(const struct rl_set *set, struct rl_instant now)
{
    for (unsigned i = 0; i < set->n; i++) {
        struct rl_instant deadline = rl_lock_deadline(set->engine, set->locks[i]);

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

    if (step.outcome == RL_SET_HELD && !is_valid_enough(set, now))
        return give_up(set, now);
    return step;
}

struct rl_set_step rl_set_part_refused(struct rl_set *set, struct rl_instant now, unsigned part)
{
    return rl_set_refused(&set->plan, part, may_wait(set, now));
}

struct rl_set_step rl_set_part_lost(struct rl_set *set, struct rl_instant now, unsigned part)
{
    if (set->plan.parts[part] != RL_PART_HELD)
        return (struct rl_set_step){.outcome = RL_SET_PENDING};
    return give_up(set, now);
}

/* The lost part is kept, since it has an alarm and perhaps a result to report. */
struct rl_parts rl_set_rest(const struct rl_set *set, unsigned part)
{
    struct rl_parts rest = rl_parts_below(set->n);

    rl_parts_remove(&rest, part);
    return rest;
}
