/* One turn of the service's event loop. When other threads have posted something, what the turn has brought so far is
 * published before they get it. At the end, when the client has written what it had to write, the rest is published,
 * and callers are told.
 *
 * All of it but the inbox belongs to the loop's owner. */
#ifndef RL_BLOCKING_TURN_H
#define RL_BLOCKING_TURN_H

#include <stdbool.h>

#include "blocking/inbox.h"

struct event;
struct event_base;
struct redlock_service;
struct rl_holds;

/* At the end of each turn that wants one: the service tells its callers. */
typedef void (*rl_turn_end_fn)(struct redlock_service *service);

struct rl_turn {
    struct rl_inbox inbox;
    struct event_base *base;
    struct event *posted;
    struct event *end;
    bool end_due;
    struct rl_holds *holds;   /* borrowed */
    rl_turn_end_fn at_end;
    struct redlock_service *service;
};

/* False: no descriptor or memory; rl_turn_free_events() and rl_turn_fini() are to be called all the same. */
bool rl_turn_init(struct rl_turn *turn, struct rl_holds *holds, rl_turn_end_fn at_end,
                  struct redlock_service *service);
void rl_turn_free_events(struct rl_turn *turn);

/* Closes the inbox's descriptor, at which other threads may be until the service's memory is freed. */
void rl_turn_fini(struct rl_turn *turn);

/* Runs the loop once, with these additional flags of event_base_loop(). False: the loop has failed. */
bool rl_turn_run(struct rl_turn *turn, int flags);

/* Publishes what is stale, and runs the posts. */
void rl_turn_run_posts(struct rl_turn *turn);

/* There is something to do at the end of this turn. */
void rl_turn_want_end(struct rl_turn *turn);

#endif
