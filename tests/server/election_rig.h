/* What the tests of elections share: one rig of three or five masters, candidates for one office, and what they were
 * told. */
#ifndef TESTS_ELECTION_RIG_H
#define TESTS_ELECTION_RIG_H

#include <redlock/election.h>

#include "program_rig.h"

#define N_CANDIDATES 3
/* A loss is soon found out about, and a pause of the test's process costs nothing. */
#define ELECTION_TTL_MS 20000
#define ELECTION_RENEW_MS 300

struct candidate {
    struct redlock_client *client; /* the first one's is the rig's */
    struct redlock_election *election;
    unsigned elected, at_risk, lost, resigned, failed;
    uint64_t term;          /* of the latest ELECTED */
    uint64_t lost_term;
    int64_t at_risk_ms;     /* what was left at the latest warning */
    uint64_t ended_term;    /* of the latest RESIGNED or FAILED */
    int status;             /* of the latest RESIGNED or FAILED */
    int64_t others_ns;      /* what was left of the other candidates' leaderships at the latest event */
    bool resign, destroy, campaign; /* in the next callback that is no warning */
};

extern struct candidate candidates[N_CANDIDATES];

void election_open(void);
void election_open_five(void);
void election_close(void);

struct redlock_election_options candidate_options(uint32_t ttl_ms);

/* The callback of a campaign; its user_data is the candidate. */
void candidate_on_event(struct redlock_election *election, const struct redlock_election_event *event, void *user_data);

/* Begins a campaign. */
struct candidate *candidate_campaign(size_t i, uint32_t ttl_ms);

/* ... and waits until the candidate leads. */
struct candidate *candidate_leader(size_t i, uint32_t ttl_ms);

/* ... and waits until so many candidates are in the wait queue. */
struct candidate *candidate_follower(size_t i, size_t in_queue);

/* For rig_wait(); the argument is the candidate. */
bool candidate_leads(void *argument);
bool candidate_was_elected(void *argument);
bool candidate_has_lost(void *argument);
bool candidate_has_ended(void *argument);

/* A leader has the lease of a waiter at first, and its ttl after the first extension: from then on the term stays. */
void candidate_wait_leads_for_long(struct candidate *candidate);

#endif
