/* A tiny world for votes with modes (rules 9): one master that runs the shipped scripts, and handles that send
 * it the shipped commands. Each command is carried out at once and answered at once; which one comes next, and when
 * time passes, is open. That a quorum of such masters excludes is looked at elsewhere (tiny.h, and the simulator). */
#ifndef SIM_MODES_H
#define SIM_MODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simulated/keyspace.h"
#include "script_view.h"
#include "scripts.h"

#define MODES_HANDLES SCRIPT_CLIENTS
#define MODES_VALUES SCRIPT_VALUES /* a handle's own, and the one of its upgrade */
#define MODES_TICK_MS 100

/* What is to be explored. */
struct modes_setup {
    struct script_run run;
    enum rl_mode modes[MODES_HANDLES];
    uint8_t ttl[MODES_HANDLES]; /* ticks; 0: there is no such handle */
    bool fenced;
    bool tries;    /* handles may try without waiting */
    bool lowers;   /* handles may take a weaker mode */
    bool upgrades; /* upgradeable handles may become exclusive */
    bool copies;   /* a claim may be carried out once more, late */
    bool vanish;   /* clients may go without a word */
};

enum modes_phase {
    MODES_NEW,
    MODES_WAITING, /* in the wait queue, as far as its client knows */
    MODES_VOTED,
    MODES_LEAVING, /* another value has taken its place, and the master has not been told */
    MODES_ENDED,   /* released */
    MODES_VANISHED,
};

struct modes_value {
    uint8_t phase;
    uint8_t mode;    /* what its handle claims; the master may not know yet that it is so weak */
    uint8_t claimed; /* the mode in which it was asked for */
    uint8_t counts_until; /* the tick from which on the vote does not count */
    uint8_t asked;   /* the tick of the latest refresh */
    uint8_t round;
    uint8_t ticket;
    bool copied;
};

struct modes {
    uint8_t now; /* tick */
    struct modes_value values[MODES_VALUES];
    uint64_t largest;           /* number for a fencing token that the master has given */
    uint64_t largest_exclusive; /* ... with an exclusive vote */
    uint32_t told;              /* values that this action has sent the notification of a grant to */
    const char *wrong;          /* what has been violated; static text */
    struct keyspace keys;
};

enum modes_kind {
    MODES_TICK,
    MODES_TRY,     /* CLAIM */
    MODES_COPY,    /* CLAIM once more, in the mode that it had */
    MODES_JOIN,    /* ENQUEUE, or a refresh */
    MODES_EXTEND,
    MODES_RELEASE,
    MODES_SETTLE,  /* the value of an upgrade takes its handle's place */
    MODES_LOWER,   /* to upgradeable; and the master is told */
    MODES_LOWER_MORE, /* to shared */
    MODES_LOWER_UNHEARD, /* to shared, and what tells the master is lost */
    MODES_VANISH,
};

/* What a master has: modes_check.c reads it from the keys themselves. */
struct modes_view {
    struct script_vote votes[MODES_VALUES];
    size_t n_places;
    struct script_place places[MODES_VALUES]; /* in the order of tickets */
};

static inline bool modes_is_upgrade(unsigned value)
{
    return value % 2 == 1;
}

/* The other value of the same handle. */
static inline unsigned modes_other(unsigned value)
{
    return value ^ 1u;
}

static inline int64_t modes_now_ms(const struct modes *world)
{
    return INT64_C(1000000) + world->now * MODES_TICK_MS;
}

/* modes_world.c: what may happen, and how it happens. */
extern const struct search_rules modes_rules;

/* modes_check.c. Both set world->wrong: if the keys are not what rules 9 say; and if the action was
 * not right, seen from what was there before. */
void modes_view(struct modes *world, struct modes_view *ret_view);
void modes_check(struct modes *world, const struct modes_view *before, const struct modes_view *after,
                 struct search_action action);

#endif
