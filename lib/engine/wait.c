/* Waiting (protocol section 6): the lock has entries in the masters' wait queues, and gets the key when a holder
 * releases it.
 *
 * IMPLEMENTATION NOTES
 *
 * A waiter has an entry in the wait queue of every master that it can ask. An entry has the waiter's value, its ticket
 * and a lease; the waiter refreshes it at a quarter of the lease. Entering and refreshing are the same step,
 * RL_STEP_ENQUEUE, sent in rounds to all masters and numbered by claim->round. When a holder releases the key on a
 * master, the master gives it to the entry with the lowest ticket, until that entry's lease ends, and notifies the
 * waiter. Such a vote counts like one that the latest refresh was granted: from the sending of that refresh, for the
 * lease (rl_engine_notified()). A quorum of these votes is the lock. The first extension brings the full ttl (renew.c).
 *
 *     refused -> enqueue -> (refresh ...) -> notified by a quorum -> HELD
 *
 * The ticket: each master answers the first ENQUEUE with a number above all that it has seen. The largest answer of a
 * quorum is the ticket, and the next round tells it to all masters, unless that quorum has it already. A waiter that
 * comes later asks one of these masters, and is answered more. Masters that have given this waiter another number are
 * told the ticket, too: as long as masters disagree about who comes first, a waiter may not see that it must yield. The
 * ticket stays when the value has to change.
 *
 * Split votes: a master may have given the key to a higher ticket because the entry with the lower one was not there
 * yet. A waiter that has such a grant, but no quorum, yields: it rolls back its value, which hands the key off to the
 * lower ticket, and enters the queues again with a fresh value (protocol 1.1) and its ticket. Each yield moves the key
 * of a master to a lower ticket, and the lowest ticket of all never yields, so this ends.
 *
 * Notifications are hints: a refresh finds out whatever was missed. The timer goes by what the masters say. The first
 * waiter looks again when the holder's key must have expired, each other waiter when the lease of the one in front of
 * it must have ended. Who becomes the first because the one in front has left the queue is told by the master if the
 * key ends before its next refresh (release.lua).
 *
 * A waiter that cannot reach a quorum leaves the queues, since its grants could be in the way of waiters that can. It
 * does so when the lease has ended that a quorum has confirmed: connections that are made again before then cost it no
 * turn, and it delays the others for no longer than a waiter that has died. */
#include "engine/wait.h"

#include "engine/attempt.h"
#include "util/mutant.h"
#include "votes/admission.h"
#include "votes/ledger.h"
#include "votes/outbox.h"
#include "votes/rollback.h"

/* A waiter that has died delays the others for no longer than that, and a new holder has as long to extend. */
#define LEASE_MS 2000

/* Refreshes in each lease. */
#define REFRESHES 4

/* Between two wake-ups. */
#define SHORTEST_WAIT_NS RL_NS_PER_MS

/* Rounds in which a quorum grants for less than the caller's minimum validity, before the masters are found too
 * slow. */
#define SHORT_ROUNDS 3

static struct rl_entry *entry_of(const struct rl_lock *lock)
{
    return lock->acquisition.request->entry;
}

/* Twice what the caller wants to have left of it, but no longer than the ttl. */
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
        claim->slots[i].answer = engine->votes.links[i] == RL_LINK_JOINING ? RL_NOT_ASKED : RL_FAILED;
        claim->slots[i].detail = (uint8_t)why;
    }
    return nodes;
}

static uint32_t votes_of(const struct rl_claim *claim)
{
    uint32_t nodes = 0;

    for (size_t i = 0; i < claim->n_nodes; i++)
        nodes |= claim->slots[i].vote == RL_GRANTED ? rl_bit(i) : 0;
    return nodes;
}

static bool has_answers(const struct rl_engine *engine, const struct rl_entry *entry)
{
    return rl_count_bits(entry->answered) >= engine->votes.config.quorum;
}

