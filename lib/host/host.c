/* The host of the engine: carries out its effects through the driver, and brings it what the driver reports. */
#include <time.h>

#include "api/client.h"
#include "codec/classify.h"

/* --- Effects ---------------------------------------------------------------------------------------------------- */

/* Only for the numbers proposed for fencing tokens and tickets: nothing that matters depends on it. */
static uint64_t wall_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* protocol 4.4: "max(client wall clock in microseconds, last c seen for this key + 1)". */
static uint64_t propose(const struct rl_attempt *attempt)
{
    uint64_t wall = wall_us();

    return attempt && attempt->counter >= wall ? attempt->counter + 1 : wall;
}

static void start_attempt(struct redlock_lock *lock)
{
    struct redlock_client *client = lock->client;
    int error = 0;
    struct rl_claim *claim = rl_host_claim_create(client, lock->key, lock->core.wish->kind, NULL, &error);

    if (!claim) {
        lock->refusal = (int16_t)error;
        rl_lock_refuse_attempt(&client->engine, &lock->core, client->now);
        return;
    }
    rl_host_claim_of(claim)->token.own.exposed = lock->core.wish->own_token;
    if (rl_observes(client, REDLOCK_EVENT_ATTEMPT))
        rl_observe(client, &(struct redlock_event){.type = REDLOCK_EVENT_ATTEMPT, .lock = lock,
                                                   .token = rl_host_token(claim)});
    /* The event that led here has just read the clock: earlier than the send, as t0 must be. */
    rl_lock_begin_attempt(&client->engine, &lock->core, client->now, claim, propose(lock->attempt));
}

/* A place that was known when the notice was made may have been asked for anew since. */
static void tell_waiting(struct redlock_lock *lock)
{
    struct redlock_client *client = lock->client;
    struct rl_instant held_until;
    uint32_t rank;

    if (!rl_observes(client, REDLOCK_EVENT_WAITING) || lock->core.state != RL_LOCK_WAITING)
        return;
    rl_lock_place(&client->engine, &lock->core, &rank, &held_until);
    if (rank == UINT32_MAX)
        return;
    rl_observe(client, &(struct redlock_event){
                           .type = REDLOCK_EVENT_WAITING, .lock = lock, .op = REDLOCK_OP_ACQUIRE,
                           .position = rank + 1,
                           .held_for_ms = held_until.ns == RL_NEVER.ns
                                              ? -1 : rl_until(client->now, held_until).ns / RL_NS_PER_MS});
}

static void tell_backoff(struct redlock_lock *lock, enum rl_end why)
{
    struct redlock_client *client = lock->client;

    if (rl_observes(client, REDLOCK_EVENT_BACKOFF))
        rl_observe(client, &(struct redlock_event){
                               .type = REDLOCK_EVENT_BACKOFF, .lock = lock, .op = REDLOCK_OP_ACQUIRE,
                               .status = rl_public_status(lock, why),
                               .delay_us = rl_until(client->now, lock->core.wake).ns / RL_NS_PER_US});
}

static void tell_lost(struct redlock_lock *lock)
{
    lock->client->stats.lost++;
    rl_alarm_queue(lock, REDLOCK_ALARM_LOST);
    rl_observe_validity(lock->client, lock);
    if (rl_observes(lock->client, REDLOCK_EVENT_LOST))
        rl_observe_ledger(lock, &(struct redlock_event){.type = REDLOCK_EVENT_LOST, .status = REDLOCK_LOST,
                                                        .loss = rl_public_loss((enum rl_loss)lock->core.loss)});
}

static void tell_ledger(struct redlock_lock *lock, enum redlock_event_type type)
{
    if (rl_observes(lock->client, type))
        rl_observe_ledger(lock, &(struct redlock_event){.type = type});
}

static void tell_at_risk(struct redlock_lock *lock)
{
    lock->client->stats.at_risk++;
    rl_alarm_queue(lock, REDLOCK_ALARM_AT_RISK);
    tell_ledger(lock, REDLOCK_EVENT_AT_RISK);
}

static struct redlock_lock *lock_of(struct rl_lock *core)
{
    return RL_CONTAINER_OF(core, struct redlock_lock, core);
}

