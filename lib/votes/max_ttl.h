/* What a client has learned of the deployment's max_ttl (rules 5.8 and 5.9).
 *
 * IMPLEMENTATION NOTES
 *
 * max_ttl belongs to the deployment. Each marker says how long a lock may be (max_ttl), how long the longest lock is
 * that may be alive (longest: the length of quarantines follows from it), and which declarations of max_ttl it has
 * seen. A client with a larger max_ttl than a marker's gets no vote there. `redlock nodes --max-ttl` declares a max_ttl
 * in three steps. Each step is done at every master before the next begins, and all three have one number, which is
 * higher than any before:
 *
 *   announce  longest becomes the larger of old and new, without an end; a smaller max_ttl holds at once
 *   confirm   the marker notes that all masters have seen the number
 *   allow     max_ttl becomes the new one; a longest that is larger ends after its own length
 *
 * Why quarantines are long enough for a lock of length T. The lock has votes of q masters, and epoch checks have shown
 * that each came from a memory whose max_ttl was at least T. So T had been allowed, so every master had confirmed its
 * number. Another client needs q votes for the same key. Masters that still know the lock refuse it, so these votes
 * come from masters that have lost their memory since (R), and from others (O).
 *
 *   - A master of O has confirmed the number. If the declaration was for longer locks, its incarnation changed then, so
 *     an older report about it does not outlive the next epoch check. So the other client knows the number. A client
 *     that learns of a number asks all masters anew before it counts their votes, and votes for attempts under way are
 *     void. JOIN tells the masters what the client knows. A marker of R that has not seen the number was made without
 *     it, although all masters had it; its quarantine is reckoned from when the marker was made, as if it had had the
 *     number then. So R abstains long enough.
 *   - `longest` falls to a smaller max_ttl after a time as long as itself, which begins when all masters have announced
 *     the smaller max_ttl. Incarnations change when max_ttl becomes smaller, so no epoch check lets anything longer
 *     count after that, not even an extension under way. Every longer lock has ended when `longest` falls.
 *   - If O is empty, a quorum of masters has forgotten the declaration, and no client has told them. Then the clients'
 *     own max_ttl alone decides, as it does where nobody has declared one. Assumption A1 of redlock(7) says so.
 *
 * A declaration that was cut off half-way leaves a `longest` without an end, which is the careful side, and a warning
 * in `redlock nodes`. If there are two declarations at one time, or a step arrives late, a marker finds another number
 * than it expects and does nothing. */
#ifndef RL_VOTES_MAX_TTL_H
#define RL_VOTES_MAX_TTL_H

#include <stdbool.h>
#include <stdint.h>

#include "util/instant.h"

struct rl_join_report;

struct rl_deployment {
    int64_t number;       /* of the latest declaration that all masters have seen; 0: none */
    uint32_t max_ttl_ms;  /* 0: no marker has been seen */
    uint32_t longest_ms;  /* of the locks that may be alive; at least max_ttl_ms */
};

/* Adds what a report says. To begin anew, keep what was known but set longest_ms to max_ttl_ms: the report of a master
 * without memory says nothing, and must not make a quarantine shorter. */
void rl_deployment_add(struct rl_deployment *known, const struct rl_join_report *report, struct rl_instant received,
                       struct rl_instant now);

/* Was the report written before its master had seen the declaration that is known? */
bool rl_deployment_missed(const struct rl_deployment *known, const struct rl_join_report *report);

/* How long a lock may be there: by the report's marker, and by `allowed_ms`, the deployment's max_ttl as far as it is
 * known (0: it is not). */
uint32_t rl_max_ttl_allowed(const struct rl_join_report *report, uint32_t allowed_ms);

/* Is a client's own max_ttl larger? Then it gets no vote there. What it holds for no longer is extended: a declaration
 * of a smaller max_ttl costs no lock that it allows. */
bool rl_max_ttl_is_larger(uint32_t own_max_ttl_ms, const struct rl_join_report *report, uint32_t allowed_ms);

/* How long the longest lock may be for whose end this client has to wait. */
uint32_t rl_deployment_longest(const struct rl_deployment *known, uint32_t own_max_ttl_ms);

#endif
