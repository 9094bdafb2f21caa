/* The clock of one master against ours, whether it has been set, and what that costs in votes (rule 6.1).
 *
 * Every TIME in a reply bounds offset = node clock - our clock: a reading T taken between the send s and the receipt r
 * has  T - r <= offset <= T - s + 1 us.  The intersection of all such intervals is kept, widened by the drift
 * allowance for the time that has passed between them. When it becomes empty, the clock has been set:
 *
 *     new interval wholly above the old one   forward, by at most (new high - old low)
 *     new interval wholly below               backward
 *
 * and tracking begins anew with the new interval. A standstill of our own clock looks like a forward step of all of
 * them: rl_explain_clock_steps().
 *
 * Beside that the rate is looked at, over stretches of half a second and more: a clock that has done less than three
 * quarters of our time in two stretches on end stands still, or is slow. One step back is seen in one stretch only. */
#ifndef RL_VOTES_CLOCKS_H
#define RL_VOTES_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/instant.h"

struct rl_votes;

/* How a clock has moved forward against ours, beyond what rates explain, between two readings. */
struct rl_clock_move {
    struct rl_instant from; /* the earlier reading was taken after this ... */
    struct rl_instant to;   /* ... and the later one before this; RL_LONG_AGO: it has not moved */
    struct rl_span least;
    struct rl_span most;
};

struct rl_node_clock {
    int64_t low_ns;            /* offset of the node's clock, at `at` */
    int64_t high_ns;
    int64_t low_before_ns;     /* the low end before it was last raised */
    struct rl_instant at;      /* of the latest reading; RL_LONG_AGO before the first */
    struct rl_instant asked;   /* ... when it was asked for */
    struct rl_instant first;   /* the first one was asked for */
    uint32_t forward_steps;    /* seen so far */
    uint32_t backward_steps;
    struct rl_span last_step;  /* positive: forward, at most that; negative: backward, at least that */
    struct rl_clock_move last_move; /* of the latest step forward */
    struct rl_instant stretch_asked; /* the reading with which the present stretch began */
    struct rl_instant stretch_at;
    int64_t stretch_us;
    int64_t stretch_low_ns;          /* the low end then ... */
    int64_t former_low_ns;           /* ... and at the beginning of the stretch before ... */
    struct rl_instant former_asked;  /* ... which was then */
    uint32_t slow_stretches;         /* on end, up to now */
};

enum rl_clock_finding {
    RL_CLOCK_STEADY,
    RL_CLOCK_FORWARD,
    RL_CLOCK_BACKWARD,
};

void rl_node_clock_init(struct rl_node_clock *clock);

/* One reading of the node's clock, in microseconds since the epoch, taken between two instants of ours. ppm is the
 * rate part of the drift allowance. last_step is set when the finding is not STEADY. */
enum rl_clock_finding rl_node_clock_read(struct rl_node_clock *clock, uint32_t drift_ppm, int64_t node_us,
                                        struct rl_instant sent, struct rl_instant received);

/* Does it stand still, or run much slower than ours? */
bool rl_node_clock_is_slow(const struct rl_node_clock *clock);

/* What the clock may have been set forward by without being found, by the readings of half a second and more. */
struct rl_span rl_node_clock_hides(const struct rl_node_clock *clock);

/* Our own clock has fallen back by at least this and at most that: all others are so much further ahead of it. */
void rl_node_clock_shift(struct rl_node_clock *clock, struct rl_span least, struct rl_span most);

/* The middle of the interval, for people; 0 before the first reading. */
int64_t rl_node_clock_offset_ns(const struct rl_node_clock *clock);

/* What follows for new votes when a master's clock is wrong (rules 6). engine/answer.c says what it does to votes that
 * there are.
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
