/* Threads of the library in a program that does not know of them, and processes that fork(). */
#ifndef RL_UTIL_THREAD_H
#define RL_UTIL_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* pthread_create() of a thread that blocks all signals: those of the program are for its own threads. `attributes` may
 * be NULL. False: there is no thread. */
bool rl_thread_start(pthread_t *ret_thread, const pthread_attr_t *attributes, void *(*run)(void *argument),
                     void *argument);

/* Notices fork(): the one piece of process-wide state, written by the child before it runs anything else. */

/* Changes in the child of every fork(). Any thread. */
unsigned rl_fork_generation(void);

#endif
