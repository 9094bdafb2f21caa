/* What a program may ask of a set. */
#include "api/set_handle.h"

int64_t redlock_set_remaining_ns(const struct redlock_set *set)
{
    int64_t least = INT64_MAX;

    if (!set || set->destroyed || set->state != REDLOCK_STATE_HELD)
        return 0;
    for (unsigned i = 0; i < set->n; i++) {
        int64_t remaining = rl_set_is_gate(set, i) ? INT64_MAX : redlock_remaining_ns(set->parts[i].lock);

        if (remaining < least)
            least = remaining;
    }
    return least;
}

int64_t redlock_set_remaining_ms(const struct redlock_set *set)
{
    return redlock_set_remaining_ns(set) / RL_NS_PER_MS;
}

enum redlock_state redlock_set_state(const struct redlock_set *set)
{
    if (!set || set->destroyed)
        return REDLOCK_STATE_IDLE;
    if (set->state == REDLOCK_STATE_HELD && redlock_set_remaining_ns(set) == 0)
        return REDLOCK_STATE_LOST;
    if (set->state == REDLOCK_STATE_HELD && set->attempt.accepted)
        return REDLOCK_STATE_EXTENDING;
    return set->state;
}

size_t redlock_set_size(const struct redlock_set *set)
{
    return set ? rl_set_place_of(set, set->n) : 0;
}

const struct redlock_lock *redlock_set_lock(const struct redlock_set *set, size_t part)
{
    for (unsigned i = 0; set && i < set->n; i++) {
        if (!rl_set_is_gate(set, i) && part-- == 0)
            return set->parts[i].lock;
    }
    return NULL;
}
