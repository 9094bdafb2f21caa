/* Who leads, as an observer sees it. */
#ifndef RL_API_ELECTION_OBSERVE_H
#define RL_API_ELECTION_OBSERVE_H

struct redlock_election;

void rl_election_init_observer(struct redlock_election *election);

/* No callback follows. A look that is under way keeps the election's memory. */
void rl_election_stop_observing(struct redlock_election *election);

#endif
