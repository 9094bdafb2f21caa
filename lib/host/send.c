/* What is written to the masters: the commands of the engine's steps, in the bytes of the protocol. */
#include <string.h>

#include "api/client.h"
#include "codec/classify.h"
#include "codec/command.h"
#include "kinds/wait_queue.h"

/* Of a ticket: this is the repetition with the script's text; with all keys of a line; and the key has been deleted;
 * and of what was part of a batch (batch.c). */
#define FLAG_AS_EVAL 1
#define FLAG_IN_FULL 2
#define FLAG_DELETED 4
#define FLAG_ALONE 8

/* --- Names ------------------------------------------------------------------------------------------------------ */

#define LONGEST_NAME (sizeof RL_WAITERS_NAME - 1)

_Static_assert(sizeof RL_COUNTER_NAME - 1 <= LONGEST_NAME && sizeof RL_QUEUE_NAME - 1 <= LONGEST_NAME, "the longest");

struct name {
    unsigned char bytes[REDLOCK_MAX_KEY_BYTES + LONGEST_NAME];
};

/* The keys that belong to a lock's key; filled in where a command needs them. */
struct names {
    struct name counter;
    struct name queue;
    struct name waiters;
};

/* A name has its own between the prefix and the rest of the key. */
static struct rl_slice make_name(const struct redlock_client *client, const struct rl_key *key, struct rl_slice own,
                                 struct name *name)
{
    size_t prefix_size = client->trust.prefix_size;

    memcpy(name->bytes, key->bytes, prefix_size);
    memcpy(name->bytes + prefix_size, own.data, own.size);
    memcpy(name->bytes + prefix_size + own.size, key->bytes + prefix_size, key->size - prefix_size);
    return (struct rl_slice){name->bytes, own.size + key->size};
}

static struct rl_slice make_counter_name(const struct redlock_client *client, const struct rl_key *key,
                                         struct names *names)
{
    return make_name(client, key, (struct rl_slice){RL_COUNTER_NAME, sizeof RL_COUNTER_NAME - 1}, &names->counter);
}

/* --- Subjects --------------------------------------------------------------------------------------------------- */

/* protocol 4: the counter outlives every lock, and is kept alive by use. */
#define COUNTER_TTL_MS (24 * 3600 * 1000)
#define COUNTER_TTL_MAX_TTLS 10

static void add_fence(const struct redlock_client *client, const struct rl_claim *claim, struct names *names,
                      struct rl_subject *subject)
{
    uint64_t long_enough = (uint64_t)client->options.max_ttl_ms * COUNTER_TTL_MAX_TTLS;

    subject->counter = make_counter_name(client, rl_host_claim_of(claim)->key, names);
    subject->counter_ttl_ms = long_enough > COUNTER_TTL_MS ? long_enough : COUNTER_TTL_MS;
    subject->proposal = rl_claim_fence(claim)->proposal;
    subject->fence = rl_claim_fence(claim)->token;
}

/* Do commands that look at a queue there name the marker, with which its entries are compared? Not where nothing but
 * the classic profile is possible. Whether the master is judged at present plays no part. */
static bool has_marker(const struct redlock_client *client, unsigned node)
{
    const struct rl_standing *standing = &client->engine.votes.standings[node];
    bool unverified = standing->kind == RL_STANDING_VOTES && !standing->guarded;

    return client->trust.guarded && !unverified;
}

/* Most releases find nobody in line, and need not name all that belongs to one: it would double their size. One that
 * finds somebody is told so, and repeated in full: not by a client that ends, which reads no answers. */
static bool line_is_likely(struct redlock_client *client, const struct rl_claim *claim)
{
    const struct rl_host_claim *host = rl_host_claim_of(claim);

    return client->closing || host->token.own.asked || rl_contended(client, host->key);
}

static void add_queue_name(const struct redlock_client *client, const struct rl_claim *claim, struct names *names,
                           struct rl_subject *subject)
{
    subject->queue = make_name(client, rl_host_claim_of(claim)->key,
                               (struct rl_slice){RL_QUEUE_NAME, sizeof RL_QUEUE_NAME - 1}, &names->queue);
}

/* Whoever gives the key up may have to give it to a waiter with tokens. */
static void add_queue(const struct redlock_client *client, const struct rl_claim *claim, unsigned node,
                      struct names *names, struct rl_subject *subject)
{
    const struct rl_key *key = rl_host_claim_of(claim)->key;

