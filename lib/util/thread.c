#include "util/thread.h"

#include <signal.h>

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
