/* What one loop turn wants of many locks goes out together: one command for each master and up to RL_BATCH_MAX locks,
 * written once, which costs the masters and this process a fraction of what single ones do. That is done with
 *
 *     extensions    of any locks, for the same ttl
 *     newcomers     of one key: those who get in line for the first time
 *     keepers       of one key: those who have a place in line and know their ticket, and tell it or keep the place up
 *
 *     RL_EFFECT_SEND  ->  gathered  ->  flushed before anything else is written, and at the end of the turn
 *
 * So the order of effects is kept on each connection, but that newcomers may come behind the undo of other values. What
 * is gathered together goes to the same masters. The reply is taken apart (batch_answers.c): for the engine nothing is
 * different from single commands. */
#include <stdlib.h>

#include "host/batch.h"
#include "codec/command.h"

/* --- Memory ----------------------------------------------------------------------------------------------------- */

void rl_batch_init(struct redlock_client *client)
{
    rl_list_init(&client->batching.all);
}

void rl_batch_fini(struct redlock_client *client)
{
    while (!rl_list_empty(&client->batching.all)) {
        struct rl_batch *batch = RL_CONTAINER_OF(client->batching.all.next, struct rl_batch, link);

        rl_list_remove(&batch->link);
        free(batch);
    }
}

static struct rl_batch *borrow(struct rl_batching *batching)
{
    struct rl_batch *batch = batching->spare;

    if (batch) {
        batching->spare = batch->next_spare;
    } else {
        batch = malloc(sizeof *batch);
        if (!batch)
            return NULL;
        rl_list_init(&batch->link);
        rl_list_append(&batching->all, &batch->link);
    }
    batch->n = 0;
    batch->unanswered = 0;
    return batch;
}

void rl_batch_give_back(struct redlock_client *client, struct rl_batch *batch)
{
    batch->next_spare = client->batching.spare;
    client->batching.spare = batch;
}

/* --- Out -------------------------------------------------------------------------------------------------------- */

static struct rl_ticket ticket_of(struct rl_batch *batch)
{
    return (struct rl_ticket){.owner = batch, .sent = batch->sent, .step = RL_TICKET_BATCH};
}

static struct rl_slice token_of(const struct rl_batch *batch, size_t i)
{
    const char *token = rl_host_token(batch->entries[i].claim);

    return (struct rl_slice){token, strlen(token)};
}

static uint64_t proposal_of(const struct rl_batch *batch, size_t i)
{
    const struct rl_claim *claim = batch->entries[i].claim;

    return claim->kind->has_token ? rl_claim_fence(claim)->proposal : 0;
}

static bool encode_extensions(struct redlock_client *client, const struct rl_batch *batch, enum rl_send_as send_as)
{
    struct rl_extend_many many = {.n = batch->n, .ttl_ms = batch->ttl_ms};

    for (size_t i = 0; i < batch->n; i++) {
        const struct rl_key *key = rl_host_claim_of(batch->entries[i].claim)->key;

        many.keys[i] = (struct rl_slice){key->bytes, key->size};
        many.tokens[i] = token_of(batch, i);
    }
    rl_bytes_clear(&client->scratch);
    return rl_extend_many_encode(&many, send_as, &client->scratch);
}

/* The claim is the one that its lock waits with. */
static bool is_in_line(const struct rl_claim *claim)
{
    return claim->lock && claim->lock->state == RL_LOCK_WAITING && !claim->undoing;
}

static bool encode_newcomers(struct redlock_client *client, const struct rl_batch *batch, unsigned node)
{
    struct rl_followers followers = {.n = batch->n - 1};

    if (!is_in_line(batch->entries[0].claim))
        return false; /* not since it was written to another master */
    for (size_t i = 0; i < followers.n; i++) {
        followers.tokens[i] = token_of(batch, i + 1);
        followers.proposals[i] = proposal_of(batch, i + 1);
    }
    return rl_host_encode_enqueue(client, batch->entries[0].claim, node, &followers);
}

static bool encode_keepers(struct redlock_client *client, const struct rl_batch *batch, unsigned node,
                           enum rl_send_as send_as)
{
    struct rl_keepers keepers = {.n = batch->n};

