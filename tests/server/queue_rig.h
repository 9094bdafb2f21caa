/* What the tests of waiting in line share: seats in the queue, and looks at the queues on the masters. */
#ifndef TESTS_QUEUE_RIG_H
#define TESTS_QUEUE_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rig.h"

/* A waiter for a key: its lock, what became of it, and when. */
struct seat {
    struct rig *rig;
    struct redlock_lock *lock;
    struct outcome outcome;
    unsigned turn;         /* 1: the first of all seats that has got its lock; 0: it has not */
    int64_t held_at_ns;    /* CLOCK_BOOTTIME, first thing in the callback */
    int64_t remaining_ns;  /* in the callback */
    uint64_t commands;     /* of its client, in the callback */
};

/* A request to wait for long, with a ttl of 10 s. */
struct redlock_acquire_options queue_request(void);

/* Starts to acquire; turns are counted anew with the first seat after queue_open(). */
void queue_open(void);
void seat_start(struct rig *rig, struct seat *seat, struct redlock_client *client, const char *key,
                const struct redlock_acquire_options *request);

/* The same, and waits until it is in line on every running master. */
void seat_take(struct rig *rig, struct seat *seat, struct redlock_client *client, const char *key,
               const struct redlock_acquire_options *request);

/* Until it is in line (again) on n masters. */
void seat_wait_in_line(struct seat *seat, size_t n);

/* Waits until it holds the lock. */
void seat_wait_held(struct seat *seat);

/* Releases; the callback is not waited for. */
void seat_leave(struct seat *seat);

/* The same, waits until its client has nothing under way any more, and destroys the lock. */
void seat_end(struct seat *seat);

/* On how many masters is the value in the queue of the key? */
size_t queue_count(struct rig *rig, const char *key, const char *value);

/* How many wait on this master. */
size_t queue_length(struct rig *rig, size_t node, const char *key);

/* Until no running master has the key, a queue for it, or waiters. */
void queue_wait_gone(struct rig *rig, const char *key);

/* Until nobody waits on any running master. */
void queue_wait_empty(struct rig *rig, const char *key);

#endif