static bool has_quorum(const struct rl_engine *engine, const struct rl_claim *claim)
{
    return rl_claim_count_votes(claim, RL_GRANTED) >= engine->votes.config.quorum;
}

/* Votes that are no quorum, of a kind whose masters do not say that somebody with a lower ticket waits for one. */
static bool has_early_refresh(const struct rl_engine *engine, const struct rl_claim *claim)
{
    return claim->kind->refreshes_early && rl_claim_count_votes(claim, RL_GRANTED) > 0 &&
           !has_quorum(engine, claim) && !RL_MUTANT(NO_EARLY_REFRESH);
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
    return !has_answers(engine, entry_of(lock)) &&
           rl_before(now, rl_after(lock->round_start, engine->votes.config.node_timeout));
}

static struct rl_instant next_look(const struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now)
{
    struct rl_span interval = refresh_interval(lock->claim);
    struct rl_instant at = rl_after(lock->round_start, interval);

    if (rl_before(now, at) || !round_is_under_way(engine, lock, now))
        return at;
    return rl_earlier(rl_after(now, interval), rl_after(lock->round_start, engine->votes.config.node_timeout));
}

static void set_wake(const struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    const struct rl_config *config = &engine->votes.config;
    const struct rl_entry *entry = entry_of(lock);
    bool answered = has_answers(engine, entry);
    struct rl_instant at = next_look(engine, lock, now);

    if (answered)
        at = rl_earlier(at, rl_entry_look_at(entry, lock->claim, config->quorum));
    if (answered && has_early_refresh(engine, lock->claim))
        at = rl_earlier(at, rl_after(lock->round_start, entry->early));
    at = rl_later(at, rl_after(now, (struct rl_span){SHORTEST_WAIT_NS}));
    lock->wake = rl_earlier(RL_MUTANT(WAIT_WITHOUT_TIMER) ? RL_NEVER : at, lock->acquisition.request->deadline);
}

/* The instant by which all that is sent at `now` has been carried out, and has expired. */
static void note_sending(const struct rl_engine *engine, struct rl_claim *claim, struct rl_instant now)
{
    const struct rl_config *config = &engine->votes.config;
    struct rl_instant answered = rl_after(now, config->node_timeout);

    claim->give_up = rl_later(claim->give_up, rl_surely_expired(&config->drift, answered, claim->ttl_ms));
}

static struct rl_next begin_round(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    const struct rl_config *config = &engine->votes.config;
    struct rl_claim *claim = lock->claim;
    uint32_t nodes = askable(engine, claim, now);

    lock->round_start = now;
    if (rl_count_bits(nodes) < config->quorum)
        return rl_attempt_fail(engine, lock, now, RL_END_NO_QUORUM);
    rl_entry_start_round(entry_of(lock));
    entry_of(lock)->votes = votes_of(claim);
    claim->round_bound = rl_vote_bound(&config->drift, now, claim->ttl_ms);
    note_sending(engine, claim, now);
    ask(engine, claim, nodes);
    set_wake(engine, lock, now);
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

        if (claim->slots[i].answer == RL_FAILED && rl_may_claim(&engine->votes, i, now, &why))
            nodes |= rl_bit(i);
    }
    if (nodes) {
        note_sending(engine, claim, now);
        ask(engine, claim, nodes);
    }
    set_wake(engine, lock, now);
    return rl_stay(lock);
}

static bool can_ask_quorum(const struct rl_engine *engine, struct rl_instant now)
{
    size_t n = 0;

    for (size_t i = 0; i < engine->votes.config.n_nodes; i++) {
        enum rl_detail why;

        n += rl_may_claim(&engine->votes, i, now, &why);
    }
    return n >= engine->votes.config.quorum;
}

/* A quorum of masters has answered the latest round, or an earlier one whose lease has not ended. */
static bool is_in_line(const struct rl_lock *lock, struct rl_instant now)
{
    return rl_before(now, entry_of(lock)->in_line_until);
}

