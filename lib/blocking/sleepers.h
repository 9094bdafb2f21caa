/* Threads that sleep until the loop's owner (loop.h) wakes them. Each has a slot, which is one bit of one of a few
 * futexes, so that one system call wakes many threads. A thread that finds all slots taken sleeps at a word of its
 * own. */
#ifndef RL_BLOCKING_SLEEPERS_H
#define RL_BLOCKING_SLEEPERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define RL_SLEEPER_GROUPS 8
#define RL_SLEEPER_SLOTS (RL_SLEEPER_GROUPS * 32)
#define RL_NO_SLEEPER RL_SLEEPER_SLOTS

struct rl_sleeper_group {
    _Atomic uint32_t taken; /* a bit for each slot */
    _Atomic uint32_t wakes; /* the futex */
    uint32_t marked;        /* of the owner: the slots that rl_sleepers_wake_marked() wakes */
};

struct rl_sleepers {
    struct rl_sleeper_group groups[RL_SLEEPER_GROUPS];
};

void rl_sleepers_init(struct rl_sleepers *sleepers);

/* Any thread. RL_NO_SLEEPER: all are taken. */
unsigned rl_sleepers_enter(struct rl_sleepers *sleepers);
void rl_sleepers_leave(struct rl_sleepers *sleepers, unsigned slot);

/* Sleeps while *state is `value`; the owner changes the state before it wakes the slot. False: the end has passed.
 * True: the caller has to look again, since something may have changed. */
bool rl_sleepers_sleep(struct rl_sleepers *sleepers, unsigned slot, _Atomic uint32_t *state, uint32_t value,
                       int64_t end_ns);

/* Wakes the thread that sleeps in the slot. The memory of the state may be gone already. */
void rl_sleepers_wake(struct rl_sleepers *sleepers, unsigned slot, _Atomic uint32_t *state);

/* The owner: marks the slot, and wakes all that are marked. A thread without a slot wakes when it would be marked. */
void rl_sleepers_mark(struct rl_sleepers *sleepers, unsigned slot, _Atomic uint32_t *state);
void rl_sleepers_wake_marked(struct rl_sleepers *sleepers);

#endif
