/* The scenarios: what is done to whom, when it is undone, and what must come of it. */
#ifndef FAILOVER_SCENARIO_H
#define FAILOVER_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum fo_fault {
    FO_NO_FAULT,
    FO_KILL,         /* SIGKILL; started again afterwards */
    FO_HANG,         /* SIGSTOP; SIGCONT afterwards */
    FO_EMPTY,        /* killed, and started again at once with nothing in their memory */
    FO_ROLL,         /* one after the other is restarted */
    FO_PART,         /* half of the clients see the first `masters` only, the others see the rest only; of a system
                      * that an engine uses: the smaller part of its members */
    FO_SLOW,         /* answers come late and in pieces */
    FO_LOSE_REPLIES, /* requests are executed, and nobody is told */
    FO_STEP,         /* the wall clock is set forward */
    FO_CRASH,        /* the leader's process is killed */
    FO_PAUSE,        /* the leader's process is stopped, for longer than its lock lasts */
    FO_CHANGE,       /* an operator changes the list of masters, as `redlock nodes --replace` does; the first
                      * `masters` of them are dead by then */
};

/* What the report is to be measured by, besides that nothing may ever be broken. */
enum fo_goal {
    FO_NO_GOAL,
    FO_UNNOTICED, /* unavailable for less than two round trips or 5 ms, whichever is more */
    FO_REFUSED,   /* nobody can lock: everybody is told so in time, and can again soon after */
    FO_TAKEOVER,  /* the leader's successor comes when the lock has run out */
};

struct fo_scenario {
    const char *name;
    const char *text;  /* what is done, as a clause for lists and tables */
    const char *story; /* what to expect, one or two sentences */
    enum fo_fault fault;
    uint32_t masters; /* so many of them, the first ones; FO_ALL_MASTERS */
    uint32_t coming;  /* so many join the list; FO_ALL_MASTERS: as many others in place of all */
    bool growing;     /* ... which has so many fewer at first */
    bool leader;      /* the one that leads instead; where one does, others than it are the first */
    bool relayed;     /* through relays, which can do it to any masters */
    bool holder;      /* the holder is on the smaller side */
    bool lagging;     /* while its replicas stand still: what it has granted last dies with it */
    bool own_only;    /* cannot be done to masters of others */
    bool by_name;     /* not one of --all */
    bool compared;    /* one of --compare */
};

#define FO_ALL_MASTERS UINT32_MAX
#define FO_SCENARIOS 24
extern const struct fo_scenario fo_scenarios[FO_SCENARIOS];

/* -1: there is none of this name. */
int fo_scenario_find(const char *name);
void fo_scenario_list(FILE *out);

/* Whether the fault leaves fewer than a quorum of n_masters. */
bool fo_scenario_loses_quorum(const struct fo_scenario *scenario, size_t n_masters);
enum fo_goal fo_scenario_goal(const struct fo_scenario *scenario, size_t n_masters);

/* The rolling restart: how long each master is away, and what it has beyond its quarantine to join again. */
#define FO_ROLL_DOWN_MS 200
#define FO_ROLL_SETTLE_MS 600

/* How long each phase lasts. quarantine_ms: what a restarted master has to wait, 0 if nothing. */
struct fo_phases {
    int64_t before_ms, during_ms, after_ms;
};
struct fo_phases fo_scenario_phases(const struct fo_scenario *scenario, size_t n_masters, uint32_t phase_ms,
                                    uint32_t ttl_ms, uint32_t quarantine_ms);

#endif