/* Masters that come back are asked one by one (rl_lock_look_again()). */
static struct rl_next await_masters(struct rl_lock *lock, struct rl_instant now)
{
    struct rl_instant again = rl_after(now, refresh_interval(lock->claim));
    struct rl_instant end = rl_earlier(entry_of(lock)->in_line_until, lock->acquisition.request->deadline);

    lock->wake = rl_earlier(again, end);
    return rl_stay(lock);
}

static struct rl_next refresh(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (is_in_line(lock, now) && !can_ask_quorum(engine, now))
        return await_masters(lock, now);
    rl_claim_note_timeouts(lock->claim);
    if (has_early_refresh(engine, lock->claim))
        delay_early(entry_of(lock), refresh_interval(lock->claim));
    else
        entry_of(lock)->early.ns = 0;
    lock->claim->round++;
    return begin_round(engine, lock, now);
}

struct rl_next rl_wait_enter(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                             const struct rl_next *how)
{
    rl_lock_set_claim(engine, lock, NULL);
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
    entry->early.ns = 0;
    entry->in_line_until = RL_LONG_AGO;
    rl_lock_set_claim(engine, lock, claim);
    return begin_round(engine, lock, now);
}

void rl_lock_look_again(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, unsigned node)
{
    struct rl_slot *slot;
    enum rl_detail why;

    if (lock->state != RL_LOCK_WAITING || !lock->claim || !rl_may_claim(&engine->votes, node, now, &why))
        return;
    slot = &lock->claim->slots[node];
    if (slot->vote == RL_PENDING)
        slot->vote = RL_UNKNOWN; /* asked twice: one answer does not say what becomes of the other question */
    ask(engine, lock->claim, rl_bit(node));
}

/* --- Ticket and position ------------------------------------------------------------------------------------------ */

void rl_engine_queued(struct rl_instant now, struct rl_claim *claim, uint32_t round, unsigned node,
                      const struct rl_entry_report *report)
{
    if (claim->lock && claim->lock->state == RL_LOCK_WAITING && round == claim->round)
        rl_entry_note(entry_of(claim->lock), now, node, report);
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

void rl_lock_queue_position(const struct rl_engine *engine, const struct rl_lock *lock, uint32_t *ret_rank,
                            struct rl_instant *ret_held_until)
{
    rl_entry_position(entry_of(lock), engine->votes.config.quorum, ret_rank, ret_held_until);
}

/* After the first time only when every master that was asked has answered: a part of them is no fair sample. */
static void report_position(struct rl_engine *engine, struct rl_lock *lock)
{
    struct rl_entry *entry = entry_of(lock);
    struct rl_instant held_until;
    uint32_t rank;

    if (!has_answers(engine, entry) || (entry->reported && rl_claim_count_answers(lock->claim, RL_PENDING)))
        return;
    rl_lock_queue_position(engine, lock, &rank, &held_until);
    if (entry->reported && rank == entry->reported_rank)
        return;
    entry->reported = true;
    entry->reported_rank = rank;
    rl_lock_notify(engine, lock, RL_NOTICE_WAITING);
}

/* --- The turn ----------------------------------------------------------------------------------------------------- */

/* A grant whose lease has ended may be there still, but is no vote any more. Tokens rest on votes that are held at one
 * time, so such a grant must not be counted with others that came later (fence.c). */
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
    int64_t left_ns = rl_until(now, rl_ledger_deadline(lock->claim, engine->votes.config.guard)).ns;

    return left_ns > 0 && left_ns >= lock->acquisition.request->min_validity.ns;
}

/* The lock enters the queues again with a fresh value and its ticket. The rollback of the old value hands off what that
 * was granted. */
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

/* A vote is not given up for the hope of others, since it may be the first one of a hand-off whose others are on their
 * way. It is none if it is older than a round that a quorum has answered without granting: then others have the key on
 * the other masters, for as long as they like, and the waiter must not miss a slot that is free. */
