/* Everything about a world that is decided before it starts: drawn from the seed, or written by a story. */
#ifndef SIM_PLAN_H
#define SIM_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "client.h"
#include "faults.h"
#include "network.h"

struct rng;

/* In place of a handle's key: it wants a permit. */
#define PERMIT MAX_KEYS

/* Of a client that has no set. */
#define MOST_HANDLES 3

/* What the command line may change about every world. */
struct plan_options {
    bool unsafe_restarts;    /* classic worlds, and masters that lost their data come back at once */
    bool calm;               /* crowds that wait for one key, and nothing goes wrong */
    bool classic;            /* no markers and epoch checks */
    bool clock_steps;        /* masters' clocks may be set */
    bool moved_names;        /* names may lead to other masters, and no memory is lost */
    bool standstills;        /* clocks may stand still: those of clients, and of masters */
    uint32_t forbidden;      /* set of enum fault: never */
    int64_t max_duration_ns; /* 0: as drawn */
    bool permits;            /* semaphores in all worlds */
    bool sets;               /* sets of locks in all worlds */
    bool elections;          /* candidates in all worlds */
    bool looks;              /* somebody looks at keys in all worlds */
    bool latches;            /* parties meet at a latch in all worlds */
    bool mixed;              /* clients have different max_ttl wherever that is possible */
    bool members;            /* the list of masters changes wherever that is possible */
    bool cohorts;            /* waiters of one client form cohorts in all worlds */
    uint8_t max_clients;     /* 0: as drawn */
    uint8_t max_handles;
};

/* What somebody may do wrong who uses a latch together with others. */
enum stranger {
    STRANGER_NONE,
    STRANGER_NUMBER,     /* takes it to have another number of parties */
    STRANGER_GENERATION, /* is a generation ahead */
    STRANGER_PARTY,      /* is one party too many */
    N_STRANGERS,
};

#define MAX_OPERATORS 2
#define MAX_LISTS (1 + MAX_OPERATORS)
#define MAX_KNOWN_LISTS 32

/* A list of masters: a set, and how many of them are a quorum. */
struct member_list {
    uint16_t members;
    uint8_t quorum;
    uint16_t renamed; /* set of those that have other names in it: "m1'" */
};

