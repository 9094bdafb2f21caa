/* Admission: what excludes a master from voting, or puts it in quarantine (protocol section 5). */
#ifndef RL_VOTES_ADMISSION_H
#define RL_VOTES_ADMISSION_H

#include "votes/admission_status.h"
#include "votes/join.h"
#include "votes/outcome.h"
#include "votes/votes.h"

struct rl_admission_rules {
    bool allow_eviction; /* the override of protocol 5.1 */
    bool two_servers;    /* the name leads to another server than before, and both are alive */
    bool same_server;    /* run_id or replication_id equals another configured master's */
    uint32_t drift_ppm;  /* quarantines are waited for by this client's clock */
    uint32_t max_ttl_ms; /* this client's own; 0: it takes no locks */
    uint32_t allowed_ms; /* the deployment's max_ttl as far as it is known; 0: the marker's alone is a limit */
};

/* Decides on the master; `received` is when the reply arrived. */
struct rl_admission_status rl_admission_evaluate(const struct rl_join_report *report,
                                                 const struct rl_admission_rules *rules, struct rl_instant received);

#endif
