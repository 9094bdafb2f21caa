#include "votes/quorum.h"

#include <assert.h>

#include "util/mutant.h"

size_t rl_majority(size_t n_nodes)
{
    return n_nodes / 2 + 1;
}

/* protocol 1.5: accept at the q-th grant; refuse when more than N - q nodes refused or failed. */
enum rl_verdict rl_quorum_verdict(size_t n_nodes, size_t quorum, size_t granted, size_t not_granted)
{
    assert(quorum >= 1 && quorum <= n_nodes);
    assert(granted + not_granted <= n_nodes);
    if (granted + RL_MUTANT(MAJORITY_OFF_BY_ONE) >= quorum)
        return RL_VERDICT_WON;
    if (RL_MUTANT(EVEN_VERDICT))
        return not_granted >= quorum ? RL_VERDICT_LOST : RL_VERDICT_PENDING;
    if (not_granted + RL_MUTANT(EARLY_REFUSAL) > n_nodes - quorum)
        return RL_VERDICT_LOST;
    return RL_VERDICT_PENDING;
}

/* The k largest so far stand in front, the largest first. There are so few numbers that sorting in is quickest. */
int64_t rl_kth_largest(int64_t *numbers, size_t n, size_t k)
{
    assert(k >= 1 && k <= n);
    for (size_t i = 1; i < n; i++) {
        int64_t number = numbers[i];
        size_t at = i < k ? i : k - 1;

        if (i >= k && number <= numbers[k - 1])
            continue;
        for (; at > 0 && numbers[at - 1] < number; at--)
            numbers[at] = numbers[at - 1];
        numbers[at] = number;
    }
    return numbers[k - 1];
}
