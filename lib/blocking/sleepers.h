/* Threads that sleep until the lead has something for them. Each has a place, which is a bit of one of a few futexes,
 * so that many threads are woken by one system call. A thread that comes when all places are taken sleeps at a word of
 * its own. */
#ifndef RL_BLOCKING_SLEEPERS_H
#define RL_BLOCKING_SLEEPERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define RL_DORMITORIES 8
#define RL_PLACES (RL_DORMITORIES * 32)
#define RL_NO_PLACE RL_PLACES

struct rl_dormitory {
    _Atomic uint32_t taken; /* a bit for each place */
    _Atomic uint32_t calls; /* the futex */
    uint32_t called;        /* of the lead: to be woken */
};

struct rl_sleepers {
    struct rl_dormitory dormitories[RL_DORMITORIES];
};

void rl_sleepers_init(struct rl_sleepers *sleepers);

/* Any thread. NO_PLACE: all are taken. */
unsigned rl_sleepers_enter(struct rl_sleepers *sleepers);
void rl_sleepers_leave(struct rl_sleepers *sleepers, unsigned place);

/* While *state is `value`, which the lead changes before the call. False: the end has passed. True: look again,
 * something may have changed. */
bool rl_sleepers_sleep(struct rl_sleepers *sleepers, unsigned place, _Atomic uint32_t *state, uint32_t value,
                       int64_t end_ns);

/* Whoever sleeps here wakes. The state may be gone already. */
void rl_sleepers_wake(struct rl_sleepers *sleepers, unsigned place, _Atomic uint32_t *state);

/* The lead: the same, together with all others who are called, but for who has no place: he wakes at once. */
void rl_sleepers_call(struct rl_sleepers *sleepers, unsigned place, _Atomic uint32_t *state);
void rl_sleepers_wake_called(struct rl_sleepers *sleepers);

#endif
