/* Extensions that one loop turn wants of many locks go out together: one command for each master and up to
 * RL_EXTEND_MANY_MAX locks, written once, which costs the masters and this process a fraction of what single ones do.
 *
 *     RL_EFFECT_SEND, EXTEND  ->  gathered  ->  flushed before anything else is written, and at the end of the turn
 *
 * So the order of effects is kept on each connection. What is gathered together has the same ttl and the same masters.
 * The reply is taken apart here: for the engine nothing is different from single commands. */
#include <stdlib.h>

#include "api/client.h"
#include "codec/classify.h"
#include "codec/command.h"
#include "util/fetch.h"

/* One for the command to all masters. It goes back among the spare ones when the last of them has ended it. */
struct rl_extensions {
    struct rl_list link;    /* in the client's list of all */
    struct rl_extensions *next_spare;
    struct rl_instant sent; /* of the first */
    size_t n;
    unsigned unanswered;    /* masters */
    struct {
        struct rl_claim *claim;
        uint32_t round;
    } entries[RL_EXTEND_MANY_MAX];
};

/* --- Memory ----------------------------------------------------------------------------------------------------- */

void rl_extend_many_init(struct redlock_client *client)
{
    rl_list_init(&client->extending.all);
}

void rl_extend_many_fini(struct redlock_client *client)
{
    while (!rl_list_empty(&client->extending.all)) {
        struct rl_extensions *extensions = RL_CONTAINER_OF(client->extending.all.next, struct rl_extensions, link);

        rl_list_remove(&extensions->link);
        free(extensions);
    }
}

static struct rl_extensions *borrow(struct rl_extending *extending)
{
    struct rl_extensions *extensions = extending->spare;

    if (extensions) {
        extending->spare = extensions->next_spare;
    } else {
        extensions = malloc(sizeof *extensions);
        if (!extensions)
            return NULL;
        rl_list_init(&extensions->link);
        rl_list_append(&extending->all, &extensions->link);
    }
    extensions->n = 0;
    extensions->unanswered = 0;
    return extensions;
}

static void give_back(struct rl_extending *extending, struct rl_extensions *extensions)
{
    extensions->next_spare = extending->spare;
    extending->spare = extensions;
}

/* --- Out -------------------------------------------------------------------------------------------------------- */

static struct rl_ticket ticket_of(struct rl_extensions *extensions)
{
    return (struct rl_ticket){.owner = extensions, .sent = extensions->sent, .step = RL_TICKET_EXTEND_MANY};
}

static struct rl_ticket single_ticket(const struct rl_extensions *extensions, size_t i)
{
    return (struct rl_ticket){.owner = extensions->entries[i].claim, .sent = extensions->sent,
                              .round = extensions->entries[i].round, .step = RL_STEP_EXTEND};
}

static bool encode(struct redlock_client *client, const struct rl_extensions *extensions, enum rl_send_as send_as)
{
    struct rl_extend_many many = {.n = extensions->n, .ttl_ms = client->extending.ttl_ms};

    for (size_t i = 0; i < extensions->n; i++) {
        const struct rl_claim *claim = extensions->entries[i].claim;
        const struct rl_key *key = rl_host_claim_of(claim)->key;

        many.keys[i] = (struct rl_slice){key->bytes, key->size};
        many.tokens[i] = (struct rl_slice){rl_host_token(claim), strlen(rl_host_token(claim))};
    }
    rl_bytes_clear(&client->scratch);
    return rl_extend_many_encode(&many, send_as, &client->scratch);
}

static void refuse(struct redlock_client *client, const struct rl_extensions *extensions, unsigned node)
{
    struct rl_answer refusal = {RL_FAILED, RL_DETAIL_BACKLOG, 0};

    for (size_t i = 0; i < extensions->n; i++)
        rl_engine_reply(&client->engine, client->now, extensions->entries[i].claim, RL_STEP_EXTEND,
                        extensions->entries[i].round, node, refusal, RL_NO_LATENCY);
}

/* A master that has turned out not to know the script gets its text this time. */
static void write_to(struct redlock_client *client, struct rl_extensions *extensions, unsigned node)
{
    struct rl_extending *extending = &client->extending;
    uint32_t bit = UINT32_C(1) << node;
    enum rl_send_as send_as = extending->unknown_to & bit ? RL_SEND_EVAL : RL_SEND_EVALSHA;
    struct rl_ticket ticket = ticket_of(extensions);

    if (extending->encoded_as != send_as)
        extending->encoded_as = encode(client, extensions, send_as) ? send_as : RL_SEND_PLAIN;
    if (extending->encoded_as != send_as ||
        !rl_driver_send(client->driver, node, rl_bytes_front(&client->scratch), rl_bytes_length(&client->scratch),
                        false, &ticket)) {
        refuse(client, extensions, node);
        return;
    }
    extending->unknown_to &= ~bit;
    extensions->unanswered++;
    client->stats.commands++;
}

/* A single command is formatted as the claim is now. If it has been asked for another round meanwhile, that may have
 * another ttl, which masters that are not part of it do not know of: this one must have the ttl of its own. */
