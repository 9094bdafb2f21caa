/* A look ends as soon as a quorum has answered and the verdict is clear, and otherwise when no more answers come. A
 * value counts if as many masters as a quorum have a live vote of it: then it may be held. */
#include "host/look.h"

#include <stdlib.h>
#include <string.h>

#include "host/commands.h"
#include "host/host.h"
#include "host/trust/admission.h"
#include "host/trust/view.h"

/* --- Answers ---------------------------------------------------------------------------------------------------- */

static bool write_command(void *ctx, unsigned node)
{
    struct rl_look *look = ctx;

    return rl_command_of_look(look->host, look->key, node);
}

static bool is_admitted_memory(const struct rl_host *host, unsigned node, struct rl_slice incarnation)
{
    struct rl_slice admitted = rl_trust_incarnation(host, node);

    return !admitted.size || rl_slice_equals(admitted, incarnation);
}

static enum rl_detail on_answer(void *ctx, unsigned node, const struct rl_reply *reply, uint32_t latency_us)
{
    struct rl_look *look = ctx;
    struct rl_look_node *own = &look->nodes[node];
    struct rl_look_answer answer;

    if (!rl_look_answer(reply, &answer))
        return RL_DETAIL_PROTOCOL;
    if (!is_admitted_memory(look->host, node, answer.incarnation)) {
        rl_trust_doubt(look->host, node, look->host->now);
        return RL_DETAIL_MEMORY_LOST;
    }
    if (!rl_bytes_append(&own->votes, answer.votes.data, answer.votes.size) ||
        !rl_bytes_append(&own->waiters, answer.waiters.data, answer.waiters.size))
        return RL_DETAIL_BACKLOG;
    own->answered = true;
    own->foreign = answer.foreign;
    own->latency_us = latency_us;
    own->counter = answer.counter;
    own->n_votes = answer.n_votes;
    own->n_waiting = answer.n_waiting;
    return RL_DETAIL_NONE;
}

static void on_failure(void *ctx, unsigned node, enum rl_detail why)
{
    struct rl_look *look = ctx;

    look->nodes[node].answered = false;
    look->nodes[node].why = why;
}

/* --- What they amount to ---------------------------------------------------------------------------------------- */

/* Values as the masters list them, one after the other. */
struct pile {
    struct rl_look_value *at;
    size_t n;
};

typedef bool (*next_fn)(struct rl_slice *text, struct rl_look_vote *ret);

static void add_list(struct pile *pile, const struct rl_bytes *list, next_fn next, size_t most, uint64_t counter)
{
    struct rl_slice rest = {rl_bytes_front(list), rl_bytes_length(list)};
    struct rl_look_vote vote;

    for (size_t i = 0; i < most && rest.size && next(&rest, &vote); i++)
        pile->at[pile->n++] = (struct rl_look_value){vote.value, vote.mode, 1, vote.left_ms, vote.ticket, counter};
}

static int by_value(const void *a, const void *b)
{
    const struct rl_look_value *x = a;
    const struct rl_look_value *y = b;
    size_t common = x->value.size < y->value.size ? x->value.size : y->value.size;
    int order = common ? memcmp(x->value.data, y->value.data, common) : 0;

    return order ? order : (x->value.size > y->value.size) - (x->value.size < y->value.size);
}

/* The values that most masters have come first. */
static int by_masters(const void *a, const void *b)
{
    const struct rl_look_value *x = a;
    const struct rl_look_value *y = b;

    return x->masters != y->masters ? (x->masters < y->masters) - (x->masters > y->masters) : by_value(a, b);
}

static int by_ticket(const void *a, const void *b)
{
    const struct rl_look_value *x = a;
    const struct rl_look_value *y = b;

    return x->ticket != y->ticket ? (x->ticket > y->ticket) - (x->ticket < y->ticket) : by_value(a, b);
}

/* While a downgrade is under way, masters know one value in two modes: the weaker one is true. */
static void merge_into(struct rl_look_value *value, const struct rl_look_value *other)
{
    value->masters++;
    value->mode = other->mode > value->mode ? other->mode : value->mode;
    if (value->left_ms >= 0 && (other->left_ms < 0 || other->left_ms > value->left_ms))
        value->left_ms = other->left_ms;
    value->ticket = other->ticket > value->ticket ? other->ticket : value->ticket;
    if (other->counter != value->counter)
        value->counter = 0;
}

/* One for each value; in the wanted order, and no more than there is room for. */
static size_t merge(struct pile *pile, int (*order)(const void *, const void *), struct rl_look_value *ret_values,
                    size_t most)
{
    size_t n = 0;

    if (!pile->n)
        return 0;
    qsort(pile->at, pile->n, sizeof pile->at[0], by_value);
    for (size_t i = 1; i < pile->n; i++) {
        if (by_value(&pile->at[n], &pile->at[i]) == 0)
            merge_into(&pile->at[n], &pile->at[i]);
        else
            pile->at[++n] = pile->at[i];
    }
    n++;
    qsort(pile->at, n, sizeof pile->at[0], order);
    n = n < most ? n : most;
    memcpy(ret_values, pile->at, n * sizeof ret_values[0]);
    return n;
}

static bool has_foreign(const struct rl_look *look)
{
    for (size_t i = 0; i < look->host->engine.votes.config.n_nodes; i++) {
        if (look->nodes[i].answered && look->nodes[i].foreign)
            return true;
    }
    return false;
}

