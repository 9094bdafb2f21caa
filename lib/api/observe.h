/* The event hook. */
#ifndef RL_API_OBSERVE_H
#define RL_API_OBSERVE_H

#include <stdbool.h>

#include <redlock/redlock.h>

/* Does the program want events of this type? */
bool rl_observes(const struct redlock_client *client, enum redlock_event_type type);

/* Calls the hook. The event's client is filled in, and its node, if it names none. */
void rl_observe(struct redlock_client *client, struct redlock_event *event);

#endif