static bool is_latest(const struct rl_extending *extending, const struct rl_extensions *extensions)
{
    const struct rl_claim *claim = extensions->entries[0].claim;

    return claim->round == extensions->entries[0].round && claim->ttl_ms == extending->ttl_ms;
}

static void write_one(struct redlock_client *client, const struct rl_extensions *extensions)
{
    struct rl_effect effect = {.kind = RL_EFFECT_SEND, .step = RL_STEP_EXTEND, .nodes = client->extending.nodes,
                               .claim = extensions->entries[0].claim, .round = extensions->entries[0].round};

    rl_host_send_now(client, &effect);
}

bool rl_extend_many_flush(struct redlock_client *client)
{
    struct rl_extending *extending = &client->extending;
    struct rl_extensions *extensions = extending->gathered;

    if (!extensions)
        return false;
    extending->gathered = NULL;
    extending->encoded_as = RL_SEND_PLAIN;
    if (extensions->n == 1 && is_latest(extending, extensions)) {
        write_one(client, extensions);
    } else {
        for (unsigned node = 0; node < client->engine.config.n_nodes; node++) {
            if (extending->nodes & (UINT32_C(1) << node))
                write_to(client, extensions, node);
        }
    }
    if (!extensions->unanswered)
        give_back(extending, extensions);
    return true;
}

static bool fits(const struct rl_extending *extending, const struct rl_effect *effect)
{
    return extending->gathered && extending->nodes == effect->nodes && extending->ttl_ms == effect->claim->ttl_ms;
}

bool rl_extend_many_gather(struct redlock_client *client, const struct rl_effect *effect)
{
    struct rl_extending *extending = &client->extending;
    struct rl_extensions *extensions;

    if (!fits(extending, effect)) {
        rl_extend_many_flush(client);
        extending->gathered = borrow(extending);
        if (!extending->gathered)
            return false;
        extending->gathered->sent = client->now;
        extending->nodes = effect->nodes;
        extending->ttl_ms = effect->claim->ttl_ms;
        rl_driver_wake(client->driver);
    }
    extensions = extending->gathered;
    extensions->entries[extensions->n].claim = effect->claim;
    extensions->entries[extensions->n].round = effect->round;
    if (++extensions->n == RL_EXTEND_MANY_MAX)
        rl_extend_many_flush(client);
    return true;
}

/* --- In --------------------------------------------------------------------------------------------------------- */

/* What keeps several keys from being extended together may be no obstacle to each of them: one that the user may not
 * touch, a proxy that wants the keys of a command to lie together, an error of one in the middle. Then each is asked for
 * alone. */
static bool alone(struct redlock_client *client, unsigned node, const struct rl_ticket *single,
                  struct rl_answer answer)
{
    bool perhaps_only_together = answer.detail == RL_DETAIL_NOPERM || answer.detail == RL_DETAIL_CROSSSLOT ||
                                 answer.detail == RL_DETAIL_ERROR;

    if (!perhaps_only_together || !rl_host_repeat_alone(client, node, single))
        return false;
    if (answer.outcome == RL_UNKNOWN)
        rl_engine_note_unknown(&client->engine, client->now, single->owner, node);
    return true;
}

/* One master less; who was the last of them gives it back. */
static void end_for_one(struct redlock_client *client, struct rl_extensions *extensions)
{
    if (--extensions->unanswered == 0)
        give_back(&client->extending, extensions);
}

/* The claims of the entries some way ahead, and a bit less far the locks to which those lead. */
#define FETCH_CLAIM 8
#define FETCH_LOCK 4

static void fetch_ahead(const struct redlock_client *client, const struct rl_extensions *extensions, size_t i)
{
    if (i + FETCH_CLAIM < extensions->n)
        rl_fetch(extensions->entries[i + FETCH_CLAIM].claim, rl_claim_size(client->engine.config.n_nodes, false));
    if (i + FETCH_LOCK < extensions->n && extensions->entries[i + FETCH_LOCK].claim->lock)
        rl_fetch(extensions->entries[i + FETCH_LOCK].claim->lock, sizeof(struct rl_lock));
}

void rl_extend_many_answered(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket,
                             const struct rl_reply *reply, struct rl_instant now)
{
    struct rl_extensions *extensions = ticket->owner;

    for (size_t i = 0; i < extensions->n; i++) {
        struct rl_ticket single = single_ticket(extensions, i);
        struct rl_answer answer = rl_classify_many(reply, i, extensions->n);

        fetch_ahead(client, extensions, i);
        if (answer.detail == RL_DETAIL_NOSCRIPT)
            client->extending.unknown_to |= UINT32_C(1) << node;
        if (!alone(client, node, &single, answer))
            rl_host_answered(client, node, &single, answer, now);
    }
    end_for_one(client, extensions);
}

void rl_extend_many_dropped(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket,
                            struct rl_answer answer)
{
    struct rl_extensions *extensions = ticket->owner;

    for (size_t i = 0; i < extensions->n; i++) {
        struct rl_ticket single = single_ticket(extensions, i);

        rl_host_ended(client, node, &single, answer, RL_NO_LATENCY);
    }
    end_for_one(client, extensions);
}
