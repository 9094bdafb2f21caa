/* A world: M clients, N masters, the network between them, one queue of events, one seed. */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "box.h"
#include "client.h"
#include "coverage.h"
#include "faults.h"
#include "simulated/lua_host.h"
#include "master.h"
#include "message.h"
#include "mutants.h"
#include "network.h"
#include "operator.h"
#include "operator_change.h"
#include "oracle.h"
#include "votes_held.h"
#include "plan.h"
#include "queue.h"
#include "rng.h"
#include "trace.h"
#include "workload.h"

struct story;

/* The fencing tokens handed out for a key, in the order of acceptance; the latest ones. */
#define MAX_FENCES 64

struct fence_record {
    uint32_t count;
    struct {
        int64_t at;       /* true time of the acceptance */
        uint64_t token;
        bool shared;
        uint64_t largest; /* of all tokens until then */
        uint64_t writer;  /* ... and of those of exclusive holds */
    } latest[MAX_FENCES];
};

/* A term of which a leader was told. */
struct told_term {
    uint64_t term;
    int64_t at;   /* true time */
    uint32_t box; /* of the leader's value */
};

/* A held lock on its way from one handle to another. */
struct parcel {
    uint32_t box; /* whose value; BOX_NONE: the place is free */
    int64_t since; /* true time: its former holder may have been stopped until then */
    uint8_t client;
    uint8_t key;
    uint8_t list;         /* by which its former client went ... */
    char view[VIEW_ROOM]; /* ... and its view; "": it was configured so */
    struct rl_host_exported exported; /* without its ledger, which is the origin's: by the clock of its former client */
    struct rl_host_origin origin;
};

#define MAX_PARCELS 8

#define LATCH "b" /* the name of the latch */
#define LATCH_GENERATIONS 6

/* What is true of one generation with one number of parties. */
struct latch_truth {
    uint32_t arrived;   /* set of parties */
    int64_t open_since[MAX_KNOWN_LISTS]; /* true time: a quorum of this list had recorded that it is open, and no memory
                                          * has been lost since; INT64_MAX: none */
};

/* What a master has of the latch. */
struct latch_state {
    bool there;
    bool open;
    unsigned parties;
    uint64_t generation;
    uint64_t was;      /* the generation before, which has opened; 0: none */
    unsigned was_parties;
    uint32_t arrived;
};

enum event_kind {
    EVENT_REQUEST,    /* a: conn */
    EVENT_ANSWER,     /* a: conn */
    EVENT_UP,         /* a: conn */
    EVENT_DOWN,       /* a: conn */
    EVENT_CLOSE_SEEN, /* a: conn */
    EVENT_WIRE,       /* a: client, b: master */
    EVENT_LISTENER,        /* a: client, b: master */
    EVENT_TIMER,      /* a: client */
    EVENT_APP,        /* a: client, b: handle */
    EVENT_SHUTDOWN,   /* a: client */
    EVENT_QUIT,       /* a: client */
    EVENT_LOOK,       /* a: client */
    EVENT_LATCH,      /* a: client, b: actor */
    EVENT_FREED,      /* a quorum has the first key no more that somebody had left */
    EVENT_OVERDUE,    /* a: client */
    EVENT_OBSERVE,    /* a: client */
    EVENT_ALARM,      /* a: client, b: handle */
    EVENT_CHECK,      /* a: client, b: handle */
    EVENT_LOOK_DUE,   /* a: client, b: its place */
    EVENT_LATCH_DUE,  /* a: client, b: its place and the operation */
    EVENT_STRIKE,     /* a: fault */
    EVENT_RECOVER,    /* a: slot */
    EVENT_RESTART,    /* a: master */
    EVENT_REVIVE,     /* a: client */
    EVENT_HEAL,
    EVENT_PROMPT,     /* rollback that could be done must have been done */
    EVENT_PATIENCE,   /* nobody has been in the queue for too long */
    EVENT_LIMIT,      /* everyone must have had the lock */
    EVENT_STORY,      /* a: line */
    EVENT_OPERATE,
    EVENT_CHANGE,     /* a: operator */
    EVENT_ERRAND,     /* a: errand */
};

enum phase {
    PHASE_FAULTS,
    PHASE_HEALED,
    PHASE_DRAINING,
    PHASE_OVER,
};

#define KEEP_RANDOM UINT32_MAX