/* A shorter ttl counts from here on. */
static void tell_extending(struct redlock_client *client, const struct rl_effect *effect)
{
    struct rl_lock *core = effect->claim->lock;

    if (effect->step != RL_STEP_EXTEND || !core)
        return;
    rl_observe_validity(client, lock_of(core));
    if (rl_observes(client, REDLOCK_EVENT_EXTENDING))
        rl_observe(client, &(struct redlock_event){.type = REDLOCK_EVENT_EXTENDING, .op = REDLOCK_OP_EXTEND,
                                                   .lock = lock_of(core)});
}

/* A waiter's numbers must be as young as its commands. */
static void propose_anew(const struct rl_effect *effect)
{
    if (effect->step == RL_STEP_ENQUEUE && effect->claim->kind->has_token)
        rl_fence_propose(effect->claim, propose(lock_of(effect->claim->lock)->attempt));
}

static void carry_out(struct redlock_client *client, const struct rl_effect *effect)
{
    struct redlock_lock *lock = effect->lock ? lock_of(effect->lock) : NULL;

    switch (effect->kind) {
    case RL_EFFECT_SEND:
        tell_extending(client, effect);
        propose_anew(effect);
        rl_host_send(client, effect);
        break;
    case RL_EFFECT_WANT_CLAIM:
        start_attempt(lock);
        break;
    case RL_EFFECT_ACCEPT:
        rl_lock_accept(&client->engine, &lock->core, rl_client_read_clock(client));
        break;
    case RL_EFFECT_WAITING:
        tell_waiting(lock);
        break;
    case RL_EFFECT_BACKOFF:
        tell_backoff(lock, effect->status);
        break;
    case RL_EFFECT_SHORTENED:
        break; /* the timer is set anew below */
    case RL_EFFECT_RENEWED:
        tell_ledger(lock, REDLOCK_EVENT_RENEWED);
        break;
    case RL_EFFECT_AT_RISK:
        tell_at_risk(lock);
        break;
    case RL_EFFECT_LOST:
        tell_lost(lock);
        break;
    case RL_EFFECT_COMPLETE:
        rl_completion_queue(lock, effect->op, effect->status, effect->cause);
        break;
    case RL_EFFECT_DISPOSE:
        rl_host_claim_dispose(client, effect->claim);
        break;
    }
    if (lock)
        rl_host_rearm(lock);
}

void rl_host_run(struct redlock_client *client)
{
    struct rl_effect effect;

    while (rl_engine_has_effects(&client->engine) && rl_engine_poll(&client->engine, &effect))
        carry_out(client, &effect);
    if (rl_engine_wakeup(&client->engine).ns != RL_NEVER.ns && !rl_timer_armed(&client->debts_timer))
        rl_timers_arm(rl_driver_timers(client->driver), &client->debts_timer, rl_engine_wakeup(&client->engine));
}

/* --- Time ------------------------------------------------------------------------------------------------------- */

#define MUCH_TOO_EARLY_NS (250 * RL_NS_PER_MS)

/* A timer that is armed too early only wakes up once for nothing; moving it at every step would cost more. But where
 * nothing is pending, as after a renewal, one move spares a wake-up. */
static bool worth_moving(const struct redlock_lock *lock, struct rl_instant wakeup)
{
    return !lock->attempt && rl_until(lock->timer.at, wakeup).ns > MUCH_TOO_EARLY_NS;
}

void rl_host_rearm(struct redlock_lock *lock)
{
    struct rl_timers *timers = rl_driver_timers(lock->client->driver);
    struct rl_instant wakeup = rl_lock_wakeup(&lock->client->engine, &lock->core);

    if (wakeup.ns == RL_NEVER.ns || wakeup.ns == RL_LONG_AGO.ns)
        rl_timers_disarm(timers, &lock->timer);
    else if (!rl_timer_armed(&lock->timer) || rl_before(wakeup, lock->timer.at) || worth_moving(lock, wakeup))
        rl_timers_arm(timers, &lock->timer, wakeup);
}

