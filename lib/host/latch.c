/* Rounds of a latch. A round ends as a read does: with the last answer, or with node_timeout.
 *
 * The names that a handle has been told are kept from round to round, since an arrival cannot be taken back. When there
 * are as many as parties, or a master says that the latch is open, it is open, now and for ever. It is reported open
 * only when a quorum has recorded that in one round: then everybody who asks a quorum later meets a master that says
 * so, whichever masters had which names (rule 12.2). */
#include "host/latch.h"

#include <stdlib.h>
#include <string.h>

#include <redlock/status.h>

#include "codec/command.h"
#include "host/host.h"

#define INTERVAL_MS 500

static unsigned quorum_of(const struct rl_latch *latch)
{
    return (unsigned)latch->host->engine.votes.config.quorum;
}

static unsigned n_nodes_of(const struct rl_latch *latch)
{
    return (unsigned)latch->host->engine.votes.config.n_nodes;
}

static bool is_pending(const struct rl_latch *latch)
{
    return latch->ops[RL_LATCH_ARRIVE].pending || latch->ops[RL_LATCH_AWAIT].pending;
}

/* --- Answers ---------------------------------------------------------------------------------------------------- */

static struct rl_slice party_of(const struct rl_latch *latch)
{
    return (struct rl_slice){latch->party.text, latch->party.size};
}

static bool write_command(void *ctx, unsigned node)
{
    struct rl_latch *latch = ctx;
    struct rl_host *host = latch->host;
    struct rl_command command;
    bool awaits = latch->ops[RL_LATCH_AWAIT].pending;
    struct rl_latch_read read = {
        .key = rl_key_slice(latch->key),
        .parties = latch->config.parties,
        .generation = latch->config.generation,
        .keep_ms = latch->config.keep_ms,
        .passed = {latch->passed, latch->passed_size},
        .open = latch->open,
        .wants_names = awaits,
        .revision = {latch->nodes[node].revision, latch->nodes[node].revision_size},
    };

    if (latch->arrives)
        read.party = party_of(latch);
    if (awaits && !latch->open)
        read.channel = rl_slice_of(host->waiters.channel);
    rl_latch_command(&read, &command);
    return rl_command_encode(&command, &host->scratch);
}

/* A master that lists more names than there are parties is not understood. */
static enum rl_detail learn_names(struct rl_latch *latch, struct rl_latch_node *node,
                                  const struct rl_latch_answer *answer)
{
    struct rl_slice rest = answer->names;
    struct rl_slice name;

    for (size_t n = 0; rest.size; n++) {
        if (n == latch->config.parties || !rl_latch_next_name(&rest, &name))
            return RL_DETAIL_PROTOCOL;
        rl_latch_names_add(&latch->names, name);
    }
    if (latch->ops[RL_LATCH_AWAIT].pending) {
        memcpy(node->revision, answer->revision.data, answer->revision.size);
        node->revision_size = answer->revision.size;
    }
    return RL_DETAIL_NONE;
}

static void learn_passed(struct rl_latch *latch, const struct rl_latch_answer *answer)
{
    if (!answer->passed.size || answer->passed_generation >= latch->config.generation ||
        (latch->passed_size && answer->passed_generation <= latch->passed_generation))
        return;
    memcpy(latch->passed, answer->passed.data, answer->passed.size);
    latch->passed_size = answer->passed.size;
    latch->passed_generation = answer->passed_generation;
    latch->asked_without_passed = true;
}

static enum rl_detail refusal(enum rl_latch_code code)
{
    switch (code) {
    case RL_LATCH_OTHER_PARTIES:
        return RL_DETAIL_OTHER_PARTIES;
    case RL_LATCH_COMPLETE:
        return RL_DETAIL_COMPLETE;
    case RL_LATCH_OTHER_GENERATION:
        return RL_DETAIL_OTHER_GENERATION;
    case RL_LATCH_FOREIGN:
        return RL_DETAIL_FOREIGN;
    case RL_LATCH_SHUT:
    case RL_LATCH_OPEN:
        break;
    }
    return RL_DETAIL_NONE;
}

static enum rl_detail on_answer(void *ctx, unsigned node, const struct rl_reply *reply, uint32_t latency_us)
{
    struct rl_latch *latch = ctx;
    struct rl_latch_node *own = &latch->nodes[node];
    struct rl_latch_answer answer;
    enum rl_detail why;

