/* A tiny world for permits (rules 10): one master that runs the shipped scripts, a semaphore of two slots, and three
 * clients. Whoever waits and is told of another slot may move there. That a slot has one holder at most is the mutex's
 * business (tiny.h); here it is who gets a slot, who is told of one, and what is left in queues and directory. */
#ifndef SIM_PERMITS_H
#define SIM_PERMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simulated/keyspace.h"
#include "script_view.h"
#include "scripts.h"

#define PERMITS_SLOTS 2
#define PERMITS_CLIENTS SCRIPT_CLIENTS
#define PERMITS_VALUES SCRIPT_VALUES /* a client's first, and the one with which it moves or tries again */
#define PERMITS_TICK_MS 100 /* for so long nobody is told twice */

struct permits_setup {
    struct script_run run;
    uint8_t homes[PERMITS_CLIENTS];
    uint8_t ttl[PERMITS_CLIENTS]; /* ticks; 0: there is no such client */
    bool again;  /* a client that has released may try once more */
    bool vanish; /* clients may go without a word */
};

enum permits_phase {
    PERMITS_NEW,
    PERMITS_MOVING, /* the first value has been rolled back, and this one has not joined yet */
    PERMITS_WAITING,
    PERMITS_HOLDING,
    PERMITS_ENDED, /* released */
    PERMITS_VANISHED,
};

struct permits_value {
    uint8_t phase;
    uint8_t slot;
    uint8_t counts_until; /* the tick from which on the vote does not count */
    uint8_t asked;        /* the tick of the latest refresh */
    uint8_t round;
    uint8_t ticket;
    uint8_t told_of;      /* 1 + the slot that it was told of; 0: none */
    uint8_t told_at;      /* 1 + tick */
};

struct permits {
    uint8_t now; /* tick */
    uint8_t taken_told_at; /* 1 + the tick in which somebody was last told of a slot that had been taken */
    struct permits_value values[PERMITS_VALUES];
    uint32_t told; /* values that this action has told of a slot */
    const char *wrong; /* static text */
    struct keyspace keys;
};

enum permits_kind {
    PERMITS_TICK,
    PERMITS_TRY,
    PERMITS_JOIN, /* or a refresh */
    PERMITS_EXTEND,
    PERMITS_RELEASE,
    PERMITS_MOVE, /* the first half: the value is rolled back */
    PERMITS_VANISH,
};

/* What the master has: permits_check.c reads it from the keys. */
struct permits_view {
    unsigned holders[PERMITS_SLOTS]; /* PERMITS_VALUES: nobody */
    size_t n_places[PERMITS_SLOTS];
    struct script_place places[PERMITS_SLOTS][PERMITS_VALUES];
    bool is_listed[PERMITS_VALUES];
};

extern const char *const permits_keys[PERMITS_SLOTS];
extern const char *const permits_queues[PERMITS_SLOTS];
extern const char *const permits_waiters[PERMITS_SLOTS];

static inline int64_t permits_now_ms(const struct permits *world)
{
    return INT64_C(1000000) + world->now * PERMITS_TICK_MS;
}

/* permits_world.c: what may happen, and how it happens. */
extern const struct search_rules permits_rules;

/* permits_check.c. Both set world->wrong: if the keys are not as they should be; and if the action was not right, seen
 * from what was there before. */
void permits_view(struct permits *world, struct permits_view *ret_view);
void permits_check(struct permits *world, const struct permits_view *before, const struct permits_view *after,
                   struct search_action action);

/* Is its lease, as of its latest refresh, still running? */
bool permits_is_waiting(const struct permits *world, const struct permits_setup *setup, unsigned value);

#endif
