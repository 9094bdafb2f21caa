/* One task of the load, as a small state machine on the library's callbacks: acquire, hold, release, again. */
#ifndef BENCH_TASK_H
#define BENCH_TASK_H

#include <redlock/redlock.h>

#include "seat.h"

struct event;
struct event_base;
struct bench_load;

struct bench_task {
    struct bench_load *load;
    struct redlock_lock *lock;
    struct event *hold_timer; /* NULL if locks are released at once */
    uint64_t claim;           /* with the referee */
    int64_t asked_ns;
    int64_t acquired_ns;
    int64_t released_ns;
    uint32_t number;          /* through all processes */
};

/* All tasks of one process. */
struct bench_load {
    struct bench_seat *seat;
    struct event_base *base;
    struct redlock_client *client;
    struct redlock_acquire_options acquire;
    struct timeval hold;
    struct bench_task *tasks;
    uint32_t next_key;
    bool stopping;
    bool broken; /* a call was refused, which no scenario provokes: the coordinator has been told */
};

bool bench_load_init(struct bench_load *load, struct bench_seat *seat, struct event_base *base,
                     struct redlock_client *client);
void bench_load_fini(struct bench_load *load); /* after the client's end */

/* Every task asks for its lock: at the start, and at the beginning of each round. */
void bench_load_start(struct bench_load *load);

/* No task does anything more. */
void bench_load_stop(struct bench_load *load);

#endif
