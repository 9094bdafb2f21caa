/* The acquisition of a set, and its alarms, which may come while it is acquired. */
#ifndef RL_API_SET_ACQUIRE_H
#define RL_API_SET_ACQUIRE_H

#include <redlock/redlock.h>

/* The alarm callback of a set's locks; user_data is the set. */
void rl_set_alarm(struct redlock_lock *lock, const struct redlock_alarm *alarm, void *user_data);

#endif
