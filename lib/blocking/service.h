/* A service: its data, its memory, and how other threads ask something of it.
 *
 *     a caller                                   the loop's owner: the caller itself, another one, or the thread
 *     begins a call                    --post->  starts an operation of the client
 *     waits                                      its callback: the call has ended
 *                                                the client writes what it has to write
 *     goes on                          <-wake--  the end of the turn: publishes the validity, tells the caller
 *
 * Memory: a service is kept by its owner, its mutexes, its queues, its latches, and the calls in progress; a mutex by
 * its owner, its operations in flight, its entries in queues, and the calls in progress; a latch by its owner and the
 * calls in progress. The client, its locks and its latches belong to the loop's owner, and end with the service's
 * thread.
 *
 * The files, from the bottom to the top; each calls those above it in this list only:
 *
 *     sleepers.c        waiting until a point in time: many threads at few futexes, or one for one event
 *     result.c          results that outlive their callback
 *     bound.c           the validity of a held lock, as all threads may read it
 *     holder.c          the locks and sets of a service, and what is asked of them
 *     loop.c            what other threads ask of the loop's owner, who that is, and the end of each turn
 *     service.c         the service's memory
 *     queue.c           the completion queue
 *     job.c             a thread that waits for what the owner does
 *     recursion.c       the owners of a recursive mutex, and who waits for their end
 *     mutex.c           a mutex's memory, and what all threads may read of it
 *     operation.c       acquire, extend, convert, release: the owner's side and the program's
 *     lock.c            lock and unlock, of recursive mutexes, too
 *     alarm.c           the loss alarm
 *     request.c         creation and end of mutexes, and what needs the owner for a moment only
 *     control.c         statistics, looks, functions on the thread, shutdown
 *     latch.c           latches
 *     service_life.c    creation and end of services, and the thread */
#ifndef RL_BLOCKING_SERVICE_H
#define RL_BLOCKING_SERVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include <redlock/blocking.h>

#include "blocking/holder.h"
#include "blocking/loop.h"
#include "util/list.h"

struct redlock_service {
    atomic_uint references;
    unsigned fork_generation;
    struct rl_loop loop;
    pthread_t thread;
    uint32_t max_ttl_ms;
    size_t n_nodes;
    redlock_event_fn on_event; /* the program's hook, and the types of events that it is called for */
    void *event_data;
    uint32_t event_types;
    struct redlock_service *next_orphan; /* in a forked child */

    /* Of the loop's owner from here on. */
    struct redlock_client *client; /* NULL: it has ended */
    struct rl_holders holders;
    struct rl_list ended;          /* jobs whose callers are told at the end of this turn: job.c */
};

/* 0, E_ARGUMENT, E_FORKED. */
int rl_service_check(const struct redlock_service *service);

void rl_service_ref(struct redlock_service *service);
void rl_service_unref(struct redlock_service *service);

#endif