struct world {
    struct plan plan;
    int64_t now; /* true time */
    enum phase phase;
    struct queue queue;
    struct rng net;
    struct rng fate;
    struct rng work;
    struct rng host;
    struct rng looks;
    struct rng observers;
    struct rng latches;
    struct master masters[MAX_MASTERS];
    struct client clients[MAX_CLIENTS];
    struct agent agents[MAX_CLIENTS][MAX_HANDLES];
    struct path paths[MAX_CLIENTS][MAX_MASTERS];
    struct conn conns[MAX_CONNS];
    uint16_t n_conns; /* used at some time */
    struct ongoing ongoing[MAX_ONGOING];
    struct fence_record fences[MAX_KEYS];
    struct told_term terms[MAX_KEYS]; /* the latest of each key */
    struct parcel parcels[MAX_PARCELS];
    uint32_t keep[2]; /* of what is in flight on a connection that ends, in each direction; KEEP_RANDOM */
    struct message_pool messages;
    struct box_pool boxes;
    struct declaration declaration;
    struct change change;
    uint32_t stored_lists[MAX_MASTERS]; /* sets of the lists that the master's marker has had */
    int64_t votes_until[MAX_MASTERS][MAX_KNOWN_LISTS]; /* true time until which votes by that list may live there;
                                                          INT64_MAX: the master gives some */
    uint32_t incarnations; /* made so far */
    uint32_t looks_begun;
    uint32_t latches_made;
    uint32_t latch_operations;
    uint32_t latch_generations; /* set of those that somebody has used ... */
    uint32_t latch_numbers[LATCH_GENERATIONS]; /* ... and sets of the numbers of parties of each */
    struct latch_truth latch_truths[LATCH_GENERATIONS][MAX_PARTIES + 1];
    struct latch_state latch_before;
    int64_t latch_lost_at; /* true time of the latest loss of memory; INT64_MIN: none */
    struct latch_actor latch_actors[MAX_ACTORS];
    struct lua_host *lua;
    struct coverage *coverage;
    struct story *story; /* NULL: the workload and the faults are drawn */
    const struct client *acting; /* whose turn it is; NULL: nobody's */
    FILE *trace;         /* NULL: none */
    uint32_t sending;    /* the line of the trace that is not ended yet is about this box ... */
    uint8_t sending_step; /* ... and this step */
    int64_t idle_since[MAX_KEYS]; /* true time of a release with somebody in the queue; INT64_MAX: none */
    int64_t left_until;           /* true time at which EVENT_FREED comes */
    int64_t told_of_taken_ms[MAX_MASTERS]; /* its own time of its latest message about a slot that is taken */
    int64_t free_since[MAX_PERMITS]; /* true time of a release of this slot with nobody in its line; INT64_MAX: none */
    int64_t last_step;   /* true time of the latest forward step of a clock, or standstill; INT64_MIN: none */
    int64_t older_memory; /* true time at which a master last got an older memory, or another one's; INT64_MIN: never */
    int64_t slow_since[MAX_MASTERS]; /* true time since when its clock nearly stands still; INT64_MAX: it does not */
    bool stepped_back;   /* a clock has been set back, too ... */
    int64_t set_back_by; /* ... and all of them by so much: what lived then may live for that much longer */
    bool prompt_checked; /* residue_check_prompt() has been called */
    bool violated;
    char violation[400];
};

/* One for each process: its memory is used again by every run. */
struct world *world_create(struct lua_host *lua, struct coverage *coverage);
void world_destroy(struct world *world);

/* Runs the world of world->plan to its end; false if an oracle was violated: see world->violation. */
bool world_run(struct world *world);

void world_event(struct world *world, int64_t at, enum event_kind kind, unsigned a, unsigned b, uint32_t generation);

static inline void world_count(struct world *world, enum counter counter)
{
    world->coverage->counters[counter]++;
}

void world_violation(struct world *world, const char *oracle, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* --- world_events.c ----------------------------------------------------------------------------------------------- */

void world_dispatch(struct world *world, const struct event *event);

/* --- world_phases.c ----------------------------------------------------------------------------------------------- */

void phase_heal(struct world *world);
void phase_on_prompt(struct world *world, bool check);
void phase_on_limit(struct world *world);

/* After every event: is it time for the next phase? */
void phase_advance(struct world *world);

#endif
