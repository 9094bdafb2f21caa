/* What the programs that use the library do: acquire, hold, extend, release, cancel, destroy, at random moments with
 * random options. After the healing each handle acquires once more, without a deadline, and lets go for good. */
#ifndef SIM_WORKLOAD_H
#define SIM_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "host/latch.h"

struct client;
struct client_latch;
struct completion;
struct handle;
struct world;

/* What a handle's owner is about to do. */
enum intent {
    INTENT_ACQUIRE,
    INTENT_CANCEL, /* the acquisition or extension that is pending */
    INTENT_EXTEND,
    INTENT_REENTER, /* and release it then */
    INTENT_LOWER,         /* shares the lock from then on */
    INTENT_UPGRADE,       /* has it for itself from then on */
    INTENT_RELEASE,
    INTENT_DESTROY,
    INTENT_DETACH,        /* lets go of the handle, not of the lock: another one will release it */
    INTENT_RELEASE_VALUE, /* ... this one */
    INTENT_EXPORT,        /* hands the lock over to another handle ... */
    INTENT_ADOPT,         /* ... that takes it */
    INTENT_NOTHING,
};

struct agent {
    uint8_t intent;   /* enum intent, at the next event */
    bool last_round;  /* has begun its last acquisition */
    bool done;        /* has let go for good */
    uint32_t generation;
    uint32_t detached; /* the value that it has let go of last, and when */
    int64_t detached_at;
    /* Its habits. */
    int64_t think_ns;
    int64_t hold_ns;
    uint16_t extend_permille;
    uint16_t reenter_permille;
    uint16_t cancel_permille;
    uint16_t destroy_permille;
    uint16_t detach_permille;
    uint16_t export_permille;
    uint16_t abandon_permille; /* lets the lock run out instead of releasing it */
};

void workload_start(struct world *world);
void workload_on_event(struct world *world, struct client *client, struct handle *handle, uint32_t generation);
void workload_on_completion(struct client *client, const struct completion *completion);
void workload_on_set(struct client *client, enum rl_end status); /* workload_sets.c */
void workload_on_lost(struct client *client, struct handle *handle);
/* workload_elections.c */
void workload_on_election(struct client *client, struct handle *handle, enum election_event event);
void workload_on_revive(struct world *world, struct client *client);

/* workload_shutdown.c: a program is going to end in order; it does; its shutdown has ended; it destroys its client; its
 * process has ended. */
void workload_plan_shutdown(struct world *world, struct client *client);
void workload_on_shutdown_event(struct client *client);
void workload_on_shutdown(struct client *client);
void workload_on_quit_event(struct client *client);
void workload_on_leave(struct client *client);

/* workload_looks.c: when the client looks at a key next. */
void workload_plan_look(struct world *world, struct client *client);
void workload_on_look_event(struct client *client);

/* workload_latches.c: somebody meets others at a latch. */
#define MAX_ACTORS 7

struct latch_actor {
    uint8_t client;
    uint8_t generation; /* that it waits for, from 1 */
    bool planned;       /* it acts at an event that is to come */
    bool done;          /* the last one is open */
};

void workload_start_latches(struct world *world);
void workload_revive_latches(struct world *world, struct client *client); /* a process begins anew */
void workload_heal_latches(struct world *world);
void workload_on_latch_event(struct client *client, unsigned actor);
void workload_on_latch(struct client *client, struct client_latch *latch, enum rl_latch_op op, int status);
bool workload_latches_done(const struct world *world);

/* Everything heals: no more new work but the last round. */
void workload_heal(struct world *world);
bool workload_done(const struct world *world);

/* Gives up all handles, so that nothing is left to wait for but what the engines have still to send. */
void workload_end(struct world *world);

#endif
