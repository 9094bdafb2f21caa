/* Why masters have not done what they were asked for, in words: for results, events and log lines. */
#ifndef RL_API_REASON_H
#define RL_API_REASON_H

#include <redlock/result.h>

#include "votes/claim.h"
#include "votes/admission_status.h"

struct redlock_client;

/* Room for a reason that is made for one master, and for the sentence about all of them. */
enum { RL_REASON_SIZE = 160, RL_WHY_SIZE = 400 };

/* What keeps this master from granting: in the claim's slot, or (NULL) at present. "" if nothing does. The text is in
 * `buffer`, static, or of the driver and as short-lived as a callback's arguments. */
const char *rl_reason_of(const struct redlock_client *client, unsigned node, const struct rl_admission_status *standing,
                         const struct rl_slot *slot, char buffer[RL_REASON_SIZE]);

/* Counts result->reachable and result->voting; `standings` are rl_trust_status() of each master. */
void rl_reason_count(const struct redlock_client *client, const struct rl_admission_status *standings,
                     struct redlock_result *result);

/* Did it fail for want of masters? */
bool rl_reason_is_masters(const struct redlock_result *result);

/* One sentence about them from the result's counts and its nodes: "0 of 5 masters can vote: 5 in quarantine, 61 s
 * left". */
void rl_reason_sum_up(const struct redlock_client *client, const struct rl_admission_status *standings,
                      const struct redlock_result *result, char ret_why[RL_WHY_SIZE]);

#endif
