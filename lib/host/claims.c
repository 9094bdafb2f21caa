/* Memory of claims, and their shared keys. */
#include <stdlib.h>
#include <string.h>

#include "api/client.h"

_Static_assert(RL_TOKEN_SIZE <= REDLOCK_MAX_TOKEN_BYTES + 1, "a token of our own is a token");

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

void rl_host_claims_init(struct redlock_client *client)
{
    size_t n = client->engine.votes.config.n_nodes;

    rl_pool_init(&client->claims[false], sizeof(struct rl_host_claim) + rl_claim_size(n, &rl_mutex_kind));
    rl_pool_init(&client->claims[true], sizeof(struct rl_host_claim) + rl_claim_size(n, &rl_fenced_kind));
}

static bool set_token(struct redlock_client *client, struct rl_host_claim *host, const char *token)
{
    if (token && strlen(token) >= sizeof host->token.own.text) {
        host->token.other.empty = '\0';
        host->token.other.text = strdup(token);
        return host->token.other.text != NULL;
    }
    if (token)
        memcpy(host->token.own.text, token, strlen(token) + 1);
    else
        rl_token_make(&client->tokens, client->now, host->token.own.text);
    return true;
}

static void drop_token(struct rl_host_claim *host)
{
    if (!host->token.other.empty)
        free(host->token.other.text);
}

/* Claims of one pool have one size. */
static struct rl_pool *pool_of(struct redlock_client *client, const struct rl_kind *kind)
{
    return &client->claims[kind->has_token];
}

struct rl_claim *rl_host_claim_create(struct redlock_client *client, struct rl_key *key, const struct rl_kind *kind,
                                      const char *token, int *ret_error)
{
    struct rl_host_claim *host;

    if (client->stats.claims >= client->options.max_claims) {
        *ret_error = REDLOCK_E_LIMIT;
        return NULL;
    }
    *ret_error = REDLOCK_E_NOMEM;
    host = rl_pool_take(pool_of(client, kind));
    if (!host)
        return NULL;
    if (!set_token(client, host, token)) {
        rl_pool_give(pool_of(client, kind), host);
        return NULL;
    }
    host->key = rl_key_ref(key);
    host->token.own.asked = false;
    host->token.own.in_line = false;
    host->token.own.exposed = token != NULL;
    host->token.own.foreign = false;
    client->stats.claims++;
    return (struct rl_claim *)(host + 1);
}

void rl_host_claim_dispose(struct redlock_client *client, struct rl_claim *claim)
{
    struct rl_host_claim *host = rl_host_claim_of(claim);

    rl_waiters_leave(client, claim);
    rl_key_unref(host->key);
    host->key = NULL;
    drop_token(host);
    rl_pool_give(pool_of(client, claim->kind), host);
    client->stats.claims--;
}

/* Those in use are given up. */
static void give_up(void *piece)
{
    struct rl_host_claim *host = piece;

    if (!host->key)
        return;
    rl_key_unref(host->key);
    drop_token(host);
}

void rl_host_claims_fini(struct redlock_client *client)
{
    rl_pool_fini(&client->claims[false], give_up);
    rl_pool_fini(&client->claims[true], give_up);
}