    if (!rl_latch_answer(reply, &answer))
        return RL_DETAIL_PROTOCOL;
    learn_passed(latch, &answer);
    why = refusal(answer.code);
    if (why == RL_DETAIL_NONE)
        why = learn_names(latch, own, &answer);
    if (why != RL_DETAIL_NONE)
        return why;
    own->why = RL_DETAIL_NONE;
    own->answered = true;
    own->arrived = latch->arrives;
    own->open = answer.code == RL_LATCH_OPEN;
    own->latency_us = latency_us;
    latch->open = latch->open || own->open || latch->names.n == latch->config.parties;
    if (own->arrived)
        latch->recorded |= rl_bit(node);
    if (own->open)
        latch->opened |= rl_bit(node);
    return RL_DETAIL_NONE;
}

static void on_failure(void *ctx, unsigned node, enum rl_detail why)
{
    struct rl_latch *latch = ctx;

    latch->nodes[node].why = why;
    latch->nodes[node].answered = latch->nodes[node].arrived = latch->nodes[node].open = false;
}

/* --- What follows from them ------------------------------------------------------------------------------------- */

static void end(struct rl_latch *latch, enum rl_latch_op op, int status)
{
    unsigned answered = 0;

    if (!latch->ops[op].pending)
        return;
    for (unsigned node = 0; node < n_nodes_of(latch); node++)
        answered += latch->nodes[node].answered;
    latch->ops[op].pending = false;
    latch->config.done(latch, op, status,
                       status == REDLOCK_DEADLINE && answered < quorum_of(latch) ? REDLOCK_NO_QUORUM : 0);
}

static void report(struct rl_latch *latch)
{
    unsigned quorum = quorum_of(latch);

    if (rl_count_bits(latch->recorded) >= quorum)
        end(latch, RL_LATCH_ARRIVE, REDLOCK_OK);
    if (rl_count_bits(latch->opened) >= quorum)
        end(latch, RL_LATCH_AWAIT, REDLOCK_OK);
}

static unsigned count_why(const struct rl_latch *latch, enum rl_detail why)
{
    uint32_t members = latch->host->engine.votes.members;
    unsigned n = 0;

    for (unsigned node = 0; node < n_nodes_of(latch); node++)
        n += (members & rl_bit(node)) && latch->nodes[node].why == why;
    return n;
}

/* So many masters refuse that the others are no quorum: the status that says why; otherwise 0. */
static int refused(const struct rl_latch *latch)
{
    unsigned generations = count_why(latch, RL_DETAIL_OTHER_GENERATION);
    unsigned parties = count_why(latch, RL_DETAIL_OTHER_PARTIES) + count_why(latch, RL_DETAIL_COMPLETE);

    if (generations + parties <= rl_count_bits(latch->host->engine.votes.members) - quorum_of(latch))
        return 0;
    return generations > parties ? REDLOCK_OTHER_GENERATION : REDLOCK_OTHER_PARTIES;
}

static void arm(struct rl_latch *latch)
{
    struct rl_instant at = latch->next;

    for (size_t op = 0; op < RL_LATCH_N_OPS; op++) {
        if (latch->ops[op].pending && !latch->ops[op].once && rl_before(latch->ops[op].deadline, at))
            at = latch->ops[op].deadline;
    }
    rl_transport_arm(&latch->host->transport, &latch->timer, at);
}

/* An open latch is repeated though masters refuse it: they may be at a later generation, and forget that. An arrival
 * that was refused may have been wrong, and must not begin the latch anew. */
static bool repeats(const struct rl_latch *latch)
{
    return latch->open || (latch->arrives && !latch->over);
}

static struct rl_instant next_round(const struct rl_latch *latch)
{
    uint32_t third_ms = latch->host->options->max_ttl_ms / 3;

    if (is_pending(latch))
        return rl_later(rl_after(latch->started, rl_ms(INTERVAL_MS)), latch->host->now);
    if (!repeats(latch))
        return RL_NEVER;
    return rl_after(latch->started, rl_ms(third_ms > INTERVAL_MS ? third_ms : INTERVAL_MS));
}

static void begin_round(struct rl_latch *latch);