/* A reply that is already in the socket must be seen before a deadline decides: once for each wake-up. */
static void drain(struct redlock_client *client, struct rl_instant now)
{
    if (client->drained.ns == now.ns)
        return;
    client->drained = now;
    rl_driver_read_now(client->driver);
}

/* A new round of renewal believes what the one before it did not. */
void rl_host_tick(struct redlock_lock *lock)
{
    struct redlock_client *client = lock->client;

    rl_observe_validity(client, lock);
    rl_lock_tick(&client->engine, &lock->core, client->now);
    rl_host_run(client);
}

void rl_host_lock_timer(struct rl_timer *timer, struct rl_instant now)
{
    struct redlock_lock *lock = RL_CONTAINER_OF(timer, struct redlock_lock, timer);
    struct redlock_client *client = lock->client;

    drain(client, now);
    rl_client_read_clock(client);
    rl_host_tick(lock);
    rl_host_rearm(lock);
}

void rl_host_debts_timer(struct rl_timer *timer, struct rl_instant now)
{
    struct redlock_client *client = RL_CONTAINER_OF(timer, struct redlock_client, debts_timer);

    drain(client, now);
    rl_engine_tick(&client->engine, rl_client_read_clock(client));
    rl_host_run(client);
}

/* --- The driver's sink ------------------------------------------------------------------------------------------ */

static void count_vote(struct redlock_node_stats *stats, enum rl_outcome outcome)
{
    stats->granted += outcome == RL_GRANTED;
    stats->refused += outcome == RL_REFUSED;
    stats->failed += outcome == RL_FAILED;
    stats->unknown += outcome == RL_UNKNOWN;
    stats->queued += outcome == RL_QUEUED;
}

static enum redlock_op op_of_step(enum rl_step step)
{
    static const enum redlock_op ops[RL_STEP_COUNT] = {
        [RL_STEP_CLAIM] = REDLOCK_OP_ACQUIRE,   [RL_STEP_ENQUEUE] = REDLOCK_OP_ACQUIRE,
        [RL_STEP_RAISE] = REDLOCK_OP_ACQUIRE,   [RL_STEP_EXTEND] = REDLOCK_OP_EXTEND,
        [RL_STEP_REPAIR] = REDLOCK_OP_EXTEND,   [RL_STEP_RELEASE] = REDLOCK_OP_RELEASE,
        [RL_STEP_ROLLBACK] = REDLOCK_OP_RELEASE,
    };

    return ops[step];
}

static void tell_vote(struct redlock_client *client, struct redlock_lock *lock, unsigned node,
                      const struct rl_ticket *ticket, struct rl_answer answer, uint32_t latency_us)
{
    if (lock)
        rl_observe_validity(client, lock);
    if (rl_observes(client, REDLOCK_EVENT_VOTE))
        rl_observe(client, &(struct redlock_event){
                               .type = REDLOCK_EVENT_VOTE, .lock = lock, .node = (int)node,
                               .op = op_of_step((enum rl_step)ticket->step), .vote = rl_public_vote(answer.outcome),
                               .latency_us = rl_public_latency_us(latency_us),
                               .token = rl_host_token(ticket->owner), .text = rl_detail_text(answer.detail)});
}

void rl_host_ended(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket,
                   struct rl_answer answer, uint32_t latency_us)
{
    struct rl_claim *claim = ticket->owner;
    struct redlock_lock *lock = claim->lock ? lock_of(claim->lock) : NULL;

    if (ticket->step == RL_STEP_CLAIM || ticket->step == RL_STEP_ENQUEUE)
        count_vote(&client->node_stats[node], answer.outcome);
    tell_vote(client, lock, node, ticket, answer, latency_us);
    rl_engine_reply(&client->engine, client->now, claim, (enum rl_step)ticket->step, ticket->round, node, answer,
                    latency_us);
    rl_host_run(client);
    if ((ticket->step == RL_STEP_ENQUEUE || ticket->step == RL_STEP_RELEASE) && lock)
        rl_host_rearm(lock); /* the answer says when to look again, or ends a round */
}

static uint32_t latency_of(const struct rl_ticket *ticket, struct rl_instant now)
{
    int64_t us = rl_until(ticket->sent, now).ns / RL_NS_PER_US;

    return us < RL_NO_LATENCY ? (uint32_t)us : RL_NO_LATENCY - 1;
}

