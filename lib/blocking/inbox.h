/* What other threads ask of the service's thread: a stack that any thread pushes onto without a lock, and that the
 * service's thread takes as a whole, when a descriptor of its loop says so. */
#ifndef RL_BLOCKING_INBOX_H
#define RL_BLOCKING_INBOX_H

#include <stdatomic.h>
#include <stdbool.h>

/* Embedded in what is asked; it may be pushed again once it has been run. */
struct rl_post {
    struct rl_post *next;
    void (*run)(struct rl_post *post); /* on the service's thread */
};

struct rl_inbox {
    _Atomic(struct rl_post *) newest;
    int fd; /* an eventfd */
};

/* False: no descriptor. */
bool rl_inbox_init(struct rl_inbox *inbox);
void rl_inbox_fini(struct rl_inbox *inbox);

/* Any thread. False: it has been closed, and nothing will be run. */
bool rl_inbox_push(struct rl_inbox *inbox, struct rl_post *post);

/* The service's thread: makes the descriptor unreadable, before what has made it readable is run. */
void rl_inbox_drain(struct rl_inbox *inbox);

/* The service's thread: runs everything in the order of the pushes. */
void rl_inbox_run(struct rl_inbox *inbox);

/* The same, for the last time. */
void rl_inbox_close(struct rl_inbox *inbox);

#endif
