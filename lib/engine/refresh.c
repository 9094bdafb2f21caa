/* IMPLEMENTATION NOTES
 *
 * Notifications are hints: a round finds out whatever was missed. The time of the next round goes by what the masters
 * say. The first waiter looks again when the holder's key must have expired, each other waiter when the lease of the
 * one in front of it must have ended. A waiter that becomes the first because the one in front has left the queue is
 * told so by the master if the key ends before the waiter's next refresh (release.lua).
 *
 * Rounds that are due because their time has come begin at ticks, a little early, so that those of many waiters for one
 * key go out in one command for each master. */
#include "engine/refresh.h"

#include "engine/acquire.h"
#include "votes/ask.h"
#include "votes/votes.h"

/* Refreshes in each lease. */
#define REFRESHES 4

/* Ticks in each interval between refreshes. */
#define TICKS 8

/* Between two wake-ups. */
#define SHORTEST_WAIT_NS RL_NS_PER_MS

/* --- Asking ------------------------------------------------------------------------------------------------------- */

static void ask(struct rl_engine *engine, struct rl_claim *claim, uint32_t nodes)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        struct rl_vote *vote = &claim->votes[i];

        if (!(nodes & rl_bit(i)))
            continue;
        vote->answer = RL_PENDING;
        vote->detail = RL_DETAIL_NONE;
        vote->latency_us = RL_NO_LATENCY;
        if (vote->outcome == RL_NOT_ASKED || vote->outcome == RL_FAILED || vote->outcome == RL_REFUSED)
            vote->outcome = RL_PENDING;
    }
    rl_outbox_add(&engine->votes, claim, RL_STEP_ENQUEUE, nodes);
}

void rl_lock_ask_again(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, unsigned node)
{
    struct rl_vote *vote;
    enum rl_detail why;

    if (lock->state != RL_LOCK_WAITING || !lock->claim || !rl_may_claim(&engine->votes, node, now, &why))
        return;
    vote = &lock->claim->votes[node];
    if (vote->outcome == RL_PENDING)
        vote->outcome = RL_UNKNOWN; /* asked twice: one answer does not say what becomes of the other question */
    ask(engine, lock->claim, rl_bit(node));
}

void rl_refresh_tell_ticket(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    struct rl_entry *entry = rl_wait_entry(lock);
    uint32_t nodes = entry->unequal & ~entry->corrected;

    for (size_t i = 0; i < lock->claim->n_nodes; i++) {
        enum rl_detail why;

        if ((nodes & rl_bit(i)) && !rl_may_claim(&engine->votes, i, now, &why))
            nodes &= ~rl_bit(i);
    }
    if (!nodes)
        return;
    entry->corrected |= nodes;
    ask(engine, lock->claim, nodes);
}

/* --- The next round ----------------------------------------------------------------------------------------------- */

/* Votes that are no quorum, and that a lower ticket may need: masters say where one waits, but not of every kind. */
static bool has_early_refresh(const struct rl_engine *engine, const struct rl_lock *lock)
{
    uint32_t wanted = lock->claim->kind->refreshes_early ? UINT32_MAX : rl_wait_entry(lock)->lower;

    return (rl_claim_granted(lock->claim) & wanted) && !rl_wait_has_quorum(engine, lock->claim);
}

/* After some round trips, so that answers which cross each other have come; then after longer and longer times. */
#define EARLY_TRIPS 4

static void start_early(struct rl_entry *entry, struct rl_span trip)
{
    if (entry->early.ns)
        return;
    entry->early.ns = EARLY_TRIPS * trip.ns;
    if (entry->early.ns < SHORTEST_WAIT_NS)
        entry->early.ns = SHORTEST_WAIT_NS;
}

static void delay_early(struct rl_entry *entry, struct rl_span interval)
{
    if (entry->early.ns < interval.ns)
        entry->early.ns *= 2;
}

static struct rl_span refresh_interval(const struct rl_claim *claim)
{
    return (struct rl_span){rl_ms(claim->ttl_ms).ns / REFRESHES};
}

/* Answers count for the latest round only. So a round whose answers take longer than a refresh interval delays the next
 * one until a quorum has answered, or has had the time for it. */
static bool round_is_under_way(const struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now)
{
    return !rl_wait_has_answers(engine, lock) &&
           rl_before(now, rl_after(lock->round_start, engine->votes.config.node_timeout));
}

static struct rl_instant next_look(const struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now)
{
    struct rl_span interval = refresh_interval(lock->claim);
    struct rl_instant at = rl_on_tick(rl_after(lock->round_start, interval), rl_tick_ns(engine, interval.ns / TICKS));

    if (rl_before(now, at) || !round_is_under_way(engine, lock, now))
        return at;
    return rl_earlier(rl_after(now, interval), rl_after(lock->round_start, engine->votes.config.node_timeout));
}

