/* What is asked of whoever leads (lead.h): a stack that any thread pushes onto without a lock, and that the leader
 * takes as a whole, when it begins to lead, or when a descriptor of the loop says so. */
#ifndef RL_BLOCKING_INBOX_H
#define RL_BLOCKING_INBOX_H

#include <stdatomic.h>
#include <stdbool.h>

/* Embedded in what is asked; it may be pushed again once it has been run. */
struct rl_post {
    struct rl_post *next;
    void (*run)(struct rl_post *post); /* by the lead */
};

struct rl_inbox {
    _Atomic(struct rl_post *) newest;
    int fd; /* an eventfd */
};

/* False: no descriptor. */
bool rl_inbox_init(struct rl_inbox *inbox);
void rl_inbox_fini(struct rl_inbox *inbox);

/* Any thread. NOT: it has been closed, and nothing will be run. FIRST: it was empty, and whoever makes it non-empty has
 * to see to it that it is looked into: who looks takes all there is, so that one system call serves many posts. */
enum rl_pushed { RL_PUSHED_NOT, RL_PUSHED_FIRST, RL_PUSHED_BEHIND };
enum rl_pushed rl_inbox_push(struct rl_inbox *inbox, struct rl_post *post);

bool rl_inbox_is_empty(const struct rl_inbox *inbox);

/* Any thread: makes the descriptor readable. */
void rl_inbox_wake(const struct rl_inbox *inbox);

/* The lead: makes the descriptor unreadable, before what has made it readable is run. */
void rl_inbox_drain(struct rl_inbox *inbox);

/* The lead: runs everything in the order of the pushes. */
void rl_inbox_run(struct rl_inbox *inbox);

/* The same, for the last time. */
void rl_inbox_close(struct rl_inbox *inbox);

#endif
