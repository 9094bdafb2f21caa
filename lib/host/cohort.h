/* Who has got in line together, and has the lock next. */
#ifndef RL_HOST_COHORT_H
#define RL_HOST_COHORT_H

struct rl_batch;
struct rl_host;
struct rl_host_attempt;
struct rl_host_lock;

/* Newcomers are about to be written. */
void rl_cohort_form(struct rl_host *host, const struct rl_batch *batch);

/* A lock's acquisition has ended. */
void rl_cohort_leave(struct rl_host_attempt *attempt);

/* A lock's release: the lock of its cohort that has the value instead, or NULL. rl_host_run() must follow. */
struct rl_host_lock *rl_cohort_hand_off(struct rl_host_lock *lock);

#endif
