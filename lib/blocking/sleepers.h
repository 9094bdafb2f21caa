/* Threads that wait: one at a futex until a point in time, many at few futexes, and one for one event. */
#ifndef RL_BLOCKING_SLEEPERS_H
#define RL_BLOCKING_SLEEPERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "util/list.h"

#define RL_WAIT_FOREVER INT64_MAX

/* CLOCK_MONOTONIC. */
int64_t rl_monotonic_ns(void);

/* The instant that is `ms` from now; RL_WAIT_FOREVER if `ms` is negative. */
int64_t rl_monotonic_after_ms(int64_t ms);

struct timespec rl_monotonic_timespec(int64_t ns);

/* Waits while the word has this value, until a wake that names one of the bits, or until rl_monotonic_ns() reaches the
 * end. False: the end has passed. True: the caller has to look again, since something may have changed. */
#define RL_ANY_BIT UINT32_MAX
bool rl_futex_wait(_Atomic uint32_t *word, uint32_t value, uint32_t bits, int64_t end_ns);

/* The first wakes one thread, whatever its bits; the second wakes all threads that wait for one of these bits. The
 * kernel only compares addresses, so the memory of the word may be gone already. */
void rl_futex_wake(_Atomic uint32_t *word);
void rl_futex_wake_all(_Atomic uint32_t *word, uint32_t bits);

/* Threads that sleep until the loop's owner (loop.h) wakes them. Each has a place, which is one bit of one of a few
 * futexes, so that one system call wakes many threads. A thread that finds all places taken sleeps at a word of its
 * own. */

#define RL_SLEEPER_GROUPS 8
#define RL_SLEEPER_PLACES (RL_SLEEPER_GROUPS * 32)
#define RL_NO_SLEEPER RL_SLEEPER_PLACES

struct rl_sleeper_group {
    _Atomic uint32_t taken; /* a bit for each place */
    _Atomic uint32_t wakes; /* the futex */
    uint32_t marked;        /* of the owner: the places that rl_sleepers_wake_marked() wakes */
};

struct rl_sleepers {
    struct rl_sleeper_group groups[RL_SLEEPER_GROUPS];
};

void rl_sleepers_init(struct rl_sleepers *sleepers);

/* Any thread. RL_NO_SLEEPER: all are taken. */
unsigned rl_sleepers_enter(struct rl_sleepers *sleepers);
void rl_sleepers_leave(struct rl_sleepers *sleepers, unsigned place);

/* Sleeps while *state is `value`; the owner changes the state before it wakes the place. False: the end has passed.
 * True: the caller has to look again, since something may have changed. */
bool rl_sleepers_sleep(struct rl_sleepers *sleepers, unsigned place, _Atomic uint32_t *state, uint32_t value,
                       int64_t end_ns);

/* Wakes the thread that sleeps in the place. The memory of the state may be gone already. */
void rl_sleepers_wake(struct rl_sleepers *sleepers, unsigned place, _Atomic uint32_t *state);

/* The owner: marks the place, and wakes all that are marked. A thread without a place wakes when it would be marked. */
void rl_sleepers_mark(struct rl_sleepers *sleepers, unsigned place, _Atomic uint32_t *state);
void rl_sleepers_wake_marked(struct rl_sleepers *sleepers);

/* One thread that waits for one event, until a point in time. */

/* There is no mutex here. The thread that tells of the event touches nothing of the waiter after the store that lets
 * the waiting thread go, so the waiter may be on that thread's stack. And the waiting thread never finds a mutex that
 * the other has yet to unlock, which would double the time of a round trip. */
struct rl_waiter {
    _Atomic uint32_t state;
    unsigned place;           /* among the sleepers: from the store that says ASLEEP to the end of the wait */
    struct rl_list follower; /* of the loop's owner: loop.c */
};

/* Before each event. */
void rl_waiter_reset(struct rl_waiter *waiter);

/* Instead: nobody waits for the event. */
void rl_waiter_give_up(struct rl_waiter *waiter);

/* TIMEOUT: rl_monotonic_ns() has reached the end, and whoever tells of the event will learn that nobody waits.
 * OWNER: the thread has been given the event loop, and has to wait again afterwards. */
enum rl_waited { RL_WAITED_TIMEOUT, RL_WAITED_DONE, RL_WAITED_OWNER };
enum rl_waited rl_waiter_wait(struct rl_waiter *waiter, struct rl_sleepers *sleepers, int64_t end_ns);

bool rl_waiter_is_done(const struct rl_waiter *waiter);

/* The loop's owner: tells of the event. The wake is that of rl_sleepers_wake_marked(), which must follow soon. False:
 * the wait has been given up. Afterwards the waiter may be gone; the sleepers must not be. */
bool rl_waiter_tell(struct rl_waiter *waiter, struct rl_sleepers *sleepers);

/* The loop's owner: gives the loop to the waiting thread. False: the wait is over, and the loop stays where it is. */
bool rl_waiter_give_loop(struct rl_waiter *waiter, struct rl_sleepers *sleepers);

#endif