struct plan {
    uint64_t seed;
    struct rl_config config; /* of every client; its seed is drawn for each */
    uint8_t n_masters;
    uint8_t n_spare;         /* the last ones: servers that nobody has in the list */
    uint8_t n_lists;         /* more than one: operators change the first list, each to one of the others */
    struct member_list lists[MAX_LISTS];
    uint8_t mislead;         /* other names lead to this machine; 0: each to its own */
    uint8_t dead;            /* set of those that are replaced because they are down */
    bool declares_new;       /* ... new members are declared to be new, and do not wait for their quarantine */
    uint32_t run_dies_permille; /* how often an operator's command ends, and another one begins ... */
    uint32_t run_sleeps_permille; /* ... sleeps, for three standing times at most ... */
    uint32_t run_cut_permille; /* ... is cut off from some masters, for two standing times at most ... */
    uint32_t back_permille;  /* ... is to go back to the list before */
    uint32_t begin_permille; /* how often who has none under way begins one */
    uint32_t again_permille; /* how often who has reached his list wants it once more */
    uint32_t late_errand_permille; /* how often what it asks, or is answered, is late by up to two standing times */
    int64_t change_at[MAX_OPERATORS];
    uint8_t n_clients;
    uint8_t n_keys;
    uint8_t n_handles[MAX_CLIENTS];
    uint8_t handle_keys[MAX_CLIENTS][MAX_HANDLES];
    uint32_t faults;                     /* set of enum fault */
    int64_t fault_interval[FAULT_COUNT]; /* mean */
    int64_t fault_length[FAULT_COUNT];   /* at most */
    int64_t duration_ns;                 /* until everything heals */
    struct rl_span connect_timeout;
    struct rl_span stall_timeout;
    struct rl_span backoff_min;
    struct rl_span backoff_max;
    uint32_t ttl_min_ms;
    uint32_t max_ttl_ms;    /* the longest of all */
    uint32_t short_ttl_ms;  /* mixed worlds: the other one that is declared */
    uint32_t declared_ms;   /* in the beginning */
    uint32_t own_ttl_ms[MAX_CLIENTS]; /* each client's max_ttl */
    bool moved_names;       /* names lead to other masters for a while */
    bool mixed;             /* clients have different ones, and the operator changes the deployment's */
    uint32_t pace_ms;       /* of those who do not hold a lock: how they think and try again */
    uint32_t hiccup_permille; /* how often a process is stopped at one of the places where it may be */
    int64_t timer_slack_ns; /* how late a timer may fire */
    int64_t slow_ppm;       /* clients' clocks at most so slow, and masters' so fast: within the drift allowance */
    int64_t fast_ppm;
    uint8_t durability[MAX_MASTERS]; /* enum durability */
    bool guarded;             /* by markers and epoch checks; if not, masters that lost their keys stay away */
    bool declared;            /* the markers are there from the beginning, without a quarantine */
    bool no_config;           /* clients may not see the masters' settings */
    uint32_t fenced_permille; /* how many acquisitions want a token */
    bool no_wall;             /* clients' wall clocks are far behind: tokens are counted, one by one */
    bool contested;           /* rivals for one key that do not hold it for long, mostly with tokens */
    bool torn;                /* ... and masters' clocks are set so often that many hold at once */
    bool forgetful;           /* masters lose their memories while locks are held and renewed */
    uint32_t queue_permille;  /* how many acquisitions enter the wait queue, */
    uint32_t shared_permille; /* how many locks are shared, or become so; 0: the kind is not used */
    uint32_t fifo_permille;   /* ... and how many of these do so from the beginning */
    uint32_t cohort_permille; /* how many of the latter take others of their client with them */
    bool crowded;             /* many wait for one key that nobody holds for long */
    uint8_t permits;          /* how many there are of the semaphore; 0: nobody wants any */
    uint8_t limits[MAX_CLIENTS]; /* how many each client names */
    bool calm;                /* ... and nothing at all goes wrong: they must be served without delay */
    uint32_t left_ms;         /* somebody who is gone has left the first key on all masters, for so long; 0: nobody */
    uint8_t set_sizes[MAX_CLIENTS]; /* how many of a client's first handles are parts of a set; 0: it has none */
    bool candidates[MAX_CLIENTS][MAX_HANDLES]; /* the handle's owner campaigns with it */
    uint32_t observe_interval_ms[MAX_CLIENTS]; /* of looks at who leads; 0: the client does not observe */
    uint8_t observed[MAX_CLIENTS]; /* ... this key */
    int64_t look_interval[MAX_CLIENTS]; /* mean, of looks at keys; 0: it does not look */
    bool shuts_down;          /* programs end in order, and start again ... */
    int64_t shutdown_interval; /* ... after so long, at most */
    uint8_t latch_actors;     /* who uses the latch: first its parties, then others; 0: nobody does */
    uint8_t latch_parties;
    uint8_t latch_rounds;     /* generations of it */
    uint8_t latch_strangers;  /* enum stranger: what the last of those does wrong */
    bool latch_kept;          /* handles are kept to the end */
    bool latch_remembered;    /* a program that starts again knows its round */
    bool latch_is_live;       /* all of them must come to the end of the last round */
    int64_t latch_pace_ns;
    bool foreign[MAX_CLIENTS]; /* it knows nothing of queues: SET NX PX, compare-and-delete, plain retry */
    uint8_t counters[MAX_MASTERS]; /* the first key's, from before the world began */
    bool unsafe_restarts;
    struct path paths[MAX_CLIENTS][MAX_MASTERS];
    int64_t client_rate[MAX_CLIENTS];
    int64_t client_offset[MAX_CLIENTS];
    int64_t wall_offset[MAX_CLIENTS]; /* what proposes fencing tokens, against true time */
    int64_t master_rate[MAX_MASTERS];
    int64_t master_offset[MAX_MASTERS];
};

