#include "util/thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

/* A new thread begins with its creator's mask, so that no signal can come in between. */
bool rl_thread_start(pthread_t *ret_thread, const pthread_attr_t *attributes, void *(*run)(void *argument),
                     void *argument)
{
    sigset_t all;
    sigset_t before;
    bool started;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    started = pthread_create(ret_thread, attributes, run, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static atomic_uint generation = 1;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void in_child(void)
{
    atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
}

static void watch(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

unsigned rl_fork_generation(void)
{
    pthread_once(&once, watch);
    return atomic_load_explicit(&generation, memory_order_relaxed);
}
