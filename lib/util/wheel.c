/* IMPLEMENTATION NOTES
 *
 * Tick t is the millisecond [origin + t ms, origin + (t+1) ms); its timers are in bucket t modulo RL_WHEEL_BUCKETS,
 * together with those of any later turn of the wheel, which a pass skips: a whole bucket by what is noted of it, since
 * looking at each of very many timers would cost more than firing them; or one by one. A pass at `now` visits every
 * tick from done + 1 to the current one. The current tick has not ended, so it is visited again by the next pass: done
 * stops before it.
 *
 * What is due is first moved to a list of its own and only then fired, so that fire functions may do what they like to
 * the wheel: disarming takes a timer out of whichever list it is in, and arming puts it into a bucket, never back into
 * the list being fired. */
#include "util/wheel.h"

#include <stdbool.h>

#define WORD_BITS 64
#define N_WORDS (RL_WHEEL_BUCKETS / WORD_BITS)

static struct rl_timer *timer_of(struct rl_list *link)
{
    return RL_CONTAINER_OF(link, struct rl_timer, link);
}

/* Unsigned arithmetic: the difference of any two instants fits. */
static int64_t tick_of(const struct rl_wheel *wheel, struct rl_instant at)
{
    if (at.ns <= wheel->origin.ns)
        return 0;
    return (int64_t)(((uint64_t)at.ns - (uint64_t)wheel->origin.ns) / (uint64_t)RL_NS_PER_MS);
}

void rl_wheel_init(struct rl_wheel *wheel, struct rl_instant now)
{
    wheel->origin = now;
    wheel->done = -1;
    for (size_t i = 0; i < N_WORDS; i++)
        wheel->occupied[i] = 0;
    for (size_t i = 0; i < RL_WHEEL_BUCKETS; i++)
        rl_list_init(&wheel->buckets[i]);
    for (size_t i = 0; i < RL_WHEEL_BUCKETS; i++)
        wheel->earliest[i] = RL_NEVER;
}

void rl_timer_init(struct rl_timer *timer, rl_timer_fn fire)
{
    rl_list_init(&timer->link);
    timer->at = RL_NEVER;
    timer->fire = fire;
}

void rl_wheel_arm(struct rl_wheel *wheel, struct rl_timer *timer, struct rl_instant at)
{
    int64_t tick = tick_of(wheel, at);
    size_t bucket;

    rl_list_remove(&timer->link);
    timer->at = at;
    if (at.ns == RL_NEVER.ns)
        return;
    if (tick <= wheel->done)
        tick = wheel->done + 1;
    bucket = (size_t)(tick % RL_WHEEL_BUCKETS);
    rl_list_append(&wheel->buckets[bucket], &timer->link);
    wheel->earliest[bucket] = rl_earlier(wheel->earliest[bucket], at);
    wheel->occupied[bucket / WORD_BITS] |= UINT64_C(1) << (bucket % WORD_BITS);
}

void rl_wheel_disarm(struct rl_wheel *wheel, struct rl_timer *timer)
{
    rl_list_remove(&timer->link);
    timer->at = RL_NEVER;
}

/* The first tick in [from, limit] whose bucket is marked; limit + 1 if there is none. */
static int64_t next_marked(const struct rl_wheel *wheel, int64_t from, int64_t limit)
{
    while (from <= limit) {
        size_t bucket = (size_t)(from % RL_WHEEL_BUCKETS);
        uint64_t word = wheel->occupied[bucket / WORD_BITS] >> (bucket % WORD_BITS);

        if (word) {
            from += __builtin_ctzll(word);
            return from <= limit ? from : limit + 1;
        }
        from += WORD_BITS - (int64_t)(bucket % WORD_BITS);
    }
    return limit + 1;
}

/* Moves what is due at `now` from one bucket to the end of `due`. */
static void collect(struct rl_wheel *wheel, size_t bucket, struct rl_instant now, struct rl_list *due)
{
    struct rl_list *head = &wheel->buckets[bucket];
    struct rl_instant earliest = RL_NEVER;
    struct rl_list *next;

    if (rl_before(now, wheel->earliest[bucket]) && !rl_list_empty(head))
        return;
    for (struct rl_list *link = head->next; link != head; link = next) {
        next = link->next;
        if (rl_before(now, timer_of(link)->at)) {
            earliest = rl_earlier(earliest, timer_of(link)->at);
            continue;
        }
        rl_list_remove(link);
        rl_list_append(due, link);
    }
    wheel->earliest[bucket] = earliest;
    if (rl_list_empty(head))
        wheel->occupied[bucket / WORD_BITS] &= ~(UINT64_C(1) << (bucket % WORD_BITS));
}

void rl_wheel_expire(struct rl_wheel *wheel, struct rl_instant now)
{
    int64_t current = tick_of(wheel, now);
    int64_t limit = wheel->done + RL_WHEEL_BUCKETS; /* one turn visits every bucket */
    struct rl_list due;

    if (limit > current)
        limit = current;
    rl_list_init(&due);
    for (int64_t tick = next_marked(wheel, wheel->done + 1, limit); tick <= limit;
         tick = next_marked(wheel, tick + 1, limit))
        collect(wheel, (size_t)(tick % RL_WHEEL_BUCKETS), now, &due);
    if (current - 1 > wheel->done)
        wheel->done = current - 1;

    while (!rl_list_empty(&due)) {
        struct rl_timer *timer = timer_of(due.next);

        rl_list_remove(&timer->link);
        timer->fire(timer, now);
    }
}

/* A bucket may hold only timers of a later turn, or none any more. Where all do, the wake-up is early, once a turn. */
struct rl_instant rl_wheel_next(const struct rl_wheel *wheel)
{
    int64_t limit = wheel->done + RL_WHEEL_BUCKETS;
    bool any = false;

    for (int64_t tick = next_marked(wheel, wheel->done + 1, limit); tick <= limit;
         tick = next_marked(wheel, tick + 1, limit)) {
        size_t bucket = (size_t)(tick % RL_WHEEL_BUCKETS);
        struct rl_instant end = rl_after(wheel->origin, rl_ms(tick + 1));

        if (rl_list_empty(&wheel->buckets[bucket]))
            continue;
        if (rl_before(wheel->earliest[bucket], end))
            return end;
        any = true;
    }
    return any ? rl_after(wheel->origin, rl_ms(limit + 1)) : RL_NEVER;
}
