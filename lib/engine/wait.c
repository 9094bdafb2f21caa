/* Waiting in the queue: queues on the masters, the key handed off inside the release (protocol section 6).
 *
 * IMPLEMENTATION NOTES
 *
 * A waiter has a place in the queue of every master that it can ask: an entry with its value, its ticket and a lease,
 * kept up by refreshing it (RL_STEP_ENQUEUE, one round for all masters, numbered by claim->round) at a quarter of the
 * lease. Whoever gives the key up on a master hands it to the lowest ticket there, until the end of that one's lease,
 * and the master notifies him. So a vote that was handed off counts like one granted by the latest refresh: from its
 * sending, for the lease (answer.c: rl_engine_notified()). A majority of such votes is the lock; its full ttl is owed
 * to it and comes with the first extension (renew.c).
 *
 *     refused -> enqueue -> (refresh ...) -> notified by a majority -> HELD
 *
 * The ticket: each master answers the first enqueue with a number above all it has seen, and the largest of a
 * majority's answers is the ticket, told to all by the next round unless that majority has it already. Whoever gets in
 * line after that asks one of these masters, and is answered more. The others that have a number of their own for it
 * are told, too: as long as masters disagree about who comes first, nobody may see that it must yield. A place is kept
 * by its ticket: when the value must change, the ticket does not.
 *
 * Split votes: a master may have given the key to a higher ticket because the lower one was not there yet. Then the
 * holder of such a grant, if it has no majority, yields: it rolls back its value, which hands the key on, and enters
 * the wait queue again with a fresh value (protocol 1.1) and its ticket. Each yield moves the key of a master to a
 * lower ticket, and the lowest ticket of all never yields, so this ends.
 *
 * Notifications are hints. A refresh finds out whatever was missed, and the timer is set by what the masters say: the
 * first in the wait queue looks again when the holder's key must have expired, each other one when the lease of the one
 * in front must have ended. Who cannot reach a majority does not stay in the wait queue: its grants could be in the way
 * of those who can. */
#include "engine/wait.h"

#include "engine/attempt.h"
#include "util/mutant.h"
#include "votes/admission.h"
#include "votes/ledger.h"
#include "votes/outbox.h"
#include "votes/rollback.h"

/* A dead waiter is in the way for no longer than that, and a holder has as long to extend. */
#define LEASE_MS 2000

/* Refreshes in each lease. */
#define REFRESHES 4

/* PTTL rounds down, and the key lives through its last millisecond. */
#define LOOK_MARGIN_NS RL_NS_PER_MS

/* Rounds that grant a quorum for less than the caller's minimum validity, before the masters are found too slow. */
#define SHORT_ROUNDS 3

static struct rl_entry *entry_of(const struct rl_lock *lock)
{
    return lock->acquisition.request->entry;
}

/* Long enough for what the caller wants to have left of it, but no longer than the ttl. */
static uint32_t lease_ms(const struct rl_engine *engine, const struct rl_acquire *request)
{
    const struct rl_config *config = &engine->votes.config;
    int64_t least_ns = request->min_validity.ns + config->guard.ns + rl_drift(&config->drift, LEASE_MS).ns;
    int64_t lease = 2 * least_ns / RL_NS_PER_MS + 1;

    if (lease < LEASE_MS)
        lease = LEASE_MS;
    return lease < request->ttl_ms ? (uint32_t)lease : request->ttl_ms;
}

uint64_t rl_lock_ticket(const struct rl_lock *lock, uint64_t *ret_proposal)
{
    *ret_proposal = 0;
    if (!rl_lock_is_acquiring(lock))
        return 0; /* it has given up while its commands are written */
    *ret_proposal = entry_of(lock)->proposal;
    return entry_of(lock)->ticket;
}

static struct rl_span refresh_interval(const struct rl_claim *claim)
{
    return (struct rl_span){rl_ms(claim->ttl_ms).ns / REFRESHES};
}

/* --- Rounds ------------------------------------------------------------------------------------------------------- */

static void ask(struct rl_engine *engine, struct rl_claim *claim, uint32_t nodes)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        struct rl_slot *slot = &claim->slots[i];

        if (!(nodes & rl_bit(i)))
            continue;
        slot->answer = RL_PENDING;
        slot->detail = RL_DETAIL_NONE;
        slot->latency_us = RL_NO_LATENCY;
        if (slot->vote == RL_NOT_ASKED || slot->vote == RL_FAILED || slot->vote == RL_REFUSED)
            slot->vote = RL_PENDING;
    }
    rl_outbox_add(&engine->votes, claim, RL_STEP_ENQUEUE, nodes);
}

