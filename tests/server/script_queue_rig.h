/* The queue of one private master by the core's own commands and answers, and a subscriber for its notifications. The
 * key is "lock", its queue "queue" and "waiters", the counter "count", the marker "marker". */
#ifndef TESTS_SCRIPT_QUEUE_RIG_H
#define TESTS_SCRIPT_QUEUE_RIG_H

#include "kinds/wait_queue.h"
#include "counter_rig.h"

/* What a waiter is asked for, and what it is told. */
struct said {
    struct rl_answer answer;
    bool placed;
    struct rl_entry_report place;
};

/* As counter_start(), without a request for a lease, a memory, or tokens. */
void queue_start(void);

extern uint32_t queue_lease_ms;         /* 20000, so that nothing ends by itself */
extern const char *queue_incarnation;   /* NULL: classic */
extern uint64_t queue_proposal;         /* of a fencing token; 0: none */
extern const char *queue_channel;       /* "grants" */

/* Ticket 0: not known yet, and 1000 is proposed. */
struct said queue_enqueue(const char *value, uint32_t round, uint64_t ticket);

/* Several that have never been in the queue, in one command; what each is told. */
void queue_enqueue_many(size_t n, const char *const *values, struct said *ret_said);

/* One who has a place and a ticket, and what it is told when several are asked for in one command. */
struct refresh {
    const char *value;
    uint32_t round;
    uint64_t ticket;
    struct said said;
    bool alone; /* nothing was said to it, and nothing done */
};

void queue_refresh_many(size_t n, struct refresh *refreshes);

struct rl_answer queue_release(const char *value);

/* The short form, which names only the key and its queue. */
struct rl_answer queue_release_alone(const char *value);

/* One that must be queued, with its ticket. */
void queue_wait(const char *value, uint64_t ticket);

void expect_said(struct said said, enum rl_outcome outcome, enum rl_detail detail);

/* The values in the queue, in order, with a space between them. */
void expect_queue(const char *values);
void expect_holder(const char *value);
void expect_nothing_left(void);

/* --- Notifications ---------------------------------------------------------------------------------------------- */

/* From now on hears what is said in the channel "grants". */
void subscriber_open(void);
void subscriber_close(void);

/* The next notification is about this value and says that; anything may be wanted to be told of it. */
struct rl_notification subscriber_expect(const char *value, bool granted, uint32_t round, const char *incarnation);

/* Nothing has been said since. */
void subscriber_expect_silence(void);

#endif
