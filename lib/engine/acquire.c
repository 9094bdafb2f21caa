/* Acquiring: attempts, their verdict, and the pauses between them (protocol section 1). */
#include <assert.h>

#include "engine/machine.h"

static bool joining(const struct rl_engine *engine)
{
    for (size_t i = 0; i < engine->votes.config.n_nodes; i++) {
        if (engine->votes.links[i] == RL_LINK_JOINING)
            return true;
    }
    return false;
}

void rl_acquire_give_up(struct rl_engine *engine, struct rl_lock *lock, enum rl_end status, enum rl_end cause)
{
    rl_lock_complete(engine, lock, status, cause);
    rl_lock_set_state(engine, lock, RL_LOCK_IDLE);
}

/* No first attempt, which might overtake those in line. */
static bool is_strict(const struct rl_acquire *wish)
{
    return wish->wait == RL_WAIT_FIFO && !wish->once;
}

/* An attempt begins with a claim, whose value the host makes. None begins after the caller's deadline, however late
 * the wake-up for it came. */
void rl_acquire_start(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (!rl_before(now, lock->wish->deadline)) {
        rl_acquire_give_up(engine, lock, RL_END_DEADLINE,
                           lock->last_end ? (enum rl_end)lock->last_end : RL_END_NO_QUORUM);
        return;
    }
    if (is_strict(lock->wish) && lock->state == RL_LOCK_ACQUIRING)
        rl_lock_set_state(engine, lock, RL_LOCK_WAITING);
    lock->wake = RL_NEVER;
    rl_lock_notify(engine, lock, RL_NOTICE_WANT_CLAIM);
}

void rl_lock_acquire(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                     const struct rl_acquire *wish)
{
    lock->wish = wish;
    if (wish->wait != RL_WAIT_SPIN)
        rl_wait_init(wish->line);
    lock->attempts = 0;
    lock->last_end = RL_END_NONE;
    rl_lock_set_state(engine, lock, RL_LOCK_ACQUIRING);
    rl_lock_set_claim(engine, lock, NULL);
    if (joining(engine)) {
        assert(rl_list_empty(&lock->queue));
        lock->wake = wish->deadline;
        rl_list_append(&engine->gathering, &lock->queue);
    } else {
        rl_acquire_start(engine, lock, now);
    }
}

/* Writes the claim to every master that may be asked; the others have failed already (protocol 1.5). */
static void ask_all(struct rl_engine *engine, struct rl_claim *claim, struct rl_instant now)
{
    uint32_t nodes = 0;

    for (size_t i = 0; i < claim->n_nodes; i++) {
        struct rl_slot *slot = &claim->slots[i];

        enum rl_detail why = RL_DETAIL_NONE;

        slot->vote = RL_FAILED;
        if (rl_may_claim(&engine->votes, i, now, &why)) {
            slot->vote = RL_PENDING;
            nodes |= rl_bit(i);
        }
        slot->detail = (uint8_t)why;
        slot->answer = slot->vote;
    }
    rl_outbox_add(&engine->votes, claim, RL_STEP_CLAIM, nodes);
}

/* From then on a grant would leave too little validity. */
static struct rl_instant useless_from(const struct rl_engine *engine, const struct rl_lock *lock)
{
    return rl_after(lock->claim->round_bound,
                    (struct rl_span){-engine->votes.config.guard.ns - lock->wish->min_validity.ns});
}

/* A round is over when every master had its time, when a quorum would come too late, or at the caller's deadline. */
static struct rl_instant round_end(const struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now)
{
    struct rl_instant end = rl_earlier(rl_after(now, engine->votes.config.node_timeout), useless_from(engine, lock));

    return RL_MUTANT(ROUND_WITHOUT_END) ? RL_NEVER : rl_earlier(end, lock->wish->deadline);
}

