/* Memory of claims, and their shared keys. */
#include "host/claims.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/options.h>
#include <redlock/status.h>

#include "host/host.h"
#include "host/trust/view.h"

/* --- Keys ------------------------------------------------------------------------------------------------------- */

struct rl_key *rl_key_create(struct rl_slice prefix, const void *bytes, size_t size)
{
    struct rl_key *key = malloc(sizeof *key + prefix.size + size);

    if (!key)
        return NULL;
    key->references = 1;
    key->size = (uint16_t)(prefix.size + size);
    memcpy(key->bytes, prefix.data, prefix.size);
    memcpy(key->bytes + prefix.size, bytes, size);
    return key;
}

struct rl_slice rl_key_name(const struct rl_key *key, size_t prefix_size, const char *name, unsigned char *buffer)
{
    size_t name_size = strlen(name);

    memcpy(buffer, key->bytes, prefix_size);
    memcpy(buffer + prefix_size, name, name_size);
    memcpy(buffer + prefix_size + name_size, key->bytes + prefix_size, key->size - prefix_size);
    return (struct rl_slice){buffer, name_size + key->size};
}

struct rl_key *rl_key_ref(struct rl_key *key)
{
    key->references++;
    return key;
}

void rl_key_unref(struct rl_key *key)
{
    if (key && --key->references == 0)
        free(key);
}

/* --- Claims ----------------------------------------------------------------------------------------------------- */

/* A piece is the host's part, and the engine's claim behind it. The host's has no key while it is not in use. */
_Static_assert(sizeof(struct rl_host_claim) % _Alignof(struct rl_claim) == 0, "a claim can follow");
_Static_assert(_Alignof(struct rl_host_claim) == _Alignof(struct rl_claim), "pieces can follow each other");

/* Claims of one size share a pool, which begins with the first of them. */
static struct rl_pool *pool_of(struct rl_host *host, size_t n_nodes, const struct rl_kind *kind)
{
    size_t size = sizeof(struct rl_host_claim) + rl_claim_size(n_nodes, kind);
    size_t i = 0;

    while (host->claims[i].size && host->claims[i].size != size) {
        i++;
        assert(i < RL_CLAIM_SIZES);
    }
    if (!host->claims[i].size)
        rl_pool_init(&host->claims[i], size);
    return &host->claims[i];
}

static void make_token(struct rl_host *host, const char *label, char ret_token[REDLOCK_MAX_TOKEN_BYTES + 1])
{
    host->environment.make_token(host->environment.ctx, host->now, ret_token);
    if (label && *label)
        snprintf(ret_token + RL_TOKEN_SIZE - 1, REDLOCK_MAX_LABEL_BYTES + 2, ":%s", label);
}

static struct rl_claim *create(struct rl_host *host, struct rl_key *key, size_t n_nodes, const struct rl_kind *kind,
                               const char *token, const char *label)
{
    struct rl_pool *pool = pool_of(host, n_nodes, kind);
    struct rl_host_claim *part = rl_pool_take(pool);
    char fresh[REDLOCK_MAX_TOKEN_BYTES + 1];

    if (!part)
        return NULL;
    if (!token)
        make_token(host, label, fresh);
    if (!rl_host_token_set(part, token ? token : fresh)) {
        rl_pool_give(pool, part);
        return NULL;
    }
    part->key = rl_key_ref(key);
    part->token.own.in_queue = false;
    part->token.own.exposed = token != NULL;
    part->token.own.transferred = false;
    host->counters.claims++;
    return (struct rl_claim *)(part + 1);
}

struct rl_claim *rl_host_claim_create(struct rl_host *host, struct rl_key *key, const struct rl_kind *kind,
                                      const char *token, const char *label, int *ret_error)
{
    struct rl_claim *claim = NULL;

    *ret_error = REDLOCK_E_LIMIT;
    if (host->counters.claims < host->options->max_claims) {
        *ret_error = REDLOCK_E_NOMEM;
        claim = create(host, key, host->engine.votes.config.n_nodes, kind, token, label);
    }
    return claim;
}