/* Masters that may be asked; the evidence of the others says why not. */
static uint32_t askable(const struct rl_engine *engine, struct rl_claim *claim, struct rl_instant now)
{
    uint32_t nodes = 0;

    for (size_t i = 0; i < claim->n_nodes; i++) {
        enum rl_detail why = RL_DETAIL_NONE;

        if (rl_may_claim(&engine->votes, i, now, &why)) {
            nodes |= rl_bit(i);
            continue;
        }
        claim->slots[i].answer = engine->votes.links[i] == RL_LINK_JOINING ? RL_NOT_ASKED : RL_FAILED;
        claim->slots[i].detail = (uint8_t)why;
    }
    return nodes;
}

static void set_wake(const struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

static struct rl_next begin_round(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    const struct rl_config *config = &engine->votes.config;
    struct rl_claim *claim = lock->claim;
    struct rl_entry *entry = entry_of(lock);
    uint32_t nodes = askable(engine, claim, now);

    lock->round_start = now;
    if (rl_count_bits(nodes) < config->quorum)
        return rl_attempt_fail(engine, lock, now, RL_END_NO_QUORUM);
    entry->largest = 0;
    entry->at_largest = 0;
    entry->answered = 0;
    entry->unequal = 0;
    entry->corrected = 0;
    entry->lower = 0;
    claim->round_bound = rl_vote_bound(&config->drift, now, claim->ttl_ms);
    claim->give_up = rl_later(claim->give_up,
                              rl_surely_expired(&config->drift, rl_after(now, config->node_timeout), claim->ttl_ms));
    ask(engine, claim, nodes);
    set_wake(engine, lock, now);
    return rl_stay(lock);
}

static struct rl_next refresh(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    rl_claim_note_timeouts(lock->claim);
    lock->claim->round++;
    return begin_round(engine, lock, now);
}

void rl_wait_init(struct rl_entry *entry)
{
    entry->ticket = 0;
    entry->answered = 0;
    entry->enqueued = false;
    entry->reported = false;
}

bool rl_wait_has_begun(const struct rl_lock *lock)
{
    return lock->acquisition.request->wait != RL_WAIT_SPIN && entry_of(lock)->enqueued;
}

struct rl_next rl_wait_enter(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                             const struct rl_next *how)
{
    rl_lock_set_claim(engine, lock, NULL);
    (void)how;
    return rl_attempt_start(engine, lock, now);
}

struct rl_next rl_wait_begin(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                             struct rl_claim *claim)
{
    struct rl_entry *entry = entry_of(lock);

    claim->ttl_ms = lease_ms(engine, lock->acquisition.request);
    claim->longest_ttl_ms = claim->ttl_ms;
    engine->votes.counters.waits += !entry->enqueued;
    entry->enqueued = true;
    entry->short_rounds = 0;
    rl_lock_set_claim(engine, lock, claim);
    return begin_round(engine, lock, now);
}

void rl_lock_look_again(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, unsigned node)
{
    enum rl_detail why;

    struct rl_slot *slot;

    if (lock->state != RL_LOCK_WAITING || !lock->claim || !rl_may_claim(&engine->votes, node, now, &why))
        return;
    slot = &lock->claim->slots[node];
    if (slot->vote == RL_PENDING)
        slot->vote = RL_UNKNOWN; /* asked twice: one answer does not say what becomes of the other question */
    ask(engine, lock->claim, rl_bit(node));
}

/* --- Ticket and place --------------------------------------------------------------------------------------------- */

static struct rl_instant after_ms(struct rl_instant now, int64_t ms)
{
    return ms < 0 ? RL_NEVER : rl_after(rl_after(now, rl_ms(ms)), (struct rl_span){LOOK_MARGIN_NS});
}

void rl_engine_queued(struct rl_engine *engine, struct rl_instant now, struct rl_claim *claim, uint32_t round,
                      unsigned node, const struct rl_entry_report *report)
{
    struct rl_entry *entry;

    if (!claim->lock || claim->lock->state != RL_LOCK_WAITING || round != claim->round)
        return;
    entry = entry_of(claim->lock);
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
    (void)engine;
}

/* Fixes the ticket when a majority has answered; true: the others must be told, by a round. */
static bool fix_ticket(const struct rl_engine *engine, struct rl_entry *entry)
{
    if (entry->ticket || rl_count_bits(entry->answered) < engine->votes.config.quorum)
        return false;
    entry->ticket = entry->largest;
    entry->unequal = entry->answered & ~entry->at_largest;
    return rl_count_bits(entry->at_largest) < engine->votes.config.quorum;
}

static void tell_ticket(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    struct rl_entry *entry = entry_of(lock);
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

/* The k-th smallest, k from 1 on, of n instants; RL_NEVER if there are fewer. Sorts. */
static struct rl_instant kth(struct rl_instant *instants, size_t n, size_t k)
{
    for (size_t i = 1; i < n; i++) {
        struct rl_instant moved = instants[i];
        size_t at = i;

        for (; at > 0 && rl_before(moved, instants[at - 1]); at--)
            instants[at] = instants[at - 1];
        instants[at] = moved;
    }
    return k >= 1 && k <= n ? instants[k - 1] : RL_NEVER;
}

static size_t count_granted(const struct rl_claim *claim)
{
    size_t granted = 0;

    for (size_t i = 0; i < claim->n_nodes; i++)
        granted += claim->slots[i].vote == RL_GRANTED;
    return granted;
}

/* When so many masters may have the key free that a quorum is possible. */
static struct rl_instant look_at(const struct rl_engine *engine, const struct rl_lock *lock)
{
    const struct rl_claim *claim = lock->claim;
    const struct rl_entry *entry = entry_of(lock);
    struct rl_instant looks[RL_MAX_NODES];
    size_t granted = count_granted(claim);
    size_t n = 0;

    for (size_t i = 0; i < claim->n_nodes; i++) {
        if ((entry->answered & rl_bit(i)) && claim->slots[i].vote != RL_GRANTED)
            looks[n++] = entry->seen[i].look;
    }
    return granted < engine->votes.config.quorum ? kth(looks, n, engine->votes.config.quorum - granted) : RL_NEVER;
}

/* A round whose answers take longer than a refresh would leaves the next one waiting for a majority of them: answers
 * count for the latest round only. */
static void set_wake(const struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    struct rl_span interval = refresh_interval(lock->claim);
    bool answered = rl_count_bits(entry_of(lock)->answered) >= engine->votes.config.quorum;
    struct rl_instant at;

    if (!answered && interval.ns < engine->votes.config.node_timeout.ns)
        interval = engine->votes.config.node_timeout;
    at = rl_after(lock->round_start, interval);
    if (answered)
        at = rl_earlier(at, look_at(engine, lock));
    at = rl_later(at, rl_after(now, (struct rl_span){LOOK_MARGIN_NS}));
    lock->wake = rl_earlier(RL_MUTANT(WAIT_WITHOUT_TIMER) ? RL_NEVER : at, lock->acquisition.request->deadline);
}

void rl_lock_queue_position(const struct rl_engine *engine, const struct rl_lock *lock, uint32_t *ret_rank,
                   struct rl_instant *ret_held_until)
{
    const struct rl_entry *entry = entry_of(lock);
    struct rl_instant ranks[RL_MAX_NODES];
    struct rl_instant ends[RL_MAX_NODES];
    size_t n = 0;

    for (size_t i = 0; i < engine->votes.config.n_nodes; i++) {
        if (!(entry->answered & rl_bit(i)))
            continue;
        ranks[n] = (struct rl_instant){entry->seen[i].rank};
        ends[n++] = entry->seen[i].held_until;
    }
    *ret_rank = (uint32_t)kth(ranks, n, engine->votes.config.quorum).ns;
    *ret_held_until = kth(ends, n, engine->votes.config.quorum);
}

static void tell_place(struct rl_engine *engine, struct rl_lock *lock)
{
    struct rl_entry *entry = entry_of(lock);
    struct rl_instant held_until;
    uint32_t rank;

    if (rl_count_bits(entry->answered) < engine->votes.config.quorum)
        return;
    if (entry->reported && rl_claim_count_answers(lock->claim, RL_PENDING))
        return; /* those who have answered so far are no fair sample */
    rl_lock_queue_position(engine, lock, &rank, &held_until);
    if (entry->reported && rank == entry->reported_rank)
        return;
    entry->reported = true;
    entry->reported_rank = rank;
    rl_lock_notify(engine, lock, RL_NOTICE_WAITING);
}

/* --- The turn ----------------------------------------------------------------------------------------------------- */

/* A grant whose lease has ended may be there still, but is no vote any more. Tokens rest on votes that are held at one
 * time, so these must not be counted with others that came later (fence.c). */
static void drop_expired(struct rl_claim *claim, struct rl_instant now)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        struct rl_slot *slot = &claim->slots[i];

        if (slot->vote == RL_GRANTED && !rl_before(now, slot->bound) && !RL_MUTANT(EXPIRED_GRANT_COUNTS))
            slot->vote = RL_UNKNOWN;
    }
}