void plan_draw(struct plan *plan, uint64_t seed, const struct plan_options *options);

/* plan_contest.c, for plan_draw(): is this to be a contested world; its sizes; the rest. */
void plan_contest_draw(struct plan *plan, struct rng *rng, const struct plan_options *options);
void plan_contest_sizes(struct plan *plan, struct rng *rng, const struct plan_options *options);
void plan_contest_faults(struct plan *plan, struct rng *rng, const struct plan_options *options, int64_t round_trip);

/* plan_wait_queue.c, for plan_draw(): who enters the wait queue here, and in company; their ttls; the sizes of crowded
 * worlds. */
void plan_wait_queue_draw(struct plan *plan, struct rng *rng, const struct plan_options *options);
void plan_wait_queue_cohorts(struct plan *plan, struct rng *rng, const struct plan_options *options);
void plan_wait_queue_times(struct plan *plan, struct rng *rng);
void plan_wait_queue_sizes(struct plan *plan, struct rng *rng, const struct plan_options *options);

/* Who wants permits of a semaphore here, in place of the first key. */
void plan_wait_queue_permits(struct plan *plan, struct rng *rng, const struct plan_options *options);

/* After all else: takes the faults away from calm worlds, and makes them long enough for many hand-offs. */
void plan_wait_queue_calm(struct plan *plan, struct rng *rng, int64_t round_trip);

/* plan_mixed.c: is this to be a mixed world; after the times have been drawn. */
void plan_mixed_draw(struct plan *plan, struct rng *rng, const struct plan_options *options);

/* plan_members.c: does the list of masters change here? After all else. */
void plan_members_draw(struct plan *plan, struct rng *rng, const struct plan_options *options);

/* Every client has the longest, which is declared. */
void plan_mixed_none(struct plan *plan);

/* plan_shutdown.c: do programs end in order here? After all else. */
void plan_shutdown_draw(struct plan *plan, struct rng *rng);

/* plan_sets.c: who wants several keys at once here? After all else. */
void plan_sets_draw(struct plan *plan, struct rng *rng, const struct plan_options *options);

/* plan_elections.c: who campaigns here? After all else. Then: who observes the leaders? */
void plan_elections_draw(struct plan *plan, struct rng *rng, const struct plan_options *options);
void plan_observers_draw(struct plan *plan, struct rng *rng);

/* plan_looks.c: who looks at keys here, and how often? After all else. */
void plan_looks_draw(struct plan *plan, struct rng *rng, const struct plan_options *options);

/* plan_latches.c: who meets at a latch here? After all else. */
void plan_latches_draw(struct plan *plan, struct rng *rng, const struct plan_options *options);

/* plan_clocks.c, for plan_draw(): do clocks stand still? */
void plan_clocks_draw(struct plan *plan, struct rng *rng, const struct plan_options *options);

/* plan_names.c, for plan_draw(): do names lead to other masters for a while? */
void plan_names_draw(struct plan *plan, struct rng *rng, const struct plan_options *options);

/* A clock rate within the allowance. */
int64_t plan_client_rate(const struct plan *plan, struct rng *rng, bool extreme);
int64_t plan_master_rate(const struct plan *plan, struct rng *rng, bool extreme);

/* Sets of enum fault: those that lose keys. */
#define LOSS_FAULTS                                                                                      \
    (UINT32_C(1) << FAULT_CRASH_SECOND | UINT32_C(1) << FAULT_CRASH_LOSE | UINT32_C(1) << FAULT_FLUSH |  \
     UINT32_C(1) << FAULT_ROLE)

/* What does not happen where names move: plan_names.c. */
#define NAME_EXCLUDES                                                                                    \
    (LOSS_FAULTS | UINT32_C(1) << FAULT_CRASH_KEEP | UINT32_C(1) << FAULT_ERROR_BEFORE |                 \
     UINT32_C(1) << FAULT_ERROR_OBSCURE)

static inline bool plan_has(const struct plan *plan, enum fault fault)
{
    return plan->faults >> fault & 1u;
}

#endif
