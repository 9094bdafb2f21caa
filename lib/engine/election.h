/* An election, as far as a candidate decides: what becomes of it when something becomes of its lock (rule 13.1). Who
 * holds the lock leads, and its fencing token is the term.
 *
 *     IDLE -> CAMPAIGNING -> LEADING -> RESIGNING -> IDLE
 *
 * A candidate knows nothing of locks: its owner acquires, cancels and releases the lock as the steps say, and tells how
 * that ended. */
#ifndef RL_ENGINE_ELECTION_H
#define RL_ENGINE_ELECTION_H

#include <stdbool.h>
#include <stdint.h>

enum rl_candidate_state {
    RL_CANDIDATE_IDLE,
    RL_CANDIDATE_CAMPAIGNING, /* its acquisition is pending */
    RL_CANDIDATE_LEADING,     /* it has been elected; whether it leads still: rl_candidate_remaining() */
    RL_CANDIDATE_RESIGNING,   /* its acquisition is being canceled, or its lock released */
};

struct rl_candidate {
    enum rl_candidate_state state;
    bool once; /* it does not campaign again after a loss */
};

/* What the owner does. */
enum rl_candidate_step {
    RL_CANDIDATE_NOTHING,
    RL_CANDIDATE_CAMPAIGN,  /* acquires the lock: exclusive, fenced, always by the wait queue, without a deadline */
    RL_CANDIDATE_ELECTED,   /* says that the candidate leads */
    RL_CANDIDATE_CANCEL,    /* cancels the acquisition */
    RL_CANDIDATE_RELEASE,   /* releases the lock */
    RL_CANDIDATE_WITHDRAWN, /* says that it is no candidate any more, as it wanted, and has not been elected */
    RL_CANDIDATE_FAILED,    /* says that it is no candidate any more: the acquisition has failed */
};

/* The acquisition of RL_CANDIDATE_CAMPAIGN has begun, or it could not begin: then the candidate is IDLE. */
void rl_candidate_campaigns(struct rl_candidate *candidate, bool begun);

/* The acquisition has ended. `left_ns` is what is left of the lock's validity if it was won: the process may have been
 * stopped since. */
enum rl_candidate_step rl_candidate_acquired(struct rl_candidate *candidate, bool won, int64_t left_ns);

/* The lock has been lost. RL_CANDIDATE_CAMPAIGN: the owner campaigns again, and says that the leadership is lost when
 * that has begun, so that whoever is told may resign. The caller has seen that the candidate is LEADING. */
enum rl_candidate_step rl_candidate_lost(struct rl_candidate *candidate);

/* It is to be no candidate any more, and is CAMPAIGNING or LEADING. Then: what was asked for has begun, or could not,
 * and it is IDLE. */
enum rl_candidate_step rl_candidate_resign(const struct rl_candidate *candidate);
void rl_candidate_resigns(struct rl_candidate *candidate, bool begun);

/* The release of RL_CANDIDATE_RELEASE has ended, or could not begin. */
void rl_candidate_released(struct rl_candidate *candidate);

/* For how long it leads at least, if the lock is valid for so long. */
int64_t rl_candidate_remaining(const struct rl_candidate *candidate, int64_t left_ns);

/* The state as it is told: a loss whose alarm has yet to come counts already, and so does the end of the client, which
 * releases the lock. */
enum rl_candidate_state rl_candidate_state(const struct rl_candidate *candidate, int64_t left_ns, bool closing);

#endif