static bool long_enough(const struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now)
{
    struct rl_instant deadline = rl_ledger_deadline(lock->claim, engine->votes.config.guard);
    int64_t left_ns = rl_until(now, deadline).ns;

    return left_ns > 0 && left_ns >= lock->acquisition.request->min_validity.ns;
}

/* Back in the wait queue with a fresh value and the same ticket; the rollback of the old value hands its grants on. */
static struct rl_next start_anew(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (RL_MUTANT(YIELD_REUSES_VALUE)) {
        rl_outbox_add(&engine->votes, lock->claim, RL_STEP_ROLLBACK,
                      lock->claim->slots[0].vote ? entry_of(lock)->answered : 0);
        return refresh(engine, lock, now);
    }
    rl_rollback_start(&engine->votes, lock->claim, RL_STEP_ROLLBACK, now);
    engine->votes.counters.rollbacks++;
    rl_lock_set_claim(engine, lock, NULL);
    return rl_attempt_start(engine, lock, now);
}

/* A lower ticket waits on a master that has given the key to us: it is his. */
static bool must_yield(const struct rl_lock *lock)
{
    const struct rl_claim *claim = lock->claim;
    const struct rl_entry *entry = entry_of(lock);

    if (!entry->ticket || RL_MUTANT(NEVER_YIELDS))
        return false;
    for (size_t i = 0; i < claim->n_nodes; i++) {
        if ((entry->lower & rl_bit(i)) && claim->slots[i].vote == RL_GRANTED)
            return true;
    }
    return false;
}

