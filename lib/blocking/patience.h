/* Whether it is worth waiting for all: tried again and again, the less often the more often it was in vain.
 *
 * Each time in vain about doubles the number of times that are then let pass, each success takes a quarter off it. So
 * if all come half of the times or less, they are soon waited for once in a thousand times only. */
#ifndef RL_BLOCKING_PATIENCE_H
#define RL_BLOCKING_PATIENCE_H

#include <stdbool.h>

struct rl_patience {
    unsigned spell; /* times to let pass after the last one that was in vain, less what successes took off */
    unsigned left;  /* of those */
};

void rl_patience_init(struct rl_patience *patience);

/* True: wait, and say afterwards what it was worth. False: not this time. */
bool rl_patience_try(struct rl_patience *patience);
void rl_patience_learn(struct rl_patience *patience, bool all_came);

#endif