    for (size_t i = 0; i < batch->n; i++) {
        keepers.at[i].token = token_of(batch, i);
        keepers.at[i].round = batch->entries[i].round;
        keepers.at[i].ticket = batch->entries[i].ticket;
        keepers.at[i].proposal = proposal_of(batch, i);
    }
    return rl_host_encode_keep(client, batch->entries[0].claim, node, batch->ttl_ms, send_as, &keepers);
}

/* A master that has turned out not to know the script gets its text this time; newcomers are repeated alone. Some
 * masters may be written the same bytes. */
static bool encode(struct redlock_client *client, const struct rl_batch *batch, unsigned node)
{
    struct rl_batching *batching = &client->batching;
    bool unknown = batching->unknown_to[batch->kind] & UINT32_C(1) << node;
    enum rl_send_as send_as = unknown ? RL_SEND_EVAL : RL_SEND_EVALSHA;

    if (batch->kind == RL_BATCH_NEWCOMERS)
        return encode_newcomers(client, batch, node);
    if (batch->kind == RL_BATCH_KEEPERS)
        return encode_keepers(client, batch, node, send_as);
    if (batching->encoded_as != send_as)
        batching->encoded_as = encode_extensions(client, batch, send_as) ? send_as : RL_SEND_PLAIN;
    return batching->encoded_as == send_as;
}

static void refuse(struct redlock_client *client, const struct rl_batch *batch, size_t i, unsigned node)
{
    struct rl_answer refusal = {RL_FAILED, RL_DETAIL_BACKLOG, 0};

    rl_engine_reply(&client->engine, client->now, batch->entries[i].claim, rl_batch_step(batch),
                    batch->entries[i].round, node, refusal, RL_NO_LATENCY);
}

static void write_to(struct redlock_client *client, struct rl_batch *batch, unsigned node)
{
    struct rl_ticket ticket = ticket_of(batch);
    enum rl_sending how = batch->kind == RL_BATCH_EXTENSIONS ? RL_SENDING : RL_SENDING_CLAIM;

    if (!encode(client, batch, node) ||
        !rl_driver_send(client->driver, node, rl_bytes_front(&client->scratch), rl_bytes_length(&client->scratch), how,
                        &ticket)) {
        for (size_t i = 0; i < batch->n; i++)
            refuse(client, batch, i, node);
        return;
    }
    client->batching.unknown_to[batch->kind] &= ~(UINT32_C(1) << node);
    batch->unanswered++;
    client->stats.commands++;
}

static bool includes(const struct rl_batch *batch, unsigned node)
{
    return batch->nodes & UINT32_C(1) << node;
}

static void write_to_all(struct redlock_client *client, struct rl_batch *batch)
{
    client->batching.encoded_as = RL_SEND_PLAIN;
    for (unsigned node = 0; node < client->engine.votes.config.n_nodes; node++) {
        if (includes(batch, node))
            write_to(client, batch, node);
    }
}

/* A single command is formatted as the claim is now. If it has been asked for another round meanwhile, that may have
 * another ttl, which masters that are not part of it do not know of: this one must have the ttl of its own. */
static bool is_latest(const struct rl_batch *batch)
{
    const struct rl_claim *claim = batch->entries[0].claim;

    return claim->round == batch->entries[0].round && claim->ttl_ms == batch->ttl_ms;
}

static void write_one(struct redlock_client *client, const struct rl_batch *batch)
{
    struct rl_effect effect = {.kind = RL_EFFECT_SEND, .step = rl_batch_step(batch), .nodes = batch->nodes,
                               .claim = batch->entries[0].claim, .round = batch->entries[0].round};

    rl_host_send_now(client, &effect);
}

/* Whoever has given up since, or has the lock, need not be in line: the undo, if there has to be one, comes next; and
 * nothing of the attempt is there any more from which a command could be made. */
static void refuse_who_has_left(struct redlock_client *client, struct rl_batch *batch)
{
    size_t kept = 0;

    for (size_t i = 0; i < batch->n; i++) {
        if (is_in_line(batch->entries[i].claim)) {
            batch->entries[kept++] = batch->entries[i];
            continue;
        }
        for (unsigned node = 0; node < client->engine.votes.config.n_nodes; node++) {
            if (includes(batch, node))
                refuse(client, batch, i, node);
        }
    }
    batch->n = kept;
}

