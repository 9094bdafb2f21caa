/* What other threads ask of the loop's owner (loop.h): a stack onto which any thread pushes without a lock. The owner
 * takes it as a whole: when it becomes the owner, or when a descriptor of the loop is readable. */
#ifndef RL_BLOCKING_INBOX_H
#define RL_BLOCKING_INBOX_H

#include <stdatomic.h>
#include <stdbool.h>

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

#endif
