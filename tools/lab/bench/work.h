/* What a client process of the library does once it is connected: one implementation for each kind of scenario. */
#ifndef BENCH_WORK_H
#define BENCH_WORK_H

#include <redlock/redlock.h>

#include "worker.h"

struct event_base;

/* Where the work is done. Outlives it; the clients end before it does. */
struct bench_setting {
    struct bench_worker *worker;
    struct event_base *base;
    struct redlock_client **clients; /* one, or one for each task */
    uint32_t n_clients;
};

struct bench_work_type {
    bool client_for_each_task;
    void *(*create)(const struct bench_setting *setting); /* NULL: no memory */
    void (*destroy)(void *work);                          /* NULL is fine */
    void (*prepare)(void *work); /* the clients are connected; it sends READY. NULL: READY is sent for it */
    void (*start)(void *work);   /* START, and the beginning of each round */
    void (*stop)(void *work);    /* nothing is begun any more; callbacks may still come */
    void (*end)(void *work);     /* a phase is about to end; NULL: nothing to do */
};

extern const struct bench_work_type bench_load_work;  /* task.c */
extern const struct bench_work_type bench_hold_work;  /* hold.c */
extern const struct bench_work_type bench_fence_work; /* fence.c */
extern const struct bench_work_type bench_sets_work;  /* sets.c */
extern const struct bench_work_type bench_readers_work; /* readers.c */
extern const struct bench_work_type bench_reenter_work; /* reenter.c */
extern const struct bench_work_type bench_latch_work; /* latch.c */
extern const struct bench_work_type bench_election_work; /* election.c */

/* A call of the library was refused, which no scenario provokes. */
void bench_work_refused(struct bench_worker *worker, bool *broken, const char *call, int status);

/* The round trips of a release, by which the time to the next holder is to be judged. */
void bench_work_note_trips(struct bench_record *record, const struct redlock_result *result);

#endif
