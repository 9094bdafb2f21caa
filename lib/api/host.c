/* The host of the engine: carries out its effects through the driver, and brings it what the driver reports. */
#include <string.h>
#include <time.h>

#include "api/client.h"
#include "codec/classify.h"
#include "codec/command.h"

#define FLAG_AS_EVAL 1 /* ticket: this is the repetition with the script's text */

/* --- Effects ---------------------------------------------------------------------------------------------------- */

/* protocol 4: the counter outlives every lock, and is kept alive by use. */
#define COUNTER_TTL_MS (24 * 3600 * 1000)
#define COUNTER_TTL_MAX_TTLS 10

#define COUNTER_NAME_SIZE (sizeof RL_COUNTER_NAME - 1)

struct counter_name {
    unsigned char bytes[REDLOCK_MAX_KEY_BYTES + COUNTER_NAME_SIZE];
};

/* The counter's name has its own between the prefix and the rest of the key. */
static struct rl_slice make_counter_name(const struct redlock_client *client, const struct rl_key *key,
                                         struct counter_name *name)
{
    size_t prefix_size = client->trust.prefix_size;

    memcpy(name->bytes, key->bytes, prefix_size);
    memcpy(name->bytes + prefix_size, RL_COUNTER_NAME, COUNTER_NAME_SIZE);
    memcpy(name->bytes + prefix_size + COUNTER_NAME_SIZE, key->bytes + prefix_size, key->size - prefix_size);
    return (struct rl_slice){name->bytes, COUNTER_NAME_SIZE + key->size};
}

static void add_fence(const struct redlock_client *client, const struct rl_claim *claim, struct counter_name *name,
                      struct rl_subject *subject)
{
    uint64_t long_enough = (uint64_t)client->options.max_ttl_ms * COUNTER_TTL_MAX_TTLS;

    subject->counter = make_counter_name(client, rl_host_claim_of(claim)->key, name);
    subject->counter_ttl_ms = long_enough > COUNTER_TTL_MS ? long_enough : COUNTER_TTL_MS;
    subject->proposal = rl_claim_fence(claim)->proposal;
    subject->fence = rl_claim_fence(claim)->token;
}

/* `node` matters for repairs only: each names the memory that it is meant for. */
static bool encode(struct redlock_client *client, const struct rl_claim *claim, enum rl_step step, unsigned node,
                   bool as_eval)
{
    const struct rl_host_claim *host = rl_host_claim_of(claim);
    struct rl_subject subject = {
        .key = {host->key->bytes, host->key->size},
        .token = {rl_host_token(claim), strlen(rl_host_token(claim))},
        .ttl_ms = claim->ttl_ms,
    };
    struct counter_name name;
    struct rl_command command;

    if (step == RL_STEP_REPAIR) {
        subject.marker = rl_trust_marker(client, node);
        subject.incarnation = rl_trust_incarnation(client, node);
    }
    if (claim->fenced)
        add_fence(client, claim, &name, &subject);
    rl_host_recipe(claim)->command(step, &subject, &command);
    if (as_eval && command.send_as == RL_SEND_EVALSHA)
        command.send_as = RL_SEND_EVAL;
    rl_bytes_clear(&client->scratch);
    return rl_command_encode(&command, &client->scratch);
}

static bool send_scratch(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket)
{
    bool sent = rl_driver_send(client->driver, node, rl_bytes_front(&client->scratch),
                               rl_bytes_length(&client->scratch), ticket->step == RL_STEP_CLAIM, ticket);

    client->stats.commands += sent;
    return sent;
}

/* Formats once, fans out the bytes; but repairs differ from master to master. */
static void send_all(struct redlock_client *client, const struct rl_effect *effect)
{
    struct rl_ticket ticket = {.owner = effect->claim, .sent = client->now, .round = effect->round,
                               .step = (uint8_t)effect->step};
    struct rl_answer refusal = {RL_FAILED, RL_DETAIL_BACKLOG, 0};
    bool encoded = encode(client, effect->claim, effect->step, 0, false);

    for (unsigned node = 0; node < client->engine.config.n_nodes; node++) {
        if (!(effect->nodes & (UINT32_C(1) << node)))
            continue;
        if (effect->step == RL_STEP_REPAIR)
            encoded = encode(client, effect->claim, effect->step, node, false);
        if (!encoded || !send_scratch(client, node, &ticket))
            rl_engine_reply(&client->engine, client->now, effect->claim, effect->step, effect->round, node, refusal,
                            RL_NO_LATENCY);
    }
}