struct rl_claim *rl_host_claim_copy(struct rl_host *host, const struct rl_claim *former, size_t n_nodes)
{
    const struct rl_host_claim *part = rl_host_claim_of(former);
    struct rl_claim *claim = create(host, part->key, n_nodes, former->kind, rl_host_token(former), NULL);

    if (claim)
        rl_claim_init(claim, n_nodes, former->quorum, former->kind);
    return claim;
}

void rl_host_claim_dispose(struct rl_host *host, struct rl_claim *claim)
{
    struct rl_host_claim *part = rl_host_claim_of(claim);

    rl_waiters_leave(host, claim);
    rl_key_unref(part->key);
    part->key = NULL;
    rl_host_token_drop(part);
    rl_pool_give(pool_of(host, claim->n_nodes, claim->kind), part);
    host->counters.claims--;
}

/* Gives up a claim that is in use. */
static void give_up(void *piece)
{
    struct rl_host_claim *part = piece;

    if (!part->key)
        return;
    rl_key_unref(part->key);
    rl_host_token_drop(part);
}

void rl_host_claims_fini(struct rl_host *host)
{
    for (size_t i = 0; i < RL_CLAIM_SIZES; i++)
        rl_pool_fini(&host->claims[i], give_up);
}

_Static_assert(RL_TOKEN_SIZE + 1 + REDLOCK_MAX_LABEL_BYTES <= REDLOCK_MAX_TOKEN_BYTES + 1,
               "a token of our own, with its label, is a token");

bool rl_host_token_set(struct rl_host_claim *part, const char *token)
{
    if (strlen(token) >= sizeof part->token.own.text) {
        part->token.other.empty = '\0';
        part->token.other.text = strdup(token);
        return part->token.other.text != NULL;
    }
    memcpy(part->token.own.text, token, strlen(token) + 1);
    return true;
}

const char *rl_host_token_label(const char *token)
{
    return strlen(token) > RL_TOKEN_SIZE - 1 ? token + RL_TOKEN_SIZE : "";
}

void rl_host_token_drop(struct rl_host_claim *part)
{
    if (!part->token.other.empty)
        free(part->token.other.text);
}

/* rule 8.5: "idle expiry >= 24 h and >= 10 max_ttl, refreshed on use". */
#define IDLE_TTL_MS (24 * 3600 * 1000)
#define IDLE_TTL_MAX_TTLS 10

uint64_t rl_counter_idle_ttl_ms(const struct rl_host *host)
{
    uint64_t long_enough = (uint64_t)host->engine.votes.config.max_ttl_ms * IDLE_TTL_MAX_TTLS;

    return long_enough > IDLE_TTL_MS ? long_enough : IDLE_TTL_MS;
}

void rl_counter_note(const struct rl_claim *claim, uint64_t counter)
{
    struct rl_host_lock *lock = rl_host_claim_lock(claim);

    if (lock && lock->call && counter > lock->call->counter)
        lock->call->counter = counter;
}

/* Tickets are at least that: 1 belongs to those who stand in front of the wait queue (engine/acquire.c). */
#define SMALLEST_PROPOSAL 2

/* rule 8.4: "max(client wall clock in microseconds, last c seen for this key + 1)"; and rule 15.13: "the clock is
 * ahead by the lead of the list". */
uint64_t rl_counter_propose(const struct rl_host_lock *lock)
{
    const struct rl_environment *environment = &lock->host->environment;
    const struct rl_host_call *call = lock->call;
    uint64_t wall = environment->wall_us(environment->ctx);

    if (wall < SMALLEST_PROPOSAL)
        wall = SMALLEST_PROPOSAL;
    wall += rl_trust_lead(lock->host);
    return call && call->counter >= wall ? call->counter + 1 : wall;
}
