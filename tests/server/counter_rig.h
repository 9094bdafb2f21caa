/* One private master with a clock that can be set, and the scripts that count on it, by the kinds' own commands and
 * answers. The key is "lock", its counter "count", the marker "marker". */
#ifndef TESTS_COUNTER_RIG_H
#define TESTS_COUNTER_RIG_H

#include "ask.h"
#include "clock_fault.h"
#include "votes/kind.h"

/* A number of today's clocks, odd, beyond what "%g" prints exactly. */
#define BIG UINT64_C(1700000000123457)

extern struct masters *counter_master;
extern struct clock_fault *counter_clock;

void counter_start(void);
void counter_stop(void);

/* The number is proposal and fence. No incarnation: a repair does not look at the marker. */
struct rl_subject counter_subject(const char *token, uint64_t number);
struct rl_answer counter_take(const struct rl_kind *kind, enum rl_step step, const struct rl_subject *about);

/* With fencing tokens. */
struct rl_answer counter_step(enum rl_step which, const char *token, uint64_t number);
/* Of the value "mine" with the number BIG, in this memory alone. */
struct rl_answer counter_repair(const struct rl_kind *kind, const char *incarnation);

void expect_answer(struct rl_answer answer, enum rl_outcome outcome, enum rl_detail detail, uint64_t fence);
void expect_granted(struct rl_answer answer, uint64_t fence);
void expect_counter(uint64_t number);
void expect_ttl(const char *key, long long at_most); /* and not much less */

#endif
