/* Admission: what excludes a master from voting, or puts it in quarantine, and which masters may be asked, and for what
 * (protocol section 5). */
#ifndef RL_VOTES_ADMISSION_H
#define RL_VOTES_ADMISSION_H

#include "votes/admission_status.h"
#include "votes/join.h"
#include "votes/outcome.h"
#include "votes/votes.h"

struct rl_admission_rules {
    bool allow_eviction; /* the override of protocol 5.1 */
    bool same_server;    /* run_id or replication_id equals another configured master's */
    uint32_t drift_ppm;  /* quarantines are waited for by this client's clock */
    uint32_t max_ttl_ms; /* this client's own; 0: it takes no locks */
    uint32_t allowed_ms; /* the deployment's max_ttl as far as it is known; 0: the marker's alone is a limit */
};

/* Decides on the master; `received` is when the reply arrived. */
struct rl_admission_status rl_admission_evaluate(const struct rl_join_report *report,
                                                 const struct rl_admission_rules *rules, struct rl_instant received);

/* May this master be asked for a new vote? *ret_why is set if it may not. */
bool rl_may_claim(const struct rl_votes *votes, size_t node, struct rl_instant now, enum rl_detail *ret_why);

/* May this master be asked to extend a vote? A master that votes may; so may one in quarantine whose lost memory held a
 * vote of this claim that has not expired. *ret_why is set if it may not. */
bool rl_may_extend(const struct rl_votes *votes, size_t node, const struct rl_slot *slot, struct rl_instant now,
                   enum rl_detail *ret_why);

/* May this master be given back a key that it has lost (protocol 3.2)? */
bool rl_may_repair(const struct rl_votes *votes, size_t node, const struct rl_slot *slot, struct rl_instant now);

/* Is the master in quarantine? Nobody gets a new vote of it then, so a vote that it has lost still counts. */
bool rl_in_quarantine(const struct rl_votes *votes, size_t node, struct rl_instant now);

#endif