    add_queue_name(client, claim, names, subject);
    subject->waiters =
        make_name(client, key, (struct rl_slice){RL_WAITERS_NAME, sizeof RL_WAITERS_NAME - 1}, &names->waiters);
    if (!subject->counter.size)
        subject->counter = make_counter_name(client, key, names);
    if (has_marker(client, node))
        subject->marker = (struct rl_slice){client->trust.marker, client->trust.marker_size};
}

static void add_waiter(const struct redlock_client *client, unsigned node, struct rl_subject *subject)
{
    subject->incarnation = rl_trust_incarnation(client, node);
    subject->channel = (struct rl_slice){client->waiters.channel, strlen(client->waiters.channel)};
}

static void add_place(const struct redlock_client *client, const struct rl_claim *claim, unsigned node, uint32_t round,
                      struct rl_subject *subject)
{
    add_waiter(client, node, subject);
    subject->round = round;
    subject->ticket = rl_lock_ticket(claim->lock, &subject->proposed_ticket);
}

static bool is_undo(enum rl_step step)
{
    return step == RL_STEP_RELEASE || step == RL_STEP_ROLLBACK;
}

static struct rl_subject make_subject(const struct redlock_client *client, const struct rl_claim *claim,
                                      struct names *names)
{
    const struct rl_host_claim *host = rl_host_claim_of(claim);
    struct rl_subject subject = {
        .key = {host->key->bytes, host->key->size},
        .token = {rl_host_token(claim), strlen(rl_host_token(claim))},
        .ttl_ms = claim->ttl_ms,
    };

    if (claim->kind->has_token)
        add_fence(client, claim, names, &subject);
    return subject;
}

/* The command borrows from the names. */
static void make_command(struct redlock_client *client, const struct rl_claim *claim, enum rl_step step, uint32_t round,
                         unsigned node, uint8_t flags, struct names *names, struct rl_command *ret_command)
{
    struct rl_subject subject = make_subject(client, claim, names);

    if (step == RL_STEP_REPAIR) {
        subject.marker = rl_trust_marker(client, node);
        subject.incarnation = rl_trust_incarnation(client, node);
    } else if (is_undo(step) && !(flags & FLAG_IN_FULL) && !line_is_likely(client, claim)) {
        add_queue_name(client, claim, names, &subject);
    } else if (is_undo(step)) {
        add_queue(client, claim, node, names, &subject);
    } else if (step == RL_STEP_ENQUEUE) {
        add_queue(client, claim, node, names, &subject);
        add_place(client, claim, node, round, &subject);
    }
    claim->kind->command(step, &subject, ret_command);
    if ((flags & FLAG_AS_EVAL) && ret_command->send_as == RL_SEND_EVALSHA)
        ret_command->send_as = RL_SEND_EVAL;
}

static bool encode(struct redlock_client *client, const struct rl_claim *claim, enum rl_step step, uint32_t round,
                   unsigned node, uint8_t flags)
{
    struct names names;
    struct rl_command command;

    make_command(client, claim, step, round, node, flags, &names, &command);
    rl_bytes_clear(&client->scratch);
    return rl_command_encode(&command, &client->scratch);
}

bool rl_host_encode_enqueue(struct redlock_client *client, const struct rl_claim *claim, unsigned node,
                            const struct rl_followers *followers)
{
    struct names names;
    struct rl_command command;

    make_command(client, claim, RL_STEP_ENQUEUE, 0, node, 0, &names, &command);
    rl_bytes_clear(&client->scratch);
    return rl_enqueue_many_encode(&command, followers, &client->scratch);
}

bool rl_host_encode_keep(struct redlock_client *client, const struct rl_claim *claim, unsigned node,
                         uint32_t lease_ms, enum rl_send_as send_as, const struct rl_keepers *keepers)
{
    struct names names;
    struct rl_command command;
    struct rl_subject subject = make_subject(client, claim, &names);

    add_queue(client, claim, node, &names, &subject);
    add_waiter(client, node, &subject);
    subject.ttl_ms = lease_ms;
    rl_queue_keep_command(&subject, &command);
    command.send_as = send_as;
    rl_bytes_clear(&client->scratch);
    return rl_keep_many_encode(&command, keepers, &client->scratch);
}