void rl_lock_begin_attempt(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                           struct rl_claim *claim, uint64_t proposal)
{
    const struct rl_config *config = &engine->votes.config;
    uint32_t ttl_ms = lock->wish->ttl_ms;

    assert(lock->state == RL_LOCK_ACQUIRING || lock->state == RL_LOCK_WAITING);
    rl_claim_init(claim, config->n_nodes, config->quorum, lock->wish->fenced);
    if (claim->fenced)
        rl_claim_fence(claim)->proposal = proposal;
    lock->attempts++;
    engine->votes.counters.attempts++;
    if (lock->state == RL_LOCK_WAITING) {
        lock->wish->line->proposal = proposal;
        rl_wait_begin(engine, lock, now, claim);
        return;
    }
    claim->ttl_ms = ttl_ms;
    claim->longest_ttl_ms = ttl_ms;
    claim->round_bound = rl_vote_bound(&config->drift, now, ttl_ms);
    claim->give_up = rl_surely_expired(&config->drift, rl_after(now, config->node_timeout), ttl_ms);
    rl_lock_set_claim(engine, lock, claim);
    lock->round_start = now;
    lock->wake = round_end(engine, lock, now);
    ask_all(engine, claim, now);
    rl_acquire_answered(engine, lock, now);
}

void rl_lock_refuse_attempt(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    assert(lock->state == RL_LOCK_ACQUIRING || lock->state == RL_LOCK_WAITING);
    rl_acquire_give_up(engine, lock, RL_END_REFUSED_BY_HOST, RL_END_NONE);
    (void)now;
}

/* The pause before the next attempt; cut to half of what is left when the caller's deadline is nearer, so that the
 * time until the deadline is used by a few more attempts. */
static struct rl_span pause(struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now)
{
    struct rl_span round = rl_until(lock->round_start, now);
    struct rl_span delay =
        rl_retry_delay(&engine->random, lock->wish->retry_delay, lock->wish->retry_jitter, round);
    struct rl_span left = rl_until(now, lock->wish->deadline);

    return delay.ns < left.ns ? delay : (struct rl_span){left.ns / 2};
}

#define SHORTEST_PAUSE_NS RL_NS_PER_MS

/* Somebody has the key: then waiting in line is better than asking again and again. */
static bool is_for_the_line(const struct rl_lock *lock, enum rl_end end)
{
    return lock->state == RL_LOCK_ACQUIRING && lock->wish->wait != RL_WAIT_SPIN && end == RL_END_HELD;
}

void rl_acquire_fail(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, enum rl_end end)
{
    struct rl_span delay;

    rl_rollback_start(&engine->votes, lock->claim, RL_STEP_ROLLBACK, now);
    engine->votes.counters.rollbacks++;
    lock->last_end = end & 15u;
    if (lock->wish->once || (lock->wish->max_attempts && lock->attempts >= lock->wish->max_attempts)) {
        rl_acquire_give_up(engine, lock, end, RL_END_NONE);
        return;
    }
    if (is_for_the_line(lock, end)) {
        rl_wait_start(engine, lock, now);
        return;
    }
    delay = pause(engine, lock, now);
    if (delay.ns < SHORTEST_PAUSE_NS && rl_until(now, lock->wish->deadline).ns < 2 * SHORTEST_PAUSE_NS) {
        rl_acquire_give_up(engine, lock, RL_END_DEADLINE, end);
        return;
    }
    lock->wake = rl_after(now, delay);
    rl_lock_set_state(engine, lock, RL_LOCK_BACKING_OFF);
    rl_lock_notify(engine, lock, RL_NOTICE_BACKOFF);
}

struct tally {
    size_t granted;
    size_t refused;
    size_t failed; /* including unknown outcomes: they are no votes */
};

static struct tally count_votes(const struct rl_claim *claim)
{
    struct tally tally = {0};

