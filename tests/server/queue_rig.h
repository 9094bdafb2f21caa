/* What the tests of waiting in the queue share: waiters in the queue, and looks at the queues on the masters. */
#ifndef TESTS_QUEUE_RIG_H
#define TESTS_QUEUE_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rig.h"

/* A waiter for a key: its lock, what became of it, and when. */
struct waiter {
    struct rig *rig;
    struct redlock_lock *lock;
    struct outcome outcome;
    unsigned turn;         /* 1: the first of all waiters that has got its lock; 0: it has not */
    int64_t held_at_ns;    /* CLOCK_BOOTTIME, first thing in the callback */
    int64_t remaining_ns;  /* in the callback */
    uint64_t commands;     /* of its client, in the callback */
};

/* A request to wait for long, with a ttl of 10 s. */
struct redlock_acquire_options queue_request(void);

/* n waiters of the rig's client, in this order. */
void queue_fill(struct rig *rig, struct waiter *waiters, size_t n, const char *key);

/* Starts to acquire; turns are counted anew with the first waiter after queue_open(). */
void queue_open(void);
void waiter_start(struct rig *rig, struct waiter *waiter, struct redlock_client *client, const char *key,
                  const struct redlock_acquire_options *request);

/* The same, and waits until it is in the queue on every running master. */
void waiter_take(struct rig *rig, struct waiter *waiter, struct redlock_client *client, const char *key,
                 const struct redlock_acquire_options *request);

/* Until it is in the queue (again) on n masters. */
void waiter_wait_in_queue(struct waiter *waiter, size_t n);

/* Waits until it holds the lock. */
void waiter_wait_held(struct waiter *waiter);

/* Releases; the callback is not waited for. */
void waiter_leave(struct waiter *waiter);

/* The same, waits until its client has nothing under way any more, and destroys the lock. */
void waiter_end(struct waiter *waiter);

/* On how many masters is the value in the queue of the key? */
size_t queue_count(struct rig *rig, const char *key, const char *value);

/* How many wait on this master. */
size_t queue_length(struct rig *rig, size_t node, const char *key);

/* Until no running master has the key, a queue for it, or waiters. */
void queue_wait_gone(struct rig *rig, const char *key);

/* Until nobody waits on any running master. */
void queue_wait_empty(struct rig *rig, const char *key);

#endif