void rl_host_note_counter(const struct rl_claim *claim, uint64_t counter)
{
    struct rl_attempt *attempt = claim->lock ? lock_of(claim->lock)->attempt : NULL;

    if (attempt && counter > attempt->counter)
        attempt->counter = counter;
}

void rl_host_answered(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket,
                      struct rl_answer answer, struct rl_instant now)
{
    if (answer.fence)
        rl_host_note_counter(ticket->owner, answer.fence);
    if (answer.detail == RL_DETAIL_NOSCRIPT && rl_host_repeat(client, node, ticket))
        return;
    if (answer.detail == RL_DETAIL_OTHERS_WAIT && rl_host_repeat_in_full(client, node, ticket, answer.outcome))
        return;
    answer = rl_host_undone(ticket, answer);
    if (answer.detail == RL_DETAIL_PROTOCOL)
        rl_driver_fail_node(client->driver, node, "a reply that does not fit its command");
    else if (answer.detail == RL_DETAIL_READONLY)
        rl_trust_doubt(client, node);
    else if (answer.detail == RL_DETAIL_MEMORY_LOST)
        rl_driver_fail_node(client->driver, node, "its memory is not the one that was judged");
    else if (answer.detail == RL_DETAIL_HANDED_ON)
        rl_contended_note(client, rl_host_claim_of(ticket->owner)->key);
    rl_host_ended(client, node, ticket, answer, latency_of(ticket, now));
}

void rl_host_replied(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket,
                     const struct rl_reply *reply, struct rl_instant now)
{
    const struct rl_claim *claim = ticket->owner;
    enum rl_step step = (enum rl_step)ticket->step;

    if (step == RL_STEP_ENQUEUE)
        rl_waiters_placed(client, node, ticket, reply, now);
    rl_host_answered(client, node, ticket, rl_classify(claim->kind, step, reply), now);
}

static void on_reply(void *ctx, unsigned node, const struct rl_ticket *ticket, const struct rl_reply *reply,
                     struct rl_instant now)
{
    struct redlock_client *client = ctx;

    client->now = now;
    if (!ticket->owner) {
        rl_trust_reply(client, node, ticket, reply, now);
        rl_host_run(client);
    } else if (ticket->step == RL_TICKET_BATCH) {
        rl_batch_answered(client, node, ticket, reply, now);
    } else {
        rl_host_replied(client, node, ticket, reply, now);
    }
}

static void on_dropped(void *ctx, unsigned node, const struct rl_ticket *ticket, bool surely_unsent,
                       struct rl_instant now)
{
    struct redlock_client *client = ctx;
    struct rl_answer answer = {surely_unsent ? RL_FAILED : RL_UNKNOWN, RL_DETAIL_DISCONNECTED, 0};

    client->now = now;
    if (!ticket->owner)
        return; /* a guard: what it was to prove fails with the link */
    if (ticket->step == RL_TICKET_BATCH)
        rl_batch_dropped(client, node, ticket, answer);
    else
        rl_host_ended(client, node, ticket, answer, RL_NO_LATENCY);
}

static void on_link(void *ctx, unsigned node, enum rl_link link, const char *why, struct rl_instant now)
{
    struct redlock_client *client = ctx;

    client->now = now;
    if (rl_observes(client, REDLOCK_EVENT_NODE))
        rl_observe(client, &(struct redlock_event){.type = REDLOCK_EVENT_NODE, .node = (int)node,
                                                   .link = rl_public_link(link), .text = why});
    rl_batch_flush(client);
    rl_engine_link(&client->engine, now, node, link);
    if (link == RL_LINK_READY)
        rl_waiters_look_again(client, node, now);
    rl_host_run(client);
}

static void on_turn(void *ctx)
{
    rl_completion_deliver(ctx);
}

const struct rl_driver_sink rl_host_sink = {
    .link = on_link,
    .reply = on_reply,
    .dropped = on_dropped,
    .listening = rl_waiters_listening,
    .message = rl_waiters_message,
    .turn = on_turn,
    .greet = rl_trust_greet,
    .greeted = rl_trust_greeted,
};
