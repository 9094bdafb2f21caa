/* Why masters have not done what they were asked for, in words: for results, events and log lines. */
#ifndef RL_API_REASON_H
#define RL_API_REASON_H

#include <redlock/options.h>
#include <redlock/result.h>

#include "votes/admission.h"
#include "votes/claim.h"

struct redlock_client;

/* Room for a reason that is made for one master, and for the sentence about all of them. */
enum { RL_REASON_SIZE = 160, RL_WHY_SIZE = 400 };

/* The masters when an operation has ended, with the texts that say what is the matter with each. */
struct rl_reasons {
    const struct redlock_client *client;
    struct rl_admission_status admissions[REDLOCK_MAX_MASTERS];
    char texts[REDLOCK_MAX_MASTERS][RL_REASON_SIZE];
    char why[RL_WHY_SIZE];
};

void rl_reasons_init(struct rl_reasons *reasons, const struct redlock_client *client);

/* What keeps this master from granting: in the claim's vote, or (NULL) at present. "" if nothing does. The text is one
 * of `reasons`, static, or of the driver and as short-lived as a callback's arguments. */
const char *rl_reason_of(struct rl_reasons *reasons, unsigned node, const struct rl_vote *vote);

/* Counts result->reachable and result->voting. */
void rl_reason_count(const struct rl_reasons *reasons, struct redlock_result *result);

/* Did it fail for want of masters? */
bool rl_reason_is_masters(const struct redlock_result *result);

/* What is the matter with which of them, for a lock that is held or was: "10.0.0.1:6379: missing; 10.0.0.2:6379,
 * 10.0.0.3:6379: not reached (Connection refused)". "" if nothing is. It is reasons->why, too. */
const char *rl_reason_by_master(struct rl_reasons *reasons, const struct redlock_result *result);

/* One sentence about them from the result's counts and its nodes: "0 of 5 masters can vote: 5 in quarantine, 61 s
 * left". It is reasons->why. */
const char *rl_reason_sum_up(struct rl_reasons *reasons, const struct redlock_result *result);

#endif
