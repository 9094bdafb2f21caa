/* Cohorts: waiters of one client that entered a wait queue together, and hand the lock off among themselves. */
#ifndef RL_HOST_COHORT_H
#define RL_HOST_COHORT_H

struct rl_batch;
struct rl_host;
struct rl_host_attempt;
struct rl_host_lock;

/* A batch is about to be written: if its claims join a wait queue, their locks become a cohort. */
void rl_cohort_form(struct rl_host *host, const struct rl_batch *batch);

/* A lock's acquisition has ended. */
void rl_cohort_leave(struct rl_host_attempt *attempt);

/* Hands a lock that is being released off to the next of its cohort, and returns that one; or NULL. rl_host_run() must
 * follow. */
struct rl_host_lock *rl_cohort_hand_off(struct rl_host_lock *lock);

#endif
