/* What the masters have said, for results, alarms and events; and the event hook. */
#ifndef RL_API_EVIDENCE_H
#define RL_API_EVIDENCE_H

#include <stdbool.h>

#include <redlock/redlock.h>

#include "api/reason.h"

struct rl_call;

/* The result of an operation, with all that its pointers refer to. */
struct rl_evidence {
    struct redlock_result result;
    struct redlock_node_result nodes[REDLOCK_MAX_MASTERS];
    struct rl_reasons reasons;
    char hold_why[RL_WHY_SIZE + 100]; /* what endangers a hold, or has ended it */
};

/* The result of an operation that has ended. */
void rl_evidence_of_result(const struct redlock_lock *lock, const struct rl_call *call,
                           struct rl_evidence *evidence);

/* An attempt has failed, and another one will follow: keeps its reason, if masters are the reason. */
void rl_evidence_keep_why(struct redlock_lock *lock, int status);

/* The votes for the value that the lock has, as the result of an extension that it would be: LOST, or 0. Its `why` says
 * what endangers the hold or has ended it, and reasons.why on which masters. */
void rl_evidence_of_ledger(const struct redlock_lock *lock, struct rl_evidence *evidence);

/* Does the program want events of this type? */
bool rl_observes(const struct redlock_client *client, enum redlock_event_type type);

/* Calls the event hook. The event's client is filled in, and its node, if it names none. */
void rl_observe(struct redlock_client *client, struct redlock_event *event);

/* The same for an event of a lock, with the votes for its value. */
void rl_observe_ledger(struct redlock_lock *lock, struct redlock_event *event);

#endif
