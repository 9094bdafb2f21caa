/* A durable private master with a clock that can be set, and the JOIN script on it: by the core's own command, and
 * read by the core's own parser. */
#ifndef TESTS_JOIN_RIG_H
#define TESTS_JOIN_RIG_H

#include "ask.h"
#include "clock_fault.h"
#include "votes/admission.h"
#include "kinds/join.h"

#define MAX_TTL 30000
#define QUARANTINE (MAX_TTL + 1000)

extern struct masters *join_master;
extern struct clock_fault *join_clock;
extern size_t join_node; /* which server is joined and restarted: the first, if not set otherwise */

void join_start(void);
void join_start_cluster(void);
void join_start_two(void); /* with ports, so that one can become the other's replica */
void join_stop(void);
void join_restart(void); /* SIGKILL, and started again with its keys */

/* Of a client whose largest ttl is MAX_TTL, for the key "marker", on a server that is not durable. */
struct rl_slice join_slice(const char *text);
struct rl_join_question join_question(enum rl_join_mode mode, const char *incarnation);

/* Fails the test if the answer is not a report. */
struct rl_join_report join_ask(const struct rl_join_question *asked);
struct rl_join_report join_as(enum rl_join_mode mode, const char *incarnation);
struct rl_join_report join_durable(const char *incarnation, enum rl_durability durability);

/* Without exceptions. */
struct rl_admission_status join_evaluated(const struct rl_join_report *report);

#endif
