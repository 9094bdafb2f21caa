/* What one loop turn wants of many locks goes out together: one command for each master and up to RL_BATCH_MAX locks,
 * written once, which costs the masters and this process a fraction of what single ones do. That is done with
 *
 *     joins         of one key: claims that enter the wait queue for the first time
 *     refreshes     of one key: claims that have an entry and know its ticket, and keep the entry up
 *     extensions    of any locks, for the same ttl
 *     releases      and rollbacks, of any locks whose keys nobody is known to wait for
 *
 *     RL_EFFECT_SEND  ->  gathered  ->  flushed before what must come behind it, and at the end of the turn
 *
 * The commands of one value are written in the order of the effects, and so are the release of a key and the claim that
 * wants it next; others need no order. All claims of a batch are sent to the same masters. The reply is taken apart
 * (answers.c): for the engine nothing is different from single commands. */
#include "host/batch.h"

#include <stdlib.h>

#include "engine/answer.h"
#include "engine/wait.h"
#include "host/contended.h"
#include "host/commands.h"
#include "host/host.h"
#include "host/trust/view.h"

/* --- Memory ----------------------------------------------------------------------------------------------------- */

void rl_batch_init(struct rl_batching *batching)
{
    rl_list_init(&batching->all);
}

void rl_batch_fini(struct rl_batching *batching)
{
    while (!rl_list_empty(&batching->all)) {
        struct rl_batch *batch = RL_CONTAINER_OF(batching->all.next, struct rl_batch, link);

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

void rl_batch_give_back(struct rl_batching *batching, struct rl_batch *batch)
{
    batch->next_spare = batching->spare;
    batching->spare = batch;
}

/* --- Out -------------------------------------------------------------------------------------------------------- */

static struct rl_tag tag_of(struct rl_batch *batch)
{
    return (struct rl_tag){.owner = batch, .sent = batch->sent, .step = RL_TAG_BATCH};
}

static struct rl_slice token_of(const struct rl_batch *batch, size_t i)
{
    return rl_slice_of(rl_host_token(batch->entries[i].claim));
}

static bool encode_extensions(struct rl_host *host, const struct rl_batch *batch, unsigned node)
{
    struct rl_extend_many many = {.n = batch->n, .ttl_ms = batch->ttl_ms};

    for (size_t i = 0; i < batch->n; i++) {
        many.keys[i] = rl_key_slice(rl_host_claim_of(batch->entries[i].claim)->key);
        many.tokens[i] = token_of(batch, i);
        many.modes[i] = (enum rl_mode)batch->entries[i].claim->mode;
    }
    return rl_command_of_extensions(host, node, &many);
}

/* The claim is the one that its lock waits with. */
static bool is_queued(const struct rl_claim *claim)
{
    return claim->lock && claim->lock->state == RL_LOCK_WAITING && !claim->rolling_back;
}

static bool encode_enqueues(struct rl_host *host, const struct rl_batch *batch, unsigned node)
{
    struct rl_joins joins = {.n = batch->n - 1, .lead_us = rl_trust_lead(host)};

    if (!is_queued(batch->entries[0].claim))
        return false; /* not since it was written to another master */
    for (size_t i = 0; i < joins.n; i++) {
        joins.tokens[i] = token_of(batch, i + 1);
        joins.proposals[i] = rl_claim_proposal(batch->entries[i + 1].claim);
    }
    return rl_command_of_joins(host, batch->entries[0].claim, node, &joins);
}

static bool encode_refreshes(struct rl_host *host, const struct rl_batch *batch, unsigned node)
{
    struct rl_refresh_many refreshes = {.n = batch->n, .lead_us = rl_trust_lead(host)};

    for (size_t i = 0; i < batch->n; i++) {
        refreshes.at[i].token = token_of(batch, i);
        refreshes.at[i].round = batch->entries[i].round;
        refreshes.at[i].ticket = batch->entries[i].ticket;
        refreshes.at[i].proposal = rl_claim_proposal(batch->entries[i].claim);
    }
    return rl_command_of_refreshes(host, batch->entries[0].claim, node, batch->ttl_ms, &refreshes);
}

static bool encode_releases(struct rl_host *host, const struct rl_batch *batch, unsigned node)
{
    const struct rl_claim *claims[RL_BATCH_MAX];

    for (size_t i = 0; i < batch->n; i++)
        claims[i] = batch->entries[i].claim;
    return rl_command_of_releases(host, node, claims, batch->n);
}

static bool is_of_waiters(const struct rl_batch *batch)
{
    return rl_batch_step(batch) == RL_STEP_ENQUEUE;
}

static bool is_of_releases(const struct rl_batch *batch)
{
    return batch->kind == RL_BATCH_RELEASES || batch->kind == RL_BATCH_ROLLBACKS;
}

/* Masters may be written the same bytes, unless these name the memory that they are for. */
static bool encode(struct rl_host *host, const struct rl_batch *batch, unsigned node)
{
    if (batch->kind == RL_BATCH_ENQUEUES)
        return encode_enqueues(host, batch, node);
    if (batch->kind == RL_BATCH_REFRESHES)
        return encode_refreshes(host, batch, node);
    if (host->scripting.encoded != RL_SCRIPT_NONE &&
        rl_command_is_same(host, batch->entries[0].claim, rl_batch_step(batch), node, node))
        return true;
    return batch->kind == RL_BATCH_EXTENSIONS ? encode_extensions(host, batch, node)
                                              : encode_releases(host, batch, node);
}

static void refuse(struct rl_host *host, const struct rl_batch *batch, size_t i, unsigned node)
{
    const struct rl_event refused = {.now = host->now, .claim = batch->entries[i].claim, .step = rl_batch_step(batch),
                                     .round = batch->entries[i].round, .node = node,
                                     .answer = {RL_FAILED, RL_DETAIL_BACKLOG, 0}, .latency_us = RL_NO_LATENCY};

    rl_engine_reply(&host->engine, &refused);
}

static enum rl_sending sending_of(const struct rl_batch *batch)
{
    return is_of_waiters(batch) ? RL_SENDING_CLAIM : RL_SENDING;
}

static void write_to(struct rl_host *host, struct rl_batch *batch, unsigned node)
{
    struct rl_tag tag = tag_of(batch);

    if (!encode(host, batch, node) || !rl_command_send(host, node, sending_of(batch), &tag)) {
        for (size_t i = 0; i < batch->n; i++)
            refuse(host, batch, i, node);
        return;
    }
    batch->unanswered++;
}

bool rl_batch_repeat(struct rl_host *host, unsigned node, const struct rl_tag *tag)
{
    struct rl_batch *batch = tag->owner;
    struct rl_tag again = *tag;

    if (tag->flags & RL_COMMAND_REPEATED)
        return false;
    again.flags |= RL_COMMAND_REPEATED;
    again.sent = host->now;
    host->scripting.encoded = RL_SCRIPT_NONE;
    for (size_t i = 0; i < batch->n; i++) {
        if (!rl_engine_may_repeat(&host->engine, host->now, batch->entries[i].claim, rl_batch_step(batch),
                                  batch->entries[i].round, node))
            return false;
    }
    if (!encode(host, batch, node) || !rl_command_send(host, node, sending_of(batch), &again))
        return false;
    host->counters.script_reloads++;
    return true;
}

static bool includes(const struct rl_batch *batch, unsigned node)
{
    return batch->nodes & rl_bit(node);
}

static void write_to_all(struct rl_host *host, struct rl_batch *batch)
{
    host->scripting.encoded = RL_SCRIPT_NONE;
    for (unsigned node = 0; node < host->engine.votes.config.n_nodes; node++) {
        if (includes(batch, node))
            write_to(host, batch, node);
    }
}

/* A single command is formatted as the claim is now. If it has been asked for another round meanwhile, that may have
 * another ttl, which masters that are not part of it do not know of: this one must have the ttl of its own. */
static bool is_latest(const struct rl_batch *batch)
{
    const struct rl_claim *claim = batch->entries[0].claim;

    return is_of_releases(batch) || (claim->round == batch->entries[0].round && claim->ttl_ms == batch->ttl_ms);
}

static void write_alone(struct rl_host *host, const struct rl_batch *batch, size_t i)
{
    struct rl_effect effect = {.kind = RL_EFFECT_SEND, .step = rl_batch_step(batch), .nodes = batch->nodes,
                               .claim = batch->entries[i].claim, .round = batch->entries[i].round};

    rl_host_send_now(host, &effect);
}

/* A client that ends hears of no waiter: each of its releases is one in full. */
static bool is_written_together(const struct rl_host *host, const struct rl_batch *batch)
{
    if (is_of_releases(batch) && host->closing)
        return false;
    return batch->n > 1 || (batch->n == 1 && !is_latest(batch));
}

/* A claim whose lock has given up since, or has been acquired, need not enter the wait queue. Its rollback, if there
 * has to be one, comes next; and nothing of the attempt is there any more from which a command could be made. */
static void refuse_left(struct rl_host *host, struct rl_batch *batch)
{
    size_t kept = 0;

    for (size_t i = 0; i < batch->n; i++) {
        if (is_queued(batch->entries[i].claim)) {
            batch->entries[kept++] = batch->entries[i];
            continue;
        }
        for (unsigned node = 0; node < host->engine.votes.config.n_nodes; node++) {
            if (includes(batch, node))
                refuse(host, batch, i, node);
        }
    }
    batch->n = kept;
}

static void write_gathered(struct rl_host *host, struct rl_batch *batch)
{
    host->batching.gathered[batch->kind] = NULL;
    batch->sent = host->now;
    if (is_of_waiters(batch))
        refuse_left(host, batch);
    rl_cohort_form(host, batch);
    if (is_written_together(host, batch)) {
        write_to_all(host, batch);
    } else {
        for (size_t i = 0; i < batch->n; i++)
            write_alone(host, batch, i);
    }
    if (!batch->unanswered)
        rl_batch_give_back(&host->batching, batch);
}

/* true: there was something. */
static bool flush_up_to(struct rl_host *host, enum rl_batch_kind last)
{
    bool any = false;

    for (int kind = 0; kind <= (int)last; kind++) {
        struct rl_batch *batch = host->batching.gathered[kind];

        if (batch)
            write_gathered(host, batch);
        any = any || batch;
    }
    return any;
}

bool rl_batch_flush(struct rl_host *host)
{
    return flush_up_to(host, RL_BATCH_KINDS - 1);
}

/* --- Gathering -------------------------------------------------------------------------------------------------- */

static bool same_key(const struct rl_claim *a, const struct rl_claim *b)
{
    return rl_slice_equals(rl_key_slice(rl_host_claim_of(a)->key), rl_key_slice(rl_host_claim_of(b)->key));
}

/* What one effect would be part of. */
struct candidate {
    enum rl_batch_kind kind;
    uint64_t ticket;
};

static bool fits(const struct rl_batch *batch, const struct rl_effect *effect)
{
    const struct rl_claim *claim = effect->claim;

    if (!batch || batch->nodes != effect->nodes)
        return false;
    switch (batch->kind) {
    case RL_BATCH_EXTENSIONS:
        return batch->ttl_ms == claim->ttl_ms;
    case RL_BATCH_RELEASES:
    case RL_BATCH_ROLLBACKS:
        return batch->entries[0].claim->kind == claim->kind;
    default:
        return batch->ttl_ms == claim->ttl_ms && batch->entries[0].claim->kind == claim->kind &&
               same_key(claim, batch->entries[0].claim);
    }
}

/* A join has a value that no master knows, of a lock that has no ticket yet. A lock that has a ticket, but another
 * value than before, is asked for alone. */
static bool is_queue_candidate(struct rl_host *host, const struct rl_effect *effect,
                                 struct candidate *ret_candidate)
{
    const struct rl_lock *lock = effect->claim->lock;
    uint64_t proposal;
    bool first;

    if (!lock || lock->state != RL_LOCK_WAITING || !(effect->claim->kind->can & RL_BATCH_JOIN))
        return false;
    ret_candidate->ticket = rl_lock_ticket(lock, &proposal);
    ret_candidate->kind = ret_candidate->ticket ? RL_BATCH_REFRESHES : RL_BATCH_ENQUEUES;
    first = rl_waiters_enter(host, effect->claim);
    return ret_candidate->ticket ? !first : first && effect->round == 0;
}

/* Masters that do not know yet that the mode is a weaker one are told of it alone. */
static bool is_extension(const struct rl_effect *effect)
{
    const struct rl_claim *claim = effect->claim;

    return effect->step == RL_STEP_EXTEND && (claim->kind->can & RL_BATCH_EXTEND) && !claim->stronger;
}

static bool is_candidate(struct rl_host *host, const struct rl_effect *effect, struct candidate *ret_candidate)
{
    switch (effect->step) {
    case RL_STEP_ENQUEUE:
        return is_queue_candidate(host, effect, ret_candidate);
    case RL_STEP_EXTEND:
        *ret_candidate = (struct candidate){.kind = RL_BATCH_EXTENSIONS};
        return is_extension(effect);
    case RL_STEP_RELEASE:
    case RL_STEP_ROLLBACK:
        *ret_candidate = (struct candidate){.kind = effect->step == RL_STEP_RELEASE ? RL_BATCH_RELEASES
                                                                                    : RL_BATCH_ROLLBACKS};
        return (effect->claim->kind->can & RL_BATCH_RELEASE) && rl_release_is_short(host, effect->claim);
    default:
        return false;
    }
}

/* Must this be written behind the batch? What concerns the same value must; and whoever takes a key that is released
 * would find it held. */
static bool comes_behind(const struct rl_effect *effect, const struct rl_batch *batch)
{
    bool takes = effect->step == RL_STEP_CLAIM || effect->step == RL_STEP_ENQUEUE;

    for (size_t i = 0; i < batch->n; i++) {
        const struct rl_claim *claim = batch->entries[i].claim;

        if (claim == effect->claim || (takes && is_of_releases(batch) && same_key(claim, effect->claim)))
            return true;
    }
    return false;
}

/* `first`: what is gathered before that comes before it anyway. */
static void flush_before(struct rl_host *host, const struct rl_effect *effect, int first)
{
    for (int kind = RL_BATCH_KINDS - 1; kind >= first; kind--) {
        const struct rl_batch *batch = host->batching.gathered[kind];

        if (batch && comes_behind(effect, batch)) {
            flush_up_to(host, (enum rl_batch_kind)kind);
            return;
        }
    }
}

static bool start(struct rl_host *host, const struct rl_effect *effect, const struct candidate *candidate)
{
    struct rl_batch *batch;

    flush_up_to(host, candidate->kind);
    batch = borrow(&host->batching);
    if (!batch)
        return false;
    batch->kind = candidate->kind;
    batch->nodes = effect->nodes;
    batch->ttl_ms = effect->claim->ttl_ms;
    host->batching.gathered[batch->kind] = batch;
    rl_transport_wake(&host->transport);
    return true;
}

bool rl_batch_gather(struct rl_host *host, const struct rl_effect *effect)
{
    struct candidate candidate;
    struct rl_batch *batch;

    if (!is_candidate(host, effect, &candidate)) {
        flush_before(host, effect, 0);
        return false;
    }
    flush_before(host, effect, (int)candidate.kind + 1);
    batch = host->batching.gathered[candidate.kind];
    if (!fits(batch, effect) && !start(host, effect, &candidate)) {
        flush_before(host, effect, 0);
        return false;
    }
    batch = host->batching.gathered[candidate.kind];
    batch->entries[batch->n].claim = effect->claim;
    batch->entries[batch->n].round = effect->round;
    batch->entries[batch->n].ticket = candidate.ticket;
    if (++batch->n == RL_BATCH_MAX)
        flush_up_to(host, candidate.kind);
    return true;
}