bool rl_batch_flush(struct redlock_client *client)
{
    struct rl_batch *batch = client->batching.gathered;

    if (!batch)
        return false;
    client->batching.gathered = NULL;
    batch->sent = client->now;
    if (batch->kind != RL_BATCH_EXTENSIONS)
        refuse_who_has_left(client, batch);
    if (batch->n > 0)
        rl_cohort_form(client, batch);
    if (batch->n == 1 && is_latest(batch))
        write_one(client, batch);
    else if (batch->n > 0)
        write_to_all(client, batch);
    if (!batch->unanswered)
        rl_batch_give_back(client, batch);
    return true;
}

/* --- Gathering -------------------------------------------------------------------------------------------------- */

static bool same_key(const struct rl_claim *a, const struct rl_claim *b)
{
    const struct rl_key *one = rl_host_claim_of(a)->key;
    const struct rl_key *other = rl_host_claim_of(b)->key;

    return one->size == other->size && memcmp(one->bytes, other->bytes, one->size) == 0;
}

/* What one effect would be part of. */
struct candidate {
    enum rl_batch_kind kind;
    uint64_t ticket;
};

static bool fits(const struct rl_batch *batch, const struct rl_effect *effect, const struct candidate *candidate)
{
    const struct rl_claim *claim = effect->claim;

    if (!batch || batch->kind != candidate->kind || batch->nodes != effect->nodes || batch->ttl_ms != claim->ttl_ms)
        return false;
    return batch->kind == RL_BATCH_EXTENSIONS ||
           (batch->entries[0].claim->kind == claim->kind && same_key(claim, batch->entries[0].claim));
}

/* A newcomer's value is one that no master knows, of a lock that has no ticket yet. Who has a ticket, but another value
 * than before, is asked for alone. */
static bool is_candidate_of_line(struct redlock_client *client, const struct rl_effect *effect,
                                 struct candidate *ret_candidate)
{
    const struct rl_lock *lock = effect->claim->lock;
    uint64_t proposal;
    bool first;

    if (!lock || lock->state != RL_LOCK_WAITING)
        return false;
    ret_candidate->ticket = rl_lock_ticket(lock, &proposal);
    ret_candidate->kind = ret_candidate->ticket ? RL_BATCH_KEEPERS : RL_BATCH_NEWCOMERS;
    first = rl_waiters_enter(client, effect->claim);
    return ret_candidate->ticket ? !first : first && effect->round == 0;
}

static bool is_candidate(struct redlock_client *client, const struct rl_effect *effect, struct candidate *ret_candidate)
{
    *ret_candidate = (struct candidate){.kind = RL_BATCH_EXTENSIONS};
    return effect->step == RL_STEP_EXTEND ||
           (effect->step == RL_STEP_ENQUEUE && is_candidate_of_line(client, effect, ret_candidate));
}

static bool start(struct redlock_client *client, const struct rl_effect *effect, const struct candidate *candidate)
{
    struct rl_batch *batch;

    rl_batch_flush(client);
    batch = borrow(&client->batching);
    if (!batch)
        return false;
    batch->kind = candidate->kind;
    batch->nodes = effect->nodes;
    batch->ttl_ms = effect->claim->ttl_ms;
    client->batching.gathered = batch;
    rl_driver_wake(client->driver);
    return true;
}

/* Those whose first attempts are refused in one turn undo them one after the other, and get in line together. */
bool rl_batch_can_wait_for(const struct redlock_client *client, const struct rl_effect *effect)
{
    const struct rl_batch *batch = client->batching.gathered;

    if (!batch || batch->kind != RL_BATCH_NEWCOMERS || effect->step != RL_STEP_ROLLBACK)
        return false;
    for (size_t i = 0; i < batch->n; i++) {
        if (batch->entries[i].claim == effect->claim)
            return false;
    }
    return true;
}

bool rl_batch_gather(struct redlock_client *client, const struct rl_effect *effect)
{
    struct candidate candidate;
    struct rl_batch *batch;

    if (!is_candidate(client, effect, &candidate))
        return false;
    if (!fits(client->batching.gathered, effect, &candidate) && !start(client, effect, &candidate))
        return false;
    batch = client->batching.gathered;
    batch->entries[batch->n].claim = effect->claim;
    batch->entries[batch->n].round = effect->round;
    batch->entries[batch->n].ticket = candidate.ticket;
    if (++batch->n == RL_BATCH_MAX)
        rl_batch_flush(client);
    return true;
}
