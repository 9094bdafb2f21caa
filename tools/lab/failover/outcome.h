/* From what was written down in a scenario to what is reported of it. Times are in nanoseconds since the load began,
 * durations in nanoseconds; -1: does not apply, or has not happened. */
#ifndef FAILOVER_OUTCOME_H
#define FAILOVER_OUTCOME_H

#include "lab/load/histogram.h"
#include "outage.h"
#include "referee.h"
#include "run.h"

enum fo_refusal {
    FO_HELD,       /* somebody else had it */
    FO_NO_QUORUM,
    FO_TOO_SLOW,
    FO_UNANSWERED, /* the deadline came before any attempt had ended */
    FO_OTHER,
    FO_REFUSALS,
};

struct fo_phase_figures {
    int64_t from_ns, to_ns;
    uint64_t offered;  /* requests that were due in it */
    uint64_t acquired; /* ... and succeeded */
    uint64_t refused[FO_REFUSALS];
    uint64_t commands; /* to masters ... */
    uint64_t locks;    /* ... for so many acquisitions, the leader's included */
    int64_t longest_refusal_ns;
    struct histogram latency; /* of those that succeeded, from their intended start */
};

struct fo_bucket {
    uint32_t offered;  /* due in it */
    uint32_t refused;  /* of these */
    uint32_t acquired; /* completed in it */
    int64_t p50_ns, p99_ns, max_ns; /* of those that were due in it and succeeded; -1 without any */
    int64_t stall_ns;  /* so long a processor was taken from us in it */
};

/* A master's state from one instant to another. */
struct fo_span {
    int64_t from_ns, to_ns;
    uint32_t node;
    enum fo_state state;
    bool quarantined; /* instead of the state: it does not vote yet */
};

/* Whether the limits were kept; text says what was measured, and the limits. */
struct fo_judged {
    bool applies;
    bool met;
    bool disturbed; /* not met, but a processor was taken from us for about as long at that moment */
    char text[160];
};

/* What led to two holders at once, or to a write of a former one: the first time that it happened. */
struct fo_clue {
    int64_t at_ns;
    char text[140];
};

#define FO_CLUES 24

struct fo_outcome {
    const struct fo_scenario *scenario;
    char skipped[200]; /* why it was not run; "" if it was */
    struct fo_verdict verdict;
    struct fo_version version;
    uint32_t n_masters;
    uint32_t clients;
    int64_t fault_ns, faulted_ns, heal_ns, healed_ns, end_ns;
    struct fo_phase_figures phases[FO_PHASES];
    struct fo_outage outage;   /* from the fault to the end */
    struct fo_outage control;  /* before the fault: what the machine does by itself */
    int64_t stall_ns;          /* the longest time since the fault for which a processor was taken from us ... */
    int64_t stall_then_ns;     /* ... and the longest beside the outage */
    int64_t trip_ns;           /* median round trip before the fault */
    int64_t detect_ns;         /* until the last client had noticed the last of the masters */
    int64_t recover_ns;        /* from the end of healing to the first success, if there was none meanwhile */
    int64_t strength_ns;       /* ... until all clients saw all masters vote again */
    int64_t takeover_ns;       /* from the end of the leader to its successor */
    int64_t takeover_theory_ns; /* when the keys had run out */
    uint32_t victim;
    double cpu_s;              /* of the clients */
    struct fo_judged goal;
    struct fo_bucket *buckets;
    size_t n_buckets;
    struct fo_span *spans;
    size_t n_spans;
    struct fo_hold *terms;     /* of the leader lock */
    size_t n_terms;
    struct fo_clue clues[FO_CLUES]; /* in order */
    size_t n_clues;
};

/* NULL without memory. */
struct fo_outcome *fo_outcome_of(const struct fo_run *run);
struct fo_outcome *fo_outcome_skipped(const struct fo_scenario *scenario, const char *why);
void fo_outcome_free(struct fo_outcome *outcome);

/* Whether there was something to undo, and so a time from which things could get better. */
bool fo_is_healed(const struct fo_outcome *outcome);

double fo_rate(const struct fo_phase_figures *phase);
double fo_commands_per_lock(const struct fo_phase_figures *phase);
uint64_t fo_refused(const struct fo_phase_figures *phase);
const char *fo_refusal_name(enum fo_refusal refusal);
const char *fo_refusal_text(enum fo_refusal refusal);
const char *fo_phase_name(enum fo_phase phase);

#endif