bool rl_wait_may_move(const struct rl_engine *engine, const struct rl_lock *lock)
{
    const struct rl_claim *claim = lock->claim;
    uint32_t votes;

    if (lock->state != RL_LOCK_WAITING || !claim || claim->rolling_back)
        return false;
    votes = votes_of(claim);
    if (votes == 0 || RL_MUTANT(MOVES_WITH_VOTE))
        return true;
    return !(votes & ~entry_of(lock)->votes) && has_answers(engine, entry_of(lock)) && !RL_MUTANT(VOTE_BINDS);
}

struct rl_next rl_wait_move(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    engine->votes.counters.moves++;
    return start_anew(engine, lock, now);
}

/* A waiter with a lower ticket waits on a master that has given the key to this lock: the key is that waiter's. */
static bool must_yield(const struct rl_lock *lock)
{
    const struct rl_entry *entry = entry_of(lock);

    return entry->ticket && (entry->lower & votes_of(lock->claim)) && !RL_MUTANT(NEVER_YIELDS);
}

/* A quorum has granted, but too little is left of it: a refresh renews the leases (protocol 6.4). */
static struct rl_next lengthen(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    struct rl_entry *entry = entry_of(lock);

    if (!has_answers(engine, entry))
        return rl_stay(lock); /* the round under way is that refresh */
    if (entry->short_rounds++ < SHORT_ROUNDS)
        return refresh(engine, lock, now);
    return rl_attempt_fail(engine, lock, now, RL_END_TOO_SLOW);
}

/* A refresh may have asked a master again whose grant counts all the same: the evidence is what was counted. */
static void show_votes(struct rl_claim *claim)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        if (claim->slots[i].vote != RL_GRANTED)
            continue;
        claim->slots[i].answer = RL_GRANTED;
        claim->slots[i].detail = RL_DETAIL_NONE;
    }
}

/* So many masters have failed that the others cannot make a quorum. A master whose first connection is on its way has
 * not been asked, and may yet be. */
static bool is_hopeless(const struct rl_engine *engine, const struct rl_claim *claim)
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
    if (!has_quorum(engine, lock->claim))
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

struct rl_next rl_wait_changed(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    struct rl_next next;
    bool unequal;

    if (!lock->claim)
        return rl_stay(lock);
    if (rl_wait_is_over(engine, lock, now, &next)) {
        rl_lock_notify(engine, lock, RL_NOTICE_ACCEPT);
        return rl_stay(lock);
    }
    if (!lock->claim || lock->claim->rolling_back)
        return next; /* the claim has failed, or begins anew */
    unequal = rl_entry_fix_ticket(entry_of(lock), engine->votes.config.quorum);
    if (has_answers(engine, entry_of(lock))) {
        entry_of(lock)->in_line_until = lock->claim->round_bound;
        start_early(entry_of(lock), rl_until(lock->round_start, now));
    }
    if (is_hopeless(engine, lock->claim) && !is_in_line(lock, now))
        return rl_attempt_fail(engine, lock, now, RL_END_NO_QUORUM);
    if (!has_quorum(engine, lock->claim) && must_yield(lock)) {
        engine->votes.counters.yields++;
        return start_anew(engine, lock, now);
    }
    if (unequal)
        return refresh(engine, lock, now);
    tell_ticket(engine, lock, now);
    report_position(engine, lock);
    set_wake(engine, lock, now);
    return rl_stay(lock);
}

struct rl_next rl_wait_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (!lock->claim)
        return rl_stay(lock);
    if (rl_before(now, lock->acquisition.request->deadline))
        return round_is_under_way(engine, lock, now) ? ask_failed(engine, lock, now) : refresh(engine, lock, now);
    rl_claim_note_timeouts(lock->claim);
    rl_rollback_start(&engine->votes, lock->claim, RL_STEP_ROLLBACK, now);
    engine->votes.counters.rollbacks++;
    return rl_go(RL_LOCK_IDLE, RL_END_DEADLINE, can_ask_quorum(engine, now) ? RL_END_HELD : RL_END_NO_QUORUM);
}
