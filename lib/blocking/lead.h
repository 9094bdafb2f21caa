/* Who turns the service's event loop: its thread, or a caller that has to wait anyway.
 *
 * IMPLEMENTATION NOTES
 *
 * Waking a thread costs more than everything else in a call. So whoever holds the lead owns the base, the client, and
 * all that is marked "of the lead", and a caller that finds the lead free takes it: it begins its operation, turns the
 * loop until that has ended, and passes the lead to another caller that waits, or leaves it free. Nobody is woken then.
 *
 *            nobody waits            a caller that has to wait
 *     THREAD --------> FREE -----------------------------> CALLER --> CALLER (another one, told by its waiter)
 *       ^               |  ^                                 | |
 *       |               |  +--- nobody else waits -----------+ |
 *       +---------------+--------------------------------------+
 *        unused for 1 ms,        many others wait, something only the thread may do,
 *        post without waiter     or operations whose outcome goes to a queue
 *
 * The thread keeps the lead while many wait: most of them would be woken for nothing but to pass it on. When one waits,
 * the thread passes the lead to that one, while the masters are busy: it has to be woken anyway.
 *
 * A lead that is free is nobody's duty: while it is, timers and replies wait. So the thread looks at it once in
 * REST_MS, and takes it when nobody has used it since its last look. WATCHED is CALLER for so long that the thread has
 * ceased to look: it wants to be woken when that ends.
 *
 * Callers whose operations end in the same turn are woken together (sleepers.h).
 *
 * No code of the program runs in a caller's turns: functions of redlock_service_run() and watches are put off until
 * the thread leads; and with an event hook, or once such a function has had the client, to which it may have given
 * callbacks, the thread never rests. So what the header says of callbacks and deadlines holds whoever leads.
 *
 * Nothing gets lost between a post and a lead that is let go: who posts looks at the lead after the push, who lets go
 * looks at the inbox after the store, both sequentially consistent. */
#ifndef RL_BLOCKING_LEAD_H
#define RL_BLOCKING_LEAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "blocking/inbox.h"
#include "blocking/waiter.h"
#include "util/list.h"

struct redlock_service;

struct rl_lead {
    _Atomic uint32_t holder;  /* a futex, on which the thread rests */
    _Atomic uint32_t uses;    /* by callers */
    struct rl_sleepers sleepers;

    /* Of the lead from here on. */
    struct rl_list followers; /* waiters whose operations are in flight */
    unsigned n_followers;
    unsigned n_queued;        /* operations in flight that nobody waits for */
    bool told;                /* any caller, since the thread leads */
    bool wanted;              /* by the thread */
    bool ending;              /* for the thread to do */
    bool bound;               /* to the thread: code of the program has had the client */
};

void rl_lead_init(struct rl_lead *lead);

/* Any thread. False: the service has ended, and nothing will be run. */
bool rl_lead_post(struct redlock_service *service, struct rl_post *post);

/* The same by one that waits until `waiter` is told. Not a cancellation point. */
enum rl_asked { RL_ASKED_CLOSED, RL_ASKED_DONE, RL_ASKED_GIVEN_UP };
enum rl_asked rl_lead_ask(struct redlock_service *service, struct rl_post *post, struct rl_waiter *waiter,
                          int64_t end_ns);

/* From a post that is run: true if the service's thread runs it. If not, the thread will run it. */
bool rl_lead_on_thread(struct redlock_service *service, struct rl_post *post);

/* The lead: an operation has begun whose caller waits, and has ended (rl_waiter_tell()). */
void rl_lead_follow(struct redlock_service *service, struct rl_waiter *waiter);
bool rl_lead_tell(struct redlock_service *service, struct rl_waiter *waiter);

/* The same of several in a row, with nothing else in between that could take time or run code of the program. */
bool rl_lead_tell_asleep(struct redlock_service *service, struct rl_waiter *waiter);
void rl_lead_wake_told(struct redlock_service *service);

/* The service's thread, which leads at the beginning and at the end: turns the loop until `ending`. */
void rl_lead_run(struct redlock_service *service);

#endif
