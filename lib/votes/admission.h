/* Admission: what excludes a master from voting, or puts it in quarantine (rules 5). */
#ifndef RL_VOTES_ADMISSION_H
#define RL_VOTES_ADMISSION_H

#include <stdbool.h>

#include "util/instant.h"
#include "votes/outcome.h"

struct rl_join_report;

struct rl_admission_rules {
    bool allow_eviction; /* the override of rule 5.1 */
    bool two_servers;    /* the name leads to another server than before, and both are alive */
    bool no_member;      /* the list of masters has changed, and it has left */
    bool same_server;    /* run_id or replication_id equals another configured master's */
    uint32_t drift_ppm;  /* quarantines are waited for by this client's clock */
    uint32_t max_ttl_ms; /* this client's own; 0: it takes no locks */
    uint32_t allowed_ms; /* the deployment's max_ttl as far as it is known; 0: the marker's alone is a limit */
};

/* Decides on the master; `received` is when the reply arrived. */
struct rl_admission_status rl_admission_evaluate(const struct rl_join_report *report,
                                                 const struct rl_admission_rules *rules, struct rl_instant received);

/* The admission status: what the client thinks of a master, and with it whether the master's votes count (rules 5).
 * rl_admission_evaluate() makes it from the handshake's report. */

/* X(name, text): what keeps a master from voting, in words for people. */
#define RL_FAULT_MAP(X)                                                                                  \
    X(NONE, "")                                                                                          \
    X(UNJUDGED, "not judged yet")                                                                        \
    X(NEW_MEMORY, "its memory is new: it may have forgotten locks")                                      \
    X(CLOCK_STEP, "its clock was set forward: it may have dropped locks early")                          \
    X(NOT_MASTER, "it is a replica")                                                                     \
    X(CLUSTER, "it is a node of a Redis Cluster")                                                        \
    X(EVICTS, "it may evict locks: maxmemory is set with an evicting policy")                            \
    X(SAME_SERVER, "it is the same server as another master of the list")                                \
    X(RING, "its marker was written for other masters or another quorum")                                \
    X(NO_RIGHTS, "it cannot be judged: the user lacks rights for INFO, TIME, hashes or scripts")         \
    X(NO_MARKER, "it has no marker and this client may not write one")                                   \
    X(MAX_TTL, "this client's max_ttl is larger than the deployment's")                                  \
    X(TWO_SERVERS, "its name leads to two servers by turns")                                             \
    X(CLOCK_SLOW, "its clock stands still, or runs much slower than this client's")                       \
    X(NO_MEMBER, "it is in the list of masters no more")                                                 \
    X(NOT_FOLLOWED, "its list of masters has changed, and this client does not follow")                  \
    X(OVERRULED, "it has a list of masters that another change has overruled, or an older one")

enum rl_fault {
#define RL_FAULT_ENUM(name, text) RL_FAULT_##name,
    RL_FAULT_MAP(RL_FAULT_ENUM)
#undef RL_FAULT_ENUM
    RL_FAULT_COUNT,
};

enum rl_admission {
    RL_ADMISSION_UNEVALUATED,
    RL_ADMISSION_VOTES,
    RL_ADMISSION_QUARANTINED, /* until an instant; then it votes */
    RL_ADMISSION_EXCLUDED,
};

struct rl_admission_status {
    enum rl_admission kind;
    enum rl_fault fault;      /* why it does not vote */
    struct rl_instant until;  /* QUARANTINED */
    uint32_t keeps_ms;        /* EXCLUDED: what is held already for no longer than this is extended; 0: nothing */
    bool epoch_checked;       /* it has a marker, so its votes need an epoch check (votes/epoch_check.h) */
};

/* Does the master vote at `now`? A quarantine that is over by then does not keep it from voting. */
static inline bool rl_admission_votes(const struct rl_admission_status *admission, struct rl_instant now)
{
    return admission->kind == RL_ADMISSION_VOTES ||
           (admission->kind == RL_ADMISSION_QUARANTINED && !rl_before(now, admission->until));
}

const char *rl_fault_text(enum rl_fault fault);

#endif
