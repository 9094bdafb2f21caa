#include "engine/entry.h"

#include "votes/quorum.h"

/* PTTL rounds down, and the key lives through its last millisecond. */
#define ROUNDING_NS RL_NS_PER_MS

void rl_entry_init(struct rl_entry *entry, uint64_t ticket)
{
    entry->ticket = ticket;
    entry->answered = 0;
    entry->early = (struct rl_span){0};
    entry->enqueued = false;
    entry->reported = false;
}

void rl_entry_start_round(struct rl_entry *entry)
{
    entry->largest = 0;
    entry->at_largest = 0;
    entry->answered = 0;
    entry->unequal = 0;
    entry->corrected = 0;
    entry->lower = 0;
}

static struct rl_instant after_ms(struct rl_instant now, int64_t ms)
{
    return ms < 0 ? RL_NEVER : rl_after(rl_after(now, rl_ms(ms)), (struct rl_span){ROUNDING_NS});
}

void rl_entry_note(struct rl_entry *entry, struct rl_instant now, unsigned node, const struct rl_entry_report *report)
{
    entry->answered |= rl_bit(node);
    entry->seen[node].rank = report->rank;
    entry->seen[node].look = after_ms(now, report->look_ms);
    entry->seen[node].held_until = after_ms(now, report->held_ms);
    if (report->lower)
        entry->lower |= rl_bit(node);
    if (report->ticket > entry->largest) {
        entry->largest = report->ticket;
        entry->at_largest = 0;
    }
    if (report->ticket == entry->largest)
        entry->at_largest |= rl_bit(node);
    if (entry->ticket && report->ticket != entry->ticket)
        entry->unequal |= rl_bit(node);
}

bool rl_entry_fix_ticket(struct rl_entry *entry, size_t quorum)
{
    if (entry->ticket || rl_count_bits(entry->answered) < quorum)
        return false;
    entry->ticket = entry->largest;
    entry->unequal = entry->answered & ~entry->at_largest;
    return rl_count_bits(entry->at_largest) < quorum;
}

/* The k-th smallest of n numbers; INT64_MAX if there are fewer than k. */
static int64_t kth_smallest(int64_t *numbers, size_t n, size_t k)
{
    return k <= n ? rl_kth_largest(numbers, n, n - k + 1) : INT64_MAX;
}

struct rl_instant rl_entry_refresh_at(const struct rl_entry *entry, const struct rl_claim *claim, size_t quorum)
{
    int64_t looks[RL_MAX_NODES];
    size_t granted = 0;
    size_t n = 0;

    for (size_t i = 0; i < claim->n_nodes; i++) {
        if (claim->votes[i].outcome == RL_GRANTED)
            granted++;
        else if (entry->answered & rl_bit(i))
            looks[n++] = entry->seen[i].look.ns;
    }
    return granted < quorum ? (struct rl_instant){kth_smallest(looks, n, quorum - granted)} : RL_NEVER;
}

void rl_entry_position(const struct rl_entry *entry, size_t quorum, uint32_t *ret_rank,
                       struct rl_instant *ret_held_until)
{
    int64_t ranks[RL_MAX_NODES];
    int64_t ends[RL_MAX_NODES];
    size_t n = 0;

    for (size_t i = 0; entry->answered >> i; i++) {
        if (!(entry->answered & rl_bit(i)))
            continue;
        ranks[n] = entry->seen[i].rank;
        ends[n++] = entry->seen[i].held_until.ns;
    }
    *ret_rank = n < quorum ? UINT32_MAX : (uint32_t)kth_smallest(ranks, n, quorum);
    *ret_held_until = (struct rl_instant){kth_smallest(ends, n, quorum)};
}