/* Both votes of an upgrade: beside an upgradeable vote there is no exclusive one but that which is to replace it. An
 * exclusive vote on a master without the other is perhaps a rival's. */
static bool has_upgrade(const struct rl_look_node *node, struct rl_slice holder)
{
    struct rl_slice rest = {rl_bytes_front(&node->votes), rl_bytes_length(&node->votes)};
    struct rl_look_vote vote;
    bool replaced = false;
    bool exclusive = false;

    while (rest.size && rl_look_next_vote(&rest, &vote)) {
        exclusive |= vote.mode == RL_EXCLUSIVE;
        replaced |= vote.mode == RL_UPGRADEABLE && rl_slice_equals(vote.value, holder);
    }
    return exclusive && replaced;
}

static bool is_upgrading(const struct rl_look *look, const struct rl_look_value *holder)
{
    for (size_t i = 0; i < look->host->engine.votes.config.n_nodes; i++) {
        if (look->nodes[i].answered && has_upgrade(&look->nodes[i], holder->value))
            return true;
    }
    return false;
}

static enum rl_look_verdict verdict_of(const struct rl_look *look, const struct rl_look_picture *picture,
                                       unsigned answers)
{
    bool upgrading = false;

    if (answers < look->host->engine.votes.config.quorum)
        return RL_LOOK_UNKNOWN;
    if (!picture->n_values && !has_foreign(look))
        return RL_LOOK_FREE;
    if (!picture->n_holders)
        return RL_LOOK_UNSETTLED;
    for (size_t i = 0; i < picture->n_holders; i++) {
        if (picture->values[i].mode == RL_EXCLUSIVE)
            return RL_LOOK_EXCLUSIVE;
        upgrading |= picture->values[i].mode == RL_UPGRADEABLE && is_upgrading(look, &picture->values[i]);
    }
    return upgrading ? RL_LOOK_UPGRADING : RL_LOOK_SHARED;
}

bool rl_look_picture(const struct rl_look *look, struct rl_look_picture *ret_picture)
{
    size_t n_nodes = look->host->engine.votes.config.n_nodes;
    struct pile votes = {malloc(n_nodes * RL_LOOK_VOTES * sizeof *votes.at), 0};
    struct pile waiters = {malloc(n_nodes * RL_LOOK_WAITERS * sizeof *waiters.at), 0};
    bool made = votes.at && waiters.at;
    unsigned answers = 0;

    ret_picture->n_votes = ret_picture->n_waiting = 0;
    ret_picture->n_holders = 0;
    for (size_t i = 0; made && i < n_nodes; i++) {
        const struct rl_look_node *node = &look->nodes[i];

        if (!node->answered)
            continue;
        answers++;
        add_list(&votes, &node->votes, rl_look_next_vote, RL_LOOK_VOTES, node->counter);
        add_list(&waiters, &node->waiters, rl_look_next_waiter, RL_LOOK_WAITERS, 0);
        if (node->n_votes > ret_picture->n_votes)
            ret_picture->n_votes = node->n_votes;
        if (node->n_waiting > ret_picture->n_waiting)
            ret_picture->n_waiting = node->n_waiting;
    }
    if (made) {
        ret_picture->n_values = merge(&votes, by_masters, ret_picture->values, RL_LOOK_VOTES);
        ret_picture->n_waiters = merge(&waiters, by_ticket, ret_picture->waiters, RL_LOOK_WAITERS);
        while (ret_picture->n_holders < ret_picture->n_values &&
               ret_picture->values[ret_picture->n_holders].masters >= look->host->engine.votes.config.quorum)
            ret_picture->n_holders++;
        ret_picture->verdict = verdict_of(look, ret_picture, answers);
    }
    free(votes.at);
    free(waiters.at);
    return made;
}

/* --- Life ------------------------------------------------------------------------------------------------------- */

/* More answers may settle what is unsettled. */
static bool is_clear(const struct rl_look *look)
{
    struct rl_look_picture picture;

    return rl_tally_verdict(&look->read->tally) == RL_VERDICT_WON && rl_look_picture(look, &picture) &&
           picture.verdict != RL_LOOK_UNSETTLED;
}

static void on_change(void *ctx)
{
    struct rl_look *look = ctx;

    if (!look->read || !(rl_tally_is_complete(&look->read->tally) || is_clear(look)))
        return;
    rl_quorum_read_end(look->read);
    look->read = NULL;
    look->done(look);
}

bool rl_look_start(struct rl_host *host, struct rl_look *look, struct rl_key *key,
                   void (*done)(struct rl_look *look))
{
    const struct rl_quorum_reader reader = {look, RL_ASK_VOTERS, write_command, on_answer, on_failure, on_change};

    memset(look, 0, sizeof *look);
    look->host = host;
    look->key = rl_key_ref(key);
    look->done = done;
    return rl_quorum_read_start(host, &reader, &look->read);
}

void rl_look_fini(struct rl_look *look)
{
    rl_quorum_read_end(look->read);
    look->read = NULL;
    rl_key_unref(look->key);
    for (size_t i = 0; i < REDLOCK_MAX_MASTERS; i++) {
        rl_bytes_fini(&look->nodes[i].votes);
        rl_bytes_fini(&look->nodes[i].waiters);
    }
}
