/* One scenario while it runs: what is known of it, and its processes. */
#ifndef FAILOVER_RUN_H
#define FAILOVER_RUN_H

#include "cluster.h"
#include "resource.h"
#include "ticker.h"
#include "shared.h"

#define FO_MAX_MARKS 256
#define FO_READY_MS 60000 /* for a client to begin: an engine has 20 s for its hello, and 30 s to open */

/* What has been done to a master. */
enum fo_state {
    FO_UP,
    FO_DOWN,
    FO_HUNG,
    FO_CUT,     /* from some of the clients */
    FO_LATE,
    FO_MUTE,    /* its answers are lost */
    FO_STEPPED, /* its clock has been set */
    FO_AWAY,    /* it is not in the list of masters */
    FO_UNMET,   /* started again, and no client has met it: not a mark's, it is found in the clients' journals */
};

struct fo_mark {
    int64_t at_ns;
    uint32_t node;
    enum fo_state state;
};

/* What the conductor has done, and when. */
struct fo_course {
    int64_t start_ns;   /* of the load */
    int64_t fault_ns;   /* before the first act; without a fault: when it would have been */
    int64_t faulted_ns; /* after the last one */
    int64_t heal_ns;
    int64_t healed_ns;
    int64_t end_ns;
    uint32_t n_marks;
    struct fo_mark marks[FO_MAX_MARKS];
    uint32_t n_targets;   /* members that the fault is done to */
    uint32_t targets[MASTERS_MAX];
    uint32_t victim;      /* the leader that was killed, stopped or cut off, or FO_NOBODY */
    int64_t victim_ns;    /* when */
};

struct fo_run {
    const struct fo_options *options;
    const struct fo_scenario *scenario;
    struct fo_cluster cluster;
    struct fo_resource resource;
    struct fo_shared *shared;
    struct fo_course course;
    char prefix[48];
    pid_t referee;
    pid_t tickers[FO_TICKERS];
    pid_t pids[FO_MAX_CLIENTS];
    int controls[FO_MAX_CLIENTS];
    bool ready[FO_MAX_CLIENTS];
    char why[400];
    /* Called ten times a second while it lasts; may be NULL. */
    void (*progress)(const struct fo_run *run, void *user_data);
    void *user_data;
};

__attribute__((format(printf, 2, 3))) bool fo_run_fail(struct fo_run *run, const char *format, ...);
bool fo_run_spawn(struct fo_run *run, uint32_t client); /* also again */
/* In a partition. */
static inline bool fo_run_is_on_smaller_side(uint32_t client)
{
    return client % 2 == 0;
}
/* Is this member on the last list that was told? Where nobody changes the list: on the first. */
static inline bool fo_is_member(const struct fo_run *run, size_t node)
{
    const struct fo_lists *lists = &run->shared->lists;
    uint32_t n = atomic_load(&lists->n);

    return n ? lists->at[n - 1].members >> node & 1 : node < run->cluster.n_first;
}
bool fo_run_spawn_witnesses(struct fo_run *run); /* the referee, and the tickers */
/* Sees to the clients until `until_ns`, or until all are ready if that is asked for: then true only if they are. */
bool fo_run_attend(struct fo_run *run, int64_t until_ns, bool until_ready);
bool fo_run_finish(struct fo_run *run);
void fo_run_end_processes(struct fo_run *run);

#endif
