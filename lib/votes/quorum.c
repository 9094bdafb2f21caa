#include "votes/quorum.h"

#include <assert.h>

#include "votes/votes.h"

size_t rl_majority(size_t n_nodes)
{
    return n_nodes / 2 + 1;
}

/* rule 2.7: accept at the q-th grant; refuse when more than N - q nodes refused or failed. */
enum rl_verdict rl_quorum_verdict(size_t n_nodes, size_t quorum, size_t granted, size_t not_granted)
{
    assert(quorum >= 1 && quorum <= n_nodes);
    assert(granted + not_granted <= n_nodes);
    if (granted >= quorum)
        return RL_VERDICT_WON;
    if (not_granted > n_nodes - quorum)
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

#define MILLION INT64_C(1000000)

/* The rate part is rounded up to a whole millisecond, since Redis expires keys at whole milliseconds. */
struct rl_span rl_drift(const struct rl_drift_rule *rule, uint32_t ttl_ms)
{
    int64_t rate_ms = ((int64_t)ttl_ms * rule->ppm + MILLION - 1) / MILLION;

    return (struct rl_span){rl_ms(rate_ms).ns + rule->fixed.ns};
}

struct rl_span rl_usable_validity(const struct rl_drift_rule *rule, struct rl_span guard, uint32_t ttl_ms)
{
    return (struct rl_span){rl_ms(ttl_ms).ns - rl_drift(rule, ttl_ms).ns - guard.ns};
}

struct rl_instant rl_vote_bound(const struct rl_drift_rule *rule, struct rl_instant sent, uint32_t ttl_ms)
{
    struct rl_span drift = rl_drift(rule, ttl_ms);

    return (struct rl_instant){sent.ns + rl_ms(ttl_ms).ns - drift.ns};
}

struct rl_instant rl_surely_expired(const struct rl_drift_rule *rule, struct rl_instant done, uint32_t ttl_ms)
{
    return (struct rl_instant){done.ns + rl_ms(ttl_ms).ns + rl_drift(rule, ttl_ms).ns};
}

void rl_tally_init(struct rl_tally *tally, unsigned n_nodes, unsigned quorum)
{
    assert(n_nodes >= 1 && n_nodes <= RL_MAX_NODES && quorum >= 1 && quorum <= n_nodes);
    *tally = (struct rl_tally){.n_nodes = (uint8_t)n_nodes, .quorum = (uint8_t)quorum};
}

bool rl_tally_awaits(const struct rl_tally *tally, unsigned node)
{
    return !((tally->answered | tally->failed) & rl_bit(node));
}

void rl_tally_note(struct rl_tally *tally, unsigned node, bool counts)
{
    assert(rl_tally_awaits(tally, node));
    *(counts ? &tally->answered : &tally->failed) |= rl_bit(node);
}

bool rl_tally_is_complete(const struct rl_tally *tally)
{
    return (tally->answered | tally->failed) == rl_bit(tally->n_nodes) - 1;
}

enum rl_verdict rl_tally_verdict(const struct rl_tally *tally)
{
    return rl_quorum_verdict(tally->n_nodes, tally->quorum, rl_count_bits(tally->answered),
                             rl_count_bits(tally->failed));
}
