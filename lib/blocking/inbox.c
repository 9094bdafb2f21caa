#include "blocking/inbox.h"

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* On top of the stack of an inbox that is closed. */
static struct rl_post closed;

bool rl_inbox_init(struct rl_inbox *inbox)
{
    atomic_init(&inbox->newest, NULL);
    inbox->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return inbox->fd >= 0;
}

void rl_inbox_fini(struct rl_inbox *inbox)
{
    if (inbox->fd >= 0)
        close(inbox->fd);
    inbox->fd = -1;
}

/* The counter cannot overflow, and a write to it cannot fail otherwise. But a thread that is canceled in it would
 * leave an inbox behind into which nobody looks. */
void rl_inbox_wake(const struct rl_inbox *inbox)
{
    uint64_t one = 1;
    ssize_t written;
    int cancelable;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    written = write(inbox->fd, &one, sizeof one);
    pthread_setcancelstate(cancelable, NULL);
    (void)written;
}

/* A thread that finds the inbox closed sees all that was done before that. */
enum rl_pushed rl_inbox_push(struct rl_inbox *inbox, struct rl_post *post)
{
    struct rl_post *top = atomic_load_explicit(&inbox->newest, memory_order_acquire);

    assert(post->run);
    do {
        if (top == &closed)
            return RL_PUSHED_NOT;
        post->next = top;
    } while (!atomic_compare_exchange_weak(&inbox->newest, &top, post));
    return top ? RL_PUSHED_BEHIND : RL_PUSHED_FIRST;
}

bool rl_inbox_is_empty(const struct rl_inbox *inbox)
{
    return !atomic_load(&inbox->newest);
}

void rl_inbox_drain(struct rl_inbox *inbox)
{
    uint64_t posts;
    ssize_t got = read(inbox->fd, &posts, sizeof posts);

    (void)got;
}

/* The oldest comes first. Once a post has been run its memory may be gone, or it may have been pushed again. */
static void run_all(struct rl_post *newest)
{
    struct rl_post *oldest = NULL;

    for (struct rl_post *post = newest, *next; post; post = next) {
        next = post->next;
        post->next = oldest;
        oldest = post;
    }
    for (struct rl_post *post = oldest, *next; post; post = next) {
        next = post->next;
        post->run(post);
    }
}

void rl_inbox_run(struct rl_inbox *inbox)
{
    run_all(atomic_exchange(&inbox->newest, NULL));
}

void rl_inbox_close(struct rl_inbox *inbox)
{
    struct rl_post *newest = atomic_exchange_explicit(&inbox->newest, &closed, memory_order_acq_rel);

    assert(newest != &closed);
    run_all(newest);
}