/* The round is over. */
static void conclude(struct rl_latch *latch)
{
    int status = refused(latch);

    rl_quorum_read_end(latch->read);
    latch->read = NULL;
    if (latch->asked_without_passed && count_why(latch, RL_DETAIL_OTHER_GENERATION)) {
        begin_round(latch); /* those who refused may not know that the generation before has opened */
        return;
    }
    latch->over = status != 0;
    for (enum rl_latch_op op = 0; op < RL_LATCH_N_OPS; op++) {
        if (status)
            end(latch, op, status);
        else if (latch->ops[op].once)
            end(latch, op, REDLOCK_DEADLINE);
    }
    if (latch->again && is_pending(latch)) {
        begin_round(latch);
        return;
    }
    latch->next = next_round(latch);
    arm(latch);
}

/* The latch is known to be open, and a quorum could record it: at once where somebody waits for that. */
static bool must_write_back(const struct rl_latch *latch)
{
    return latch->open && !latch->asked_open && latch->ops[RL_LATCH_AWAIT].pending &&
           rl_tally_verdict(&latch->read->tally) == RL_VERDICT_WON;
}

static void on_change(void *ctx)
{
    struct rl_latch *latch = ctx;

    report(latch);
    if (must_write_back(latch))
        begin_round(latch);
    else if (rl_tally_is_complete(&latch->read->tally))
        conclude(latch);
}

/* --- Rounds ----------------------------------------------------------------------------------------------------- */

/* A round that is under way is given up. Without memory it is tried again later. */
static void begin_round(struct rl_latch *latch)
{
    struct rl_host *host = latch->host;
    const struct rl_quorum_reader reader = {latch, RL_ASK_ADMITTED, write_command, on_answer, on_failure, on_change};

    rl_quorum_read_end(latch->read);
    latch->read = NULL;
    latch->started = host->now;
    latch->next = RL_NEVER;
    latch->again = latch->asked_without_passed = false;
    latch->asked_open = latch->open;
    latch->recorded = latch->opened = 0;
    if (!rl_quorum_read_start(host, &reader, &latch->read))
        latch->next = next_round(latch);
    arm(latch);
}

static void look(struct rl_latch *latch)
{
    if (latch->read)
        latch->again = true;
    else
        begin_round(latch);
}

static void on_timer(struct rl_timer *timer, struct rl_instant now)
{
    struct rl_latch *latch = RL_CONTAINER_OF(timer, struct rl_latch, timer);
    struct rl_host *host = latch->host;

    rl_transport_read_now(&host->transport);
    rl_host_read_clock(host);
    for (enum rl_latch_op op = 0; op < RL_LATCH_N_OPS; op++) {
        if (!latch->ops[op].once && !rl_before(now, latch->ops[op].deadline))
            end(latch, op, REDLOCK_DEADLINE);
    }
    if (rl_before(now, latch->next))
        arm(latch);
    else
        begin_round(latch);
}

void rl_latches_check(struct rl_host *host)
{
    for (struct rl_list *at = host->latches.next; at != &host->latches; at = at->next) {
        struct rl_latch *latch = RL_CONTAINER_OF(at, struct rl_latch, link);

        if (is_pending(latch))
            look(latch);
    }
}

/* rule 15.11: what a latch knows is repeated to the new list at once. */
void rl_latches_adopt(struct rl_host *host, uint32_t newcomers)
{
    for (struct rl_list *at = host->latches.next; at != &host->latches; at = at->next) {
        struct rl_latch *latch = RL_CONTAINER_OF(at, struct rl_latch, link);

        for (unsigned node = 0; node < n_nodes_of(latch); node++) {
            if (newcomers & rl_bit(node))
                latch->nodes[node] = (struct rl_latch_node){0};
        }
        if (is_pending(latch) || repeats(latch))
            begin_round(latch);
    }
}

void rl_latches_message(struct rl_host *host, struct rl_slice key)
{
    for (struct rl_list *at = host->latches.next; at != &host->latches; at = at->next) {
        struct rl_latch *latch = RL_CONTAINER_OF(at, struct rl_latch, link);

        if (latch->ops[RL_LATCH_AWAIT].pending && rl_slice_equals(rl_key_slice(latch->key), key))
            look(latch);
    }
}