    for (size_t i = 0; i < claim->n_nodes; i++) {
        tally.granted += claim->slots[i].vote == RL_GRANTED;
        tally.refused += claim->slots[i].vote == RL_REFUSED;
        tally.failed += claim->slots[i].vote == RL_FAILED || claim->slots[i].vote == RL_UNKNOWN;
    }
    return tally;
}

/* A quorum of grants, and of records of the fencing token if there is one. */
static enum rl_verdict verdict_on(struct rl_engine *engine, struct rl_claim *claim, const struct tally *tally)
{
    const struct rl_config *config = &engine->votes.config;
    enum rl_verdict verdict =
        rl_quorum_verdict(config->n_nodes, config->quorum, tally->granted, tally->failed + tally->refused);

    return verdict == RL_VERDICT_WON && claim->fenced ? rl_fence_verdict(&engine->votes, claim) : verdict;
}

/* After every vote: won, lost, or still open (protocol 1.5). It is for want of masters that an attempt is lost unless
 * the refusals of those that hold another's value were needed, too. */
void rl_acquire_answered(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    const struct rl_config *config = &engine->votes.config;
    struct tally tally = count_votes(lock->claim);
    bool unreachable = tally.failed > config->n_nodes - config->quorum || tally.granted >= config->quorum;

    switch (verdict_on(engine, lock->claim, &tally)) {
    case RL_VERDICT_WON:
        rl_lock_notify(engine, lock, RL_NOTICE_ACCEPT);
        break;
    case RL_VERDICT_LOST:
        rl_acquire_fail(engine, lock, now, unreachable ? RL_END_NO_QUORUM : RL_END_HELD);
        break;
    case RL_VERDICT_PENDING:
        break;
    }
}

/* protocol 1.5: "Accept at the q-th grant, after reading the clock again: now < deadline, and at least the caller's
 * minimum validity left." */
void rl_lock_accept(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    const struct rl_config *config = &engine->votes.config;
    struct rl_instant deadline;
    int64_t left_ns;

    assert((lock->state == RL_LOCK_ACQUIRING || lock->state == RL_LOCK_WAITING) && lock->claim);
    if (lock->state == RL_LOCK_WAITING && !rl_wait_is_over(engine, lock, now))
        return;
    deadline = rl_ledger_deadline(lock->claim, config->guard);
    left_ns = rl_until(now, deadline).ns;
    if (!RL_MUTANT(ACCEPT_UNSEEN) && (left_ns == 0 || left_ns < lock->wish->min_validity.ns)) {
        rl_acquire_fail(engine, lock, now, RL_END_TOO_SLOW);
        return;
    }
    rl_lock_begin_hold(engine, lock, lock->wish, now, lock->wish->ttl_ms);
    rl_lock_complete(engine, lock, RL_END_OK, RL_END_NONE);
    rl_lock_set_state(engine, lock, RL_LOCK_HELD);
    rl_renew_schedule(engine, lock, now);
}

/* The round's time is up: the masters were too slow for the ttl, for node_timeout, or for the caller. Those without an
 * answer stay PENDING for the undo; the evidence says timeout. */
static void end_round(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    bool in_time = rl_before(now, useless_from(engine, lock));

    rl_claim_note_timeouts(lock->claim);
    rl_acquire_fail(engine, lock, now, in_time ? RL_END_NO_QUORUM : RL_END_TOO_SLOW);
}

void rl_acquire_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (lock->state == RL_LOCK_BACKING_OFF) {
        rl_lock_set_state(engine, lock, rl_wait_has_begun(lock) ? RL_LOCK_WAITING : RL_LOCK_ACQUIRING);
        rl_lock_set_claim(engine, lock, NULL);
        rl_acquire_start(engine, lock, now);
    } else if (lock->state == RL_LOCK_WAITING) {
        rl_wait_tick(engine, lock, now);
    } else if (lock->claim) {
        end_round(engine, lock, now);
    } else {
        rl_list_remove(&lock->queue);
        rl_acquire_start(engine, lock, now);
    }
}