/* Only for the numbers proposed for fencing tokens: nothing that matters depends on it. */
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

    return attempt->counter >= wall ? attempt->counter + 1 : wall;
}

static void start_attempt(struct redlock_lock *lock)
{
    struct redlock_client *client = lock->client;
    bool fenced = lock->core.wish->fenced;
    int error = 0;
    struct rl_claim *claim = rl_host_claim_create(client, lock->key, fenced, NULL, &error);

    if (!claim) {
        lock->refusal = (int16_t)error;
        rl_lock_refuse_attempt(&client->engine, &lock->core, client->now);
        return;
    }
    if (rl_observed(client))
        rl_observe(client, &(struct redlock_event){.type = REDLOCK_EVENT_ATTEMPT, .lock = lock,
                                                   .token = rl_host_token(claim)});
    /* The event that led here has just read the clock: earlier than the send, as t0 must be. */
    rl_lock_begin_attempt(&client->engine, &lock->core, client->now, claim, fenced ? propose(lock->attempt) : 0);
}

static void tell_backoff(struct redlock_lock *lock, enum rl_end why)
{
    struct redlock_client *client = lock->client;

    if (rl_observed(client))
        rl_observe(client, &(struct redlock_event){
                               .type = REDLOCK_EVENT_BACKOFF, .lock = lock, .op = REDLOCK_OP_ACQUIRE,
                               .status = rl_public_status(lock, why),
                               .delay_us = rl_until(client->now, lock->core.wake).ns / RL_NS_PER_US});
}

static void tell_lost(struct redlock_lock *lock)
{
    lock->client->stats.lost++;
    rl_alarm_queue(lock, REDLOCK_ALARM_LOST);
    if (rl_observed(lock->client))
        rl_observe_ledger(lock, &(struct redlock_event){.type = REDLOCK_EVENT_LOST, .status = REDLOCK_LOST,
                                                        .loss = rl_public_loss((enum rl_loss)lock->core.loss)});
}

