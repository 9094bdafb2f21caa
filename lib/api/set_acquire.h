/* The acquisition of a set. */
#ifndef RL_API_SET_ACQUIRE_H
#define RL_API_SET_ACQUIRE_H

struct redlock_set;

/* rl_set_check_new() for what makes a set held: one that is not held yet, and has keys enough. */
int rl_set_check_free(struct redlock_set *set);

/* Tells the engine what the set is made of. */
void rl_set_describe(struct redlock_set *set);

/* While the set is being acquired, this part, which it held, is lost. */
void rl_set_lost_meanwhile(struct redlock_set *set, unsigned part);

#endif
