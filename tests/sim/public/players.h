/* What the programs have. */
#ifndef SIM_PUBLIC_PLAYERS_H
#define SIM_PUBLIC_PLAYERS_H

#include <stdbool.h>
#include <stdint.h>

#include <redlock/election.h>
#include <redlock/latch.h>
#include <redlock/look.h>
#include <redlock/redlock.h>
#include <redlock/semaphore.h>
#include <redlock/set.h>

#include "net.h"
#include "run.h"
#include "tickets.h"

#define PLAYERS 3
#define LOCKS 4
#define LATCHES 2
#define MAX_TTL_MS 3000
#define NODE_TIMEOUT_MS 200

/* Keys of locks. An election has the last one, too; a semaphore has its own. */
extern const char *const lock_keys[];
#define LOCK_KEYS 3
#define ELECTION_KEY "e"
#define SEMAPHORE "s"
#define MAX_LIMIT 3

/* A hold, as its owner knows it. */
struct hold {
    bool held;          /* it was told so, and has not given it up, nor been told of a loss */
    int64_t seen_lost;  /* since when the state says LOST; INT64_MAX: it does not */
};

struct lock_object {
    struct redlock_lock *lock; /* NULL: there is none */
    bool permit;
    const char *key;
    struct hold hold;
    bool ending;               /* it is being destroyed */
};

struct set_object {
    struct redlock_set *set;
    struct hold hold;
    bool ending;
};

struct election_object {
    struct redlock_election *election;
    bool campaigning;   /* its last event is still to come */
    bool leading;
    bool once;          /* its last event may be that of a loss */
    uint64_t term;
    int64_t idle_since; /* it is no candidate, and was not told; INT64_MAX: that is not so */
    bool observes;
};

struct latch_object {
    struct redlock_latch *latch;
    unsigned generation;
    int party;          /* -1: none */
    bool ending;
};

struct player {
    unsigned index;
    struct redlock_client *client; /* NULL: there is none */
    bool closing;  /* it has been told to shut down */
    bool ending;   /* it is being destroyed */
    bool limited;  /* it may have few values, and operations end with E_LIMIT */
    struct lock_object locks[LOCKS];
    struct set_object set;
    struct election_object election;
    struct latch_object latches[LATCHES];
    struct redlock_stats own; /* what it has seen of its client, as far as it counts that */
};

extern struct player players[PLAYERS];

/* Of the run. */
extern uint32_t semaphore_limit;

/* In a callback: the program may do anything. */
void player_goes_on(struct player *player);

void options_draw(struct redlock_acquire_options *options);

/* Attempts at a permit, and what an acquisition waits for before it begins. */
#define ACQUISITION_ANSWERS 10

static inline bool maybe(uint32_t permille)
{
    return rng_chance(&run.rng, permille);
}

static inline uint32_t any_of(uint32_t n)
{
    return rng_below(&run.rng, n);
}

/* For how long an operation may take that waits for so long at most, and then for so many answers. */
static inline int64_t within(int64_t timeout_ms, int answers)
{
    return timeout_ms == REDLOCK_FOREVER ? TICKET_FOREVER : timeout_ms + answers * NODE_TIMEOUT_MS;
}

static inline bool may_begin(void)
{
    return run.phase == RUN_FAULTS;
}

/* --- holds.c ------------------------------------------------------------------------------------------------------ */

/* After everything: what is seen from outside agrees with what its owner was told. pending: its acquisition's callback
 * has not run. */
void hold_check(struct hold *hold, const char *what, unsigned player, int64_t remaining_ns, enum redlock_state state,
                bool pending);

/* Something has been true for so long that a program must have been told of it, unless processes were stopped. */
bool is_overdue(int64_t since);

/* A call has said that something is held already, which was in this state. */
void hold_check_refusal(const char *what, unsigned player, enum redlock_state before, int status);

/* At one instant: all handles with validity left agree, and no slot is had twice. */
void holds_check_together(void);

/* A fencing token of an exclusive hold that is valid now is larger than those of all that were before. */
void fence_check(const char *key, uint64_t token);
void fences_start(void);

/* --- program_*.c -------------------------------------------------------------------------------------------------- */

void lock_act(struct player *player);
void lock_check(struct player *player);
void lock_wind_up(struct player *player);
void lock_forget(struct player *player);

void set_act(struct player *player);
void set_check(struct player *player);
void set_wind_up(struct player *player);
void set_forget(struct player *player);

void election_act(struct player *player);
void election_check(struct player *player);
void election_wind_up(struct player *player);
void election_forget(struct player *player);

void latch_act(struct player *player);
void latch_wind_up(struct player *player);
void latch_forget(struct player *player);
void latches_start(void);

void look_act(struct player *player);

#endif
