/* Who keeps the memory of an election. */
#ifndef RL_API_ELECTION_MEMORY_H
#define RL_API_ELECTION_MEMORY_H

struct redlock_election;

/* Between these two the election's memory is kept, whatever callbacks do. */
void rl_election_enter(struct redlock_election *election);
void rl_election_leave(struct redlock_election *election);

#endif