/* --- Sending ---------------------------------------------------------------------------------------------------- */

static bool send_scratch(struct redlock_client *client, unsigned node, enum rl_sending how,
                         const struct rl_ticket *ticket)
{
    bool sent = rl_driver_send(client->driver, node, rl_bytes_front(&client->scratch),
                               rl_bytes_length(&client->scratch), how, ticket);

    client->stats.commands += sent;
    return sent;
}

/* Are the bytes for one master those for the other, too? Some commands name the memory that they are meant for. */
static bool same_bytes(const struct redlock_client *client, enum rl_step step, unsigned a, unsigned b)
{
    if (!client->trust.guarded)
        return true;
    if (is_undo(step))
        return has_marker(client, a) == has_marker(client, b);
    return step != RL_STEP_REPAIR && step != RL_STEP_ENQUEUE;
}

void rl_host_send(struct redlock_client *client, const struct rl_effect *effect)
{
    if (rl_batch_gather(client, effect))
        return;
    if (!rl_batch_can_wait_for(client, effect))
        rl_batch_flush(client);
    rl_host_send_now(client, effect);
}

/* A refusal of one master may end the attempt before the next one is asked. */
static bool is_wanted(const struct rl_effect *effect)
{
    return effect->step != RL_STEP_ENQUEUE || (effect->claim->lock && !effect->claim->undoing);
}

static enum rl_sending sending_of(enum rl_step step)
{
    return step == RL_STEP_CLAIM || step == RL_STEP_ENQUEUE ? RL_SENDING_CLAIM : RL_SENDING;
}

/* Formats once where that is possible, fans out the bytes. */
void rl_host_send_now(struct redlock_client *client, const struct rl_effect *effect)
{
    struct rl_ticket ticket = {.owner = effect->claim, .sent = client->now, .round = effect->round,
                               .step = (uint8_t)effect->step};
    struct rl_answer refusal = {RL_FAILED, RL_DETAIL_BACKLOG, 0};
    unsigned formatted_for = REDLOCK_MAX_MASTERS;
    bool encoded = false;

    if (effect->step == RL_STEP_ENQUEUE)
        rl_waiters_enter(client, effect->claim);
    for (unsigned node = 0; node < client->engine.votes.config.n_nodes; node++) {
        if (!(effect->nodes & (UINT32_C(1) << node)))
            continue;
        if (formatted_for == REDLOCK_MAX_MASTERS || !same_bytes(client, effect->step, formatted_for, node)) {
            encoded = is_wanted(effect) && encode(client, effect->claim, effect->step, effect->round, node, 0);
            formatted_for = node;
        }
        if (encoded && send_scratch(client, node, sending_of(effect->step), &ticket))
            continue;
        rl_engine_reply(&client->engine, client->now, effect->claim, effect->step, effect->round, node, refusal,
                        RL_NO_LATENCY);
    }
}

static bool repeat(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket, uint8_t flags)
{
    struct rl_ticket again = *ticket;

    rl_batch_flush(client); /* which may end an attempt */
    if ((ticket->flags & flags) ||
        !rl_engine_may_repeat(&client->engine, client->now, ticket->owner, (enum rl_step)ticket->step, ticket->round,
                              node))
        return false;
    again.flags |= flags;
    return encode(client, ticket->owner, (enum rl_step)ticket->step, ticket->round, node, again.flags) &&
           send_scratch(client, node, sending_of((enum rl_step)ticket->step), &again);
}

/* protocol 2.3: "EVALSHA with fallback": once, on the connection that did not know the script. */
bool rl_host_repeat(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket)
{
    if (!repeat(client, node, ticket, FLAG_AS_EVAL))
        return false;
    client->stats.script_reloads++;
    return true;
}

bool rl_host_repeat_alone(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket)
{
    return repeat(client, node, ticket, FLAG_ALONE);
}

bool rl_host_repeat_in_full(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket,
                            enum rl_outcome outcome)
{
    rl_contended_note(client, rl_host_claim_of(ticket->owner)->key);
    return repeat(client, node, ticket, outcome == RL_GRANTED ? FLAG_IN_FULL | FLAG_DELETED : FLAG_IN_FULL);
}

struct rl_answer rl_host_undone(const struct rl_ticket *ticket, struct rl_answer answer)
{
    return rl_queue_undone(answer, ticket->flags & FLAG_DELETED);
}