void rl_refresh_set_wake(const struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    const struct rl_config *config = &engine->votes.config;
    const struct rl_entry *entry = rl_wait_entry(lock);
    bool answered = rl_wait_has_answers(engine, lock);
    struct rl_instant at = next_look(engine, lock, now);

    if (answered)
        at = rl_earlier(at, rl_entry_refresh_at(entry, lock->claim, config->quorum));
    if (answered && has_early_refresh(engine, lock))
        at = rl_earlier(at, rl_after(lock->round_start, entry->early));
    at = rl_later(at, rl_after(now, (struct rl_span){SHORTEST_WAIT_NS}));
    lock->wake = rl_earlier(at, lock->acquisition.request->deadline);
}

/* --- Rounds ------------------------------------------------------------------------------------------------------- */

bool rl_wait_can_ask_quorum(const struct rl_engine *engine, struct rl_instant now)
{
    size_t n = 0;

    for (size_t i = 0; i < engine->votes.config.n_nodes; i++) {
        enum rl_detail why;

        n += rl_may_claim(&engine->votes, i, now, &why);
    }
    return n >= engine->votes.config.quorum;
}

bool rl_wait_is_in_queue(const struct rl_lock *lock, struct rl_instant now)
{
    return rl_before(now, rl_wait_entry(lock)->in_queue_until);
}

/* The masters that may be asked; the evidence of the others says why not. */
static uint32_t askable(const struct rl_engine *engine, struct rl_claim *claim, struct rl_instant now)
{
    uint32_t nodes = 0;

    for (size_t i = 0; i < claim->n_nodes; i++) {
        enum rl_detail why = RL_DETAIL_NONE;

        if (rl_may_claim(&engine->votes, i, now, &why)) {
            nodes |= rl_bit(i);
            continue;
        }
        claim->votes[i].answer = rl_votes_joins(&engine->votes, i) ? RL_NOT_ASKED : RL_FAILED;
        claim->votes[i].detail = (uint8_t)why;
    }
    return nodes;
}

/* The instant by which all that is sent at `now` has been carried out, and has expired. */
static void note_sending(const struct rl_engine *engine, struct rl_claim *claim, struct rl_instant now)
{
    const struct rl_config *config = &engine->votes.config;
    struct rl_instant answered = rl_after(now, config->node_timeout);

    claim->give_up = rl_later(claim->give_up, rl_surely_expired(&config->drift, answered, claim->ttl_ms));
}

struct rl_next rl_refresh_begin(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    const struct rl_config *config = &engine->votes.config;
    struct rl_claim *claim = lock->claim;
    uint32_t nodes = askable(engine, claim, now);

    lock->round_start = now;
    if (rl_count_bits(nodes) < config->quorum)
        return rl_attempt_fail(engine, lock, now, RL_END_NO_QUORUM);
    rl_entry_start_round(rl_wait_entry(lock));
    rl_wait_entry(lock)->votes = rl_claim_granted(claim);
    claim->round_bound = rl_vote_bound(&config->drift, now, claim->ttl_ms);
    note_sending(engine, claim, now);
    ask(engine, claim, nodes);
    rl_refresh_set_wake(engine, lock, now);
    return rl_stay(lock);
}

/* While other masters take their time for the round's answers, those that have certainly not been reached by it are
 * asked again, before the leases that they have granted end. */
static struct rl_next ask_failed(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    struct rl_claim *claim = lock->claim;
    uint32_t nodes = 0;

    for (size_t i = 0; i < claim->n_nodes; i++) {
        enum rl_detail why;

        if (claim->votes[i].answer == RL_FAILED && rl_may_claim(&engine->votes, i, now, &why))
            nodes |= rl_bit(i);
    }
    if (nodes) {
        note_sending(engine, claim, now);
        ask(engine, claim, nodes);
    }
    rl_refresh_set_wake(engine, lock, now);
    return rl_stay(lock);
}

/* Masters that come back are asked one by one (rl_lock_ask_again()). */
static struct rl_next await_masters(struct rl_lock *lock, struct rl_instant now)
{
    struct rl_instant again = rl_after(now, refresh_interval(lock->claim));
    struct rl_instant end = rl_earlier(rl_wait_entry(lock)->in_queue_until, lock->acquisition.request->deadline);

    lock->wake = rl_earlier(again, end);
    return rl_stay(lock);
}

struct rl_next rl_refresh_next(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (rl_wait_is_in_queue(lock, now) && !rl_wait_can_ask_quorum(engine, now))
        return await_masters(lock, now);
    rl_claim_note_timeouts(lock->claim);
    if (has_early_refresh(engine, lock))
        delay_early(rl_wait_entry(lock), refresh_interval(lock->claim));
    else
        rl_wait_entry(lock)->early.ns = 0;
    lock->claim->round++;
    return rl_refresh_begin(engine, lock, now);
}

void rl_refresh_answered(const struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (!rl_wait_has_answers(engine, lock))
        return;
    rl_wait_entry(lock)->in_queue_until = lock->claim->round_bound;
    start_early(rl_wait_entry(lock), rl_until(lock->round_start, now));
}

struct rl_next rl_refresh_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    return round_is_under_way(engine, lock, now) ? ask_failed(engine, lock, now)
                                                 : rl_refresh_next(engine, lock, now);
}
