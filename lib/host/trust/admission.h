/* Which masters may vote, as far as the client knows. */
#ifndef RL_HOST_TRUST_ADMISSION_H
#define RL_HOST_TRUST_ADMISSION_H

#include <stdbool.h>

#include "util/instant.h"
#include "util/slice.h"
#include "votes/admission.h"

struct rl_host;

/* What all keys of the client begin with. */
struct rl_slice rl_trust_prefix(const struct rl_host *host);

/* The key of the marker, and the incarnation with which the master was admitted. Both are empty for a master whose
 * memory is not checked. */
struct rl_slice rl_trust_marker(const struct rl_host *host, unsigned node);
struct rl_slice rl_trust_incarnation(const struct rl_host *host, unsigned node);

/* Has the master a connection that can be used? */
bool rl_trust_is_up(const struct rl_host *host, unsigned node);

/* The admission status of a master at this instant. The quarantine after a clock step, which the engine keeps apart, is
 * part of it, and a quarantine that is over is VOTES. */
struct rl_admission_status rl_trust_status(const struct rl_host *host, unsigned node, struct rl_instant now);

/* Why it does not vote, in words. */
const char *rl_trust_fault_text(const struct rl_host *host, unsigned node, enum rl_fault fault);

/* Reports a change of the status, and sets the timer for the next one. */
void rl_trust_update(struct rl_host *host, unsigned node, struct rl_instant now);

/* Tells the engine a new status, and does what rl_trust_update() does. */
void rl_trust_set_status(struct rl_host *host, unsigned node, const struct rl_admission_status *status,
                         struct rl_instant now);

/* The admission status of a master that has answered JOIN with this error; false: the error decides nothing. */
bool rl_trust_evaluate_error(const struct rl_host *host, struct rl_slice text, struct rl_admission_status *ret_status);

/* Evaluates the latest report of a master. */
void rl_trust_evaluate(struct rl_host *host, unsigned node, struct rl_instant now);

/* The same for a master that is about to be up. Its report may show that another master is the same server, or is not
 * any more: then that one is evaluated, too. */
void rl_trust_evaluate_joined(struct rl_host *host, unsigned joined, struct rl_instant now);

/* The max_ttl of the deployment, as the masters' markers show it (votes/max_ttl.h). */

/* Learns from the report of a master that is about to be up, and asks or evaluates again those masters whose reports
 * are out of date by what it says. NULL, or why the joined master itself must be asked again. */
const char *rl_trust_learn(struct rl_host *host, unsigned joined, struct rl_instant now);

#endif
