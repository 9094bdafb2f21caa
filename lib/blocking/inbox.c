#include "blocking/inbox.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* On top of the stack of an inbox that takes no more. */
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

/* The counter cannot overflow, and a write to it cannot fail otherwise; but a thread that is canceled there would leave
 * an inbox behind into which nobody looks. */
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

enum rl_pushed rl_inbox_push(struct rl_inbox *inbox, struct rl_post *post)
{
    struct rl_post *top = atomic_load_explicit(&inbox->newest, memory_order_relaxed);

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

static struct rl_post *reverse(struct rl_post *newest)
{
    struct rl_post *oldest = NULL;

    while (newest) {
        struct rl_post *next = newest->next;

        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}

/* A post may be gone, or pushed again, when it has been run. */
static void run_all(struct rl_post *newest)
{
    for (struct rl_post *post = reverse(newest), *next; post; post = next) {
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
    run_all(atomic_exchange_explicit(&inbox->newest, &closed, memory_order_acq_rel));
}
