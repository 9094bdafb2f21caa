/* Notices fork(): the one piece of process-wide state, written by the child before it runs anything else. */
#ifndef RL_UTIL_FORK_H
#define RL_UTIL_FORK_H

/* Changes in the child of every fork(). Any thread. */
unsigned rl_fork_generation(void);

#endif
