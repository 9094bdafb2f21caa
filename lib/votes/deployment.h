/* What a client has learned of the deployment's max_ttl (protocol section 5).
 *
 * IMPLEMENTATION NOTES
 *
 * max_ttl belongs to the deployment. Each marker says how long a lock may be (max_ttl), how long those that may be
 * alive are (longest: what quarantines are reckoned with), and which declarations it has seen. A client with a
 * larger max_ttl than a marker's gets no vote there. `redlock nodes --max-ttl` takes three steps, each at every master
 * before the next begins, all with one number that is higher than any before:
 *
 *   announce  longest becomes the larger of old and new, without an end; a smaller max_ttl holds at once
 *   confirm   the marker notes that all masters have heard the number
 *   allow     max_ttl becomes the new one; a longest that is larger ends after its own length
 *
 * Why a lock of length T is safe from quarantines that are too short for it: it has votes of q masters, each proved
 * to come from a memory whose max_ttl was at least T, so T had been allowed, so every master had confirmed its number.
 * Another client needs q votes for the same key. Masters that still know the lock refuse it, so these votes come from
 * masters that have lost their memory since (R), and from others (O).
 *
 *   - A master of O has confirmed the number, and its incarnation changed then, if the declaration was for longer
 *     locks: an older report about it does not outlive the next guard. So the other client knows the number. A client
 *     that learns of a number asks all masters anew before it counts a vote of theirs, and votes of attempts under way
 *     are void. What it knows goes into JOIN: a marker of R that has not heard the number was born without that
 *     knowledge, since all masters had; its quarantine is reckoned from its birth, as if it had known then. So R
 *     abstains long enough.
 *   - A longest that falls does so after its own length, which begins when all masters have announced the smaller
 *     max_ttl. Incarnations change when max_ttl becomes smaller, so nothing longer is proved after that, not even an
 *     extension under way. What is longer has ended when it falls.
 *   - If O is empty, a quorum of masters has forgotten the declaration and nobody has told them: then only the clients'
 *     own max_ttl decides, as it does for masters that nobody has declared. Assumption A1 of redlock(7) says so.
 *
 * A declaration that was cut off half-way leaves a longest without an end, which is the careful side, and a warning in
 * `redlock nodes`. Two at one time, or a step that arrives late, find another number than theirs and do nothing. */
#ifndef RL_VOTES_DEPLOYMENT_H
#define RL_VOTES_DEPLOYMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "util/instant.h"

struct rl_join_report;

struct rl_deployment {
    int64_t number;       /* of the latest declaration that all masters have heard; 0: none */
    uint32_t max_ttl_ms;  /* 0: no marker has been seen */
    uint32_t longest_ms;  /* of locks that may be alive; at least max_ttl_ms */
};

/* Adds what a report says that was received then. Begin with what was known before, but longest_ms as
 * max_ttl_ms: reports that say nothing, since their masters are empty, must not make a quarantine shorter. */
void rl_deployment_add(struct rl_deployment *known, const struct rl_join_report *report, struct rl_instant received,
                       struct rl_instant now);

/* Was the report written before all masters heard of the declaration that is known? */
bool rl_deployment_missed(const struct rl_deployment *known, const struct rl_join_report *report);

/* What this client may not fall below when it waits for the end of others' locks. */
uint32_t rl_deployment_longest(const struct rl_deployment *known, uint32_t own_max_ttl_ms);

#endif