/* --- Life ------------------------------------------------------------------------------------------------------- */

static struct rl_key *create_key(const struct rl_host *host, struct rl_slice name)
{
    char own[REDLOCK_MAX_PREFIX_BYTES + sizeof RL_LATCH_NAME];
    size_t size = host->trust.prefix_size;

    memcpy(own, host->trust.prefix, size);
    memcpy(own + size, RL_LATCH_NAME, sizeof RL_LATCH_NAME - 1);
    return rl_key_create((struct rl_slice){own, size + sizeof RL_LATCH_NAME - 1}, name.data, name.size);
}

bool rl_latch_init(struct rl_host *host, struct rl_latch *latch, const struct rl_latch_config *config)
{
    memset(latch, 0, sizeof *latch);
    latch->key = create_key(host, config->name);
    if (!latch->key)
        return false;
    if (!rl_latch_names_init(&latch->names, config->parties)) {
        rl_key_unref(latch->key);
        return false;
    }
    latch->host = host;
    latch->config = *config;
    latch->config.name.data = latch->key->bytes + latch->key->size - config->name.size;
    latch->config.party = (struct rl_slice){0};
    latch->party.size = (unsigned char)config->party.size;
    if (config->party.size)
        memcpy(latch->party.text, config->party.data, config->party.size);
    latch->next = RL_NEVER;
    rl_timer_init(&latch->timer, on_timer);
    rl_list_append(&host->latches, &latch->link);
    return true;
}

void rl_latch_stop(struct rl_latch *latch)
{
    rl_quorum_read_end(latch->read);
    latch->read = NULL;
    rl_transport_disarm(&latch->host->transport, &latch->timer);
}

void rl_latch_fini(struct rl_latch *latch)
{
    rl_latch_stop(latch);
    rl_list_remove(&latch->link);
    rl_key_unref(latch->key);
    rl_latch_names_fini(&latch->names);
}

/* The party's own arrival is a name like those that masters tell. */
static void arrive(struct rl_latch *latch)
{
    latch->arrives = true;
    rl_latch_names_add(&latch->names, party_of(latch));
    latch->open = latch->open || latch->names.n == latch->config.parties;
}

void rl_latch_start(struct rl_latch *latch, enum rl_latch_op op, struct rl_instant deadline, bool once)
{
    if (op == RL_LATCH_ARRIVE)
        arrive(latch);
    else
        rl_waiters_listen(latch->host);
    latch->ops[op].pending = true;
    latch->ops[op].once = once;
    latch->ops[op].deadline = deadline;
    begin_round(latch);
}

bool rl_latch_cancel(struct rl_latch *latch, enum rl_latch_op op)
{
    bool was_pending = latch->ops[op].pending;

    latch->ops[op].pending = false;
    return was_pending;
}

bool rl_latch_names_init(struct rl_latch_names *names, size_t room)
{
    *names = (struct rl_latch_names){.room = room};
    names->at = calloc(room, sizeof *names->at);
    names->store = calloc(room, sizeof *names->store);
    if (names->at && names->store)
        return true;
    rl_latch_names_fini(names);
    return false;
}

void rl_latch_names_fini(struct rl_latch_names *names)
{
    free(names->at);
    free(names->store);
}

static int compare(const struct rl_latch_name *a, struct rl_slice b)
{
    size_t common = a->size < b.size ? a->size : b.size;
    int order = memcmp(a->text, b.data, common);

    return order ? order : (a->size > b.size) - (a->size < b.size);
}

/* The place of the first name that is not in front of this one. */
static size_t place_of(const struct rl_latch_names *names, struct rl_slice name)
{
    size_t low = 0;
    size_t high = names->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare(names->at[middle], name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void rl_latch_names_add(struct rl_latch_names *names, struct rl_slice name)
{
    size_t place = place_of(names, name);
    const struct rl_latch_name **at = &names->at[place];
    struct rl_latch_name *own;

    if (names->n == names->room || (place < names->n && compare(*at, name) == 0))
        return;
    own = &names->store[names->n];
    *own = (struct rl_latch_name){.size = (unsigned char)name.size};
    memcpy(own->text, name.data, name.size);
    memmove(at + 1, at, (names->n - place) * sizeof *at);
    *at = own;
    names->n++;
}
