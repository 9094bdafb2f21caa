/* What follows for new votes when a master's clock is wrong (protocol 5.6). How that is found out: votes/node_clock.h;
 * what it does to votes that there are: engine/clock_step.c.
 *
 * IMPLEMENTATION NOTES
 *
 * A client cannot tell a master whose clock was set forward from a standstill of its own clock, as a virtual machine
 * has it that is paused or moved to another host: it reads all clocks against its own. In both cases what it holds
 * ends earlier by its clock than it believed, by the same amount. But only in the first case may votes of others have
 * ended early, so that a new vote of this master could be a second one.
 *
 * A quorum of masters, and two at least, have moved forward by one amount within one stretch of time, and no master
 * that the client reaches shows that it has not: that is a standstill of the client's own clock, unless a quorum of
 * masters was set forward together, which assumption A2 excludes. One that has not been read since is enough to wait.
 * Where fewer have moved as far as can be seen, the others are a quorum and vote, if their number is odd. With one
 * master nobody can tell.
 *
 * A slow clock, or one that stands still, is no danger to anybody's lock: keys live longer there than they should.
 * But a dead holder's key stays, and no quarantine ends. So the master has no vote for as long as it goes on; what is
 * held there is extended as before. */
#ifndef RL_VOTES_CLOCK_STEP_H
#define RL_VOTES_CLOCK_STEP_H

#include "votes/votes.h"

/* Does the master's clock keep its new votes from counting? */
bool rl_clock_doubted(const struct rl_votes *votes, size_t node, struct rl_instant now);

/* It has just been found to have moved forward. */
void rl_note_clock_step(struct rl_votes *votes, struct rl_instant now, unsigned node,
                        const struct rl_clock_move *move);

/* It is slow, or is not any more. */
void rl_note_slow_clock(struct rl_votes *votes, unsigned node, bool slow);

/* Was it our own clock that stood still, when this master's seemed to step? Then the masters that have moved may
 * vote as before; returns them, with when it was and for how long. 0: no, or not all that are reachable have been
 * read since. */
uint32_t rl_explain_clock_steps(struct rl_votes *votes, const struct rl_node_clock *const clocks[], unsigned node,
                                struct rl_clock_move *ret_own);

#endif
