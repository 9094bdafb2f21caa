/* Who turns the service's event loop: the service's thread, or a caller that has to wait anyway (the pattern is known
 * as leader/followers).
 *
 * IMPLEMENTATION NOTES
 *
 * Waking a thread costs more than everything else in a call. So the loop has an owner, which may change: to the owner
 * belong the event base, the client, and all fields that are marked "of the owner". A caller that finds the loop free
 * takes it: it begins its operation, turns the loop until that has ended, and then gives the loop to another caller
 * that waits, or leaves it free. No thread is woken then.
 *
 *            nobody waits            a caller that has to wait
 *     THREAD --------> FREE -----------------------------> CALLER --> CALLER (another one, told by its waiter)
 *       ^               |  ^                                 | |
 *       |               |  +--- nobody else waits -----------+ |
 *       +---------------+--------------------------------------+
 *        unused for 1 ms,        many others wait, something only the thread may do,
 *        post without waiter     or operations whose outcome goes to a queue
 *
 * The thread keeps the loop while many callers wait, since most of them would be woken only to give the loop away
 * again. While one caller waits the thread gives the loop to it, at a time when the masters are busy: that caller has
 * to be woken sooner or later.
 *
 * Nobody looks after a loop that is free: timers and replies wait. So the thread looks at it once in REST_MS, and takes
 * it if no caller has owned it since the last look. WATCHED is CALLER for so long that the thread has ceased to look:
 * whoever lets go of the loop then has to wake the thread.
 *
 * Callers whose operations end in the same turn are woken together (sleepers.h).
 *
 * No code of the program runs while a caller owns the loop: functions of redlock_service_run() and watches are put off
 * until the thread owns it. The thread never leaves the loop (`pinned`) if there is an event hook, or once such a
 * function has had the client, since it may have given callbacks to the client. So what <redlock/blocking.h> says of
 * callbacks and deadlines holds whoever the owner is.
 *
 * No post is overlooked when the loop is let go: a thread that posts looks at the owner after the push, and a thread
 * that lets go looks at the inbox after the store, both sequentially consistent. */
#ifndef RL_BLOCKING_LOOP_H
#define RL_BLOCKING_LOOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "blocking/sleepers.h"
#include "util/list.h"

struct event;
struct event_base;
struct redlock_service;
struct rl_holders;

/* What other threads ask of the loop's owner: a stack onto which any thread pushes without a lock. The owner
 * takes it as a whole: when it becomes the owner, or when a descriptor of the loop is readable. */

/* Embedded in what is asked; it may be pushed again once it has been run. */
struct rl_post {
    struct rl_post *next;
    void (*run)(struct rl_post *post); /* by the owner */
};

struct rl_inbox {
    _Atomic(struct rl_post *) newest;
    int fd; /* an eventfd */
};

/* False: no descriptor. */
bool rl_inbox_init(struct rl_inbox *inbox);
void rl_inbox_fini(struct rl_inbox *inbox);

/* Any thread. NOT: the inbox has been closed, and nothing will be run. FIRST: it was empty. The thread that makes it
 * non-empty sees to it that the owner looks, and the owner takes all there is: one system call serves many posts. */
enum rl_pushed { RL_PUSHED_NOT, RL_PUSHED_FIRST, RL_PUSHED_BEHIND };
enum rl_pushed rl_inbox_push(struct rl_inbox *inbox, struct rl_post *post);

bool rl_inbox_is_empty(const struct rl_inbox *inbox);

/* Any thread: makes the descriptor readable. */
void rl_inbox_wake(const struct rl_inbox *inbox);

/* The owner: makes the descriptor unreadable, before it runs the posts that have made it readable. */
void rl_inbox_drain(struct rl_inbox *inbox);

/* The owner: runs all posts, in the order of the pushes. The second function does it for the last time. */
void rl_inbox_run(struct rl_inbox *inbox);
void rl_inbox_close(struct rl_inbox *inbox);

/* One turn of the service's event loop. When other threads have posted something, what the turn has brought so far is
 * published before they get it. At the end, when the client has written what it had to write, the rest is published,
 * and callers are told.
 *
 * All of it but the inbox belongs to the loop's owner. */

/* At the end of each turn that wants one: the service tells its callers. */
typedef void (*rl_turn_end_fn)(struct redlock_service *service);

struct rl_turn {
    struct rl_inbox inbox;
    struct event_base *base;
    struct event *posted;
    struct event *end;
    bool end_due;
    struct rl_holders *holders;   /* borrowed */
    rl_turn_end_fn at_end;
    struct redlock_service *service;
};

/* False: no descriptor or memory; rl_turn_free_events() and rl_turn_fini() are to be called all the same. */
bool rl_turn_init(struct rl_turn *turn, struct rl_holders *holders, rl_turn_end_fn at_end,
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

struct rl_loop {
    _Atomic uint32_t owner; /* a futex, on which the thread rests */
    _Atomic uint32_t uses;  /* how often callers have become the owner */
    struct rl_sleepers sleepers;
    struct rl_post stop;

    struct rl_turn turn;

    /* Of the owner from here on. */
    struct rl_list followers; /* waiters whose operations are in flight */
    unsigned n_followers;
    unsigned n_queued;        /* operations in flight whose outcome goes to a queue: job.c */
    bool told;                /* callers have been told since the thread became the owner */
    bool wanted;              /* there is something that only the thread may do */
    bool ending;              /* the thread is to end */
    bool pinned;              /* the thread keeps the loop: there are callbacks of the program */
};

/* The arguments and results are those of rl_turn_init(). In the beginning the thread is the owner. */
bool rl_loop_init(struct rl_loop *loop, struct rl_holders *holders, rl_turn_end_fn at_end,
                  struct redlock_service *service);

/* Is the calling thread the service's? */
bool rl_loop_is_own_thread(const struct rl_loop *loop);

/* The service's thread, which is the owner at the beginning and at the end: turns the loop until it is stopped. */
void rl_loop_run(struct rl_loop *loop);

/* Any thread. False: the service has ended, and nothing will be run. */
bool rl_loop_post(struct rl_loop *loop, struct rl_post *post);
void rl_loop_stop(struct rl_loop *loop);

/* Any thread but the service's: posts, and waits until the waiter is told. The thread must not be canceled in it, and
 * the loop must outlive the call. */
enum rl_asked { RL_ASKED_CLOSED, RL_ASKED_DONE, RL_ASKED_TIMEOUT };
enum rl_asked rl_loop_ask(struct rl_loop *loop, struct rl_post *post, struct rl_waiter *waiter, int64_t end_ns);

/* From a post that is run: true if the service's thread runs it. If not, that thread will run the post again. */
bool rl_loop_move_to_thread(struct rl_loop *loop, struct rl_post *post);

/* The owner: an operation has begun whose caller waits. */
void rl_loop_follow(struct rl_loop *loop, struct rl_waiter *waiter);

/* The owner: the operation has ended. The caller wakes at rl_sleepers_wake_marked(), which serves many; nothing in
 * between takes time or runs code of the program. False: the caller has given up. */
bool rl_loop_tell(struct rl_loop *loop, struct rl_waiter *waiter);

#endif