static void tell_ledger(struct redlock_lock *lock, enum redlock_event_type type)
{
    if (rl_observed(lock->client))
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

static void carry_out(struct redlock_client *client, const struct rl_effect *effect)
{
    struct redlock_lock *lock = effect->lock ? lock_of(effect->lock) : NULL;

    switch (effect->kind) {
    case RL_EFFECT_SEND:
        send_all(client, effect);
        break;
    case RL_EFFECT_WANT_CLAIM:
        start_attempt(lock);
        break;
    case RL_EFFECT_ACCEPT:
        rl_lock_accept(&client->engine, &lock->core, rl_client_read_clock(client));
        break;
    case RL_EFFECT_BACKOFF:
        tell_backoff(lock, effect->status);
        break;
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

    while (rl_engine_poll(&client->engine, &effect))
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

void rl_host_lock_timer(struct rl_timer *timer, struct rl_instant now)
{
    struct redlock_lock *lock = RL_CONTAINER_OF(timer, struct redlock_lock, timer);
    struct redlock_client *client = lock->client;

    drain(client, now);
    rl_lock_tick(&client->engine, &lock->core, rl_client_read_clock(client));
    rl_host_run(client);
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
}

static enum redlock_op op_of_step(enum rl_step step)
{
    if (step == RL_STEP_CLAIM)
        return REDLOCK_OP_ACQUIRE;
    return step == RL_STEP_EXTEND ? REDLOCK_OP_EXTEND : REDLOCK_OP_RELEASE;
}

static void tell_vote(struct redlock_client *client, struct redlock_lock *lock, unsigned node,
                      const struct rl_ticket *ticket, struct rl_answer answer, uint32_t latency_us)
{
    rl_observe(client, &(struct redlock_event){
                           .type = REDLOCK_EVENT_VOTE, .lock = lock, .node = (int)node,
                           .op = op_of_step((enum rl_step)ticket->step), .vote = rl_public_vote(answer.outcome),
                           .latency_us = rl_public_latency_us(latency_us),
                           .token = rl_host_token(ticket->owner), .text = rl_detail_text(answer.detail)});
}

/* Ends one command: tells the engine, and does what follows. */
static void end_command(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket,
                        struct rl_answer answer, uint32_t latency_us)
{
    struct rl_claim *claim = ticket->owner;
    struct redlock_lock *lock = claim->lock ? lock_of(claim->lock) : NULL;

    if (ticket->step == RL_STEP_CLAIM)
        count_vote(&client->node_stats[node], answer.outcome);
    if (rl_observed(client))
        tell_vote(client, lock, node, ticket, answer, latency_us);
    rl_engine_reply(&client->engine, client->now, claim, (enum rl_step)ticket->step, ticket->round, node, answer,
                    latency_us);
    rl_host_run(client);
}

/* protocol 2.3: "EVALSHA with fallback": once, on the connection that did not know the script. */
static bool repeat_as_eval(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket)
{
    struct rl_ticket again = *ticket;

    if ((ticket->flags & FLAG_AS_EVAL) ||
        !rl_engine_may_repeat(&client->engine, client->now, ticket->owner, (enum rl_step)ticket->step, ticket->round,
                              node))
        return false;
    again.flags |= FLAG_AS_EVAL;
    if (!encode(client, ticket->owner, (enum rl_step)ticket->step, node, true) || !send_scratch(client, node, &again))
        return false;
    client->stats.script_reloads++;
    return true;
}

static uint32_t latency_of(const struct rl_ticket *ticket, struct rl_instant now)
{
    int64_t us = rl_until(ticket->sent, now).ns / RL_NS_PER_US;

    return us < RL_NO_LATENCY ? (uint32_t)us : RL_NO_LATENCY - 1;
}

static void note_counter(const struct rl_claim *claim, uint64_t counter)
{
    struct rl_attempt *attempt = claim->lock ? lock_of(claim->lock)->attempt : NULL;

    if (attempt && counter > attempt->counter)
        attempt->counter = counter;
}

static void on_reply(void *ctx, unsigned node, const struct rl_ticket *ticket, const struct rl_reply *reply,
                     struct rl_instant now)
{
    struct redlock_client *client = ctx;
    struct rl_answer answer;

    client->now = now;
    if (!ticket->owner) {
        rl_trust_reply(client, node, ticket, reply, now);
        rl_host_run(client);
        return;
    }
    answer = rl_classify(rl_host_recipe(ticket->owner), (enum rl_step)ticket->step, reply);
    if (answer.fence)
        note_counter(ticket->owner, answer.fence);
    if (answer.detail == RL_DETAIL_NOSCRIPT && repeat_as_eval(client, node, ticket))
        return;
    if (answer.detail == RL_DETAIL_PROTOCOL)
        rl_driver_fail_node(client->driver, node, "a reply that does not fit its command");
    else if (answer.detail == RL_DETAIL_READONLY)
        rl_trust_doubt(client, node);
    end_command(client, node, ticket, answer, latency_of(ticket, now));
}

static void on_dropped(void *ctx, unsigned node, const struct rl_ticket *ticket, bool surely_unsent,
                       struct rl_instant now)
{
    struct redlock_client *client = ctx;
    struct rl_answer answer = {surely_unsent ? RL_FAILED : RL_UNKNOWN, RL_DETAIL_DISCONNECTED, 0};

    client->now = now;
    if (!ticket->owner)
        return; /* a guard: what it was to prove fails with the link */
    end_command(client, node, ticket, answer, RL_NO_LATENCY);
}

static void on_link(void *ctx, unsigned node, enum rl_link link, const char *why, struct rl_instant now)
{
    struct redlock_client *client = ctx;

    client->now = now;
    if (rl_observed(client))
        rl_observe(client, &(struct redlock_event){.type = REDLOCK_EVENT_NODE, .node = (int)node,
                                                   .link = rl_public_link(link), .text = why});
    rl_engine_link(&client->engine, now, node, link);
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
    .turn = on_turn,
    .greet = rl_trust_greet,
    .greeted = rl_trust_greeted,
};