/* A quorum has granted, but too little is left of it: a refresh renews the leases (protocol 6.4). */
static struct rl_next lengthen(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    struct rl_entry *entry = entry_of(lock);

    if (rl_count_bits(entry->answered) < engine->votes.config.quorum)
        return rl_stay(lock); /* the round under way is that refresh */
    if (entry->short_rounds++ < SHORT_ROUNDS)
        return refresh(engine, lock, now);
    return rl_attempt_fail(engine, lock, now, RL_END_TOO_SLOW);
}

/* What a refresh asks again meanwhile has been granted all the same: the evidence is what was counted. */
static void show_votes(struct rl_claim *claim)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        if (claim->slots[i].vote != RL_GRANTED)
            continue;
        claim->slots[i].answer = RL_GRANTED;
        claim->slots[i].detail = RL_DETAIL_NONE;
    }
}

/* So many masters have failed that the others cannot make a quorum. Those whose first connection is on its way have not
 * been asked, and may be. */
static bool hopeless(const struct rl_engine *engine, const struct rl_claim *claim)
{
    size_t possible = rl_claim_count_answers(claim, RL_GRANTED) + rl_claim_count_answers(claim, RL_QUEUED) +
                      rl_claim_count_answers(claim, RL_PENDING) + rl_claim_count_answers(claim, RL_NOT_ASKED);

    return possible < engine->votes.config.quorum;
}

bool rl_wait_is_over(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, struct rl_next *ret_next)
{
    enum rl_verdict verdict = RL_VERDICT_WON;

    *ret_next = rl_stay(lock);
    drop_expired(lock->claim, now);
    if (count_granted(lock->claim) < engine->votes.config.quorum)
        return false;
    if (!long_enough(engine, lock, now)) {
        *ret_next = lengthen(engine, lock, now);
        return false;
    }
    if (lock->claim->kind->after_quorum)
        verdict = lock->claim->kind->after_quorum(&engine->votes, lock->claim);
    if (verdict == RL_VERDICT_LOST)
        *ret_next = start_anew(engine, lock, now);
    else if (verdict == RL_VERDICT_WON)
        show_votes(lock->claim);
    return verdict == RL_VERDICT_WON;
}

/* The turn has not come; the claim is the same as before. */
static struct rl_next go_on(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    bool unequal = fix_ticket(engine, entry_of(lock));

    if (hopeless(engine, lock->claim))
        return rl_attempt_fail(engine, lock, now, RL_END_NO_QUORUM);
    if (count_granted(lock->claim) < engine->votes.config.quorum && must_yield(lock)) {
        engine->votes.counters.yields++;
        return start_anew(engine, lock, now);
    }
    if (unequal)
        return refresh(engine, lock, now);
    tell_ticket(engine, lock, now);
    tell_place(engine, lock);
    set_wake(engine, lock, now);
    return rl_stay(lock);
}

struct rl_next rl_wait_changed(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    struct rl_next next;

    if (!lock->claim)
        return rl_stay(lock);
    if (rl_wait_is_over(engine, lock, now, &next)) {
        rl_lock_notify(engine, lock, RL_NOTICE_ACCEPT);
        return rl_stay(lock);
    }
    if (!lock->claim || lock->claim->rolling_back)
        return next; /* it has failed, or begins anew */
    return go_on(engine, lock, now);
}

struct rl_next rl_wait_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (!lock->claim)
        return rl_stay(lock);
    if (rl_before(now, lock->acquisition.request->deadline))
        return refresh(engine, lock, now);
    rl_claim_note_timeouts(lock->claim);
    rl_rollback_start(&engine->votes, lock->claim, RL_STEP_ROLLBACK, now);
    engine->votes.counters.rollbacks++;
    return rl_go(RL_LOCK_IDLE, RL_END_DEADLINE, RL_END_HELD);
}
