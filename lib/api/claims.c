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

#define BLOCK_CLAIMS 64

/* A block holds so many pieces; each is the host's part, and the engine's claim behind it. */
struct rl_claim_block {
    struct rl_claim_block *next;
    max_align_t pieces[];
};

_Static_assert(sizeof(struct rl_host_claim) % _Alignof(struct rl_claim) == 0, "a claim can follow");
_Static_assert(_Alignof(struct rl_host_claim) == _Alignof(struct rl_claim), "pieces can follow each other");

void rl_host_claims_init(struct redlock_client *client)
{
    size_t n = client->engine.config.n_nodes;

    client->claims[false].size = sizeof(struct rl_host_claim) + rl_claim_size(n, false);
    client->claims[true].size = sizeof(struct rl_host_claim) + rl_claim_size(n, true);
}

static struct rl_host_claim *piece_of(struct rl_claim_block *block, size_t size, size_t i)
{
    return (struct rl_host_claim *)(void *)((char *)block->pieces + i * size);
}

/* A claim that is not in use begins with the pointer to the next such one. */
static void spare(struct rl_claim_store *store, void *claim)
{
    *(void **)claim = store->spare;
    store->spare = claim;
}

static bool add_block(struct rl_claim_store *store)
{
    struct rl_claim_block *block = malloc(sizeof *block + BLOCK_CLAIMS * store->size);

    if (!block)
        return false;
    block->next = store->blocks;
    store->blocks = block;
    for (size_t i = BLOCK_CLAIMS; i-- > 0;) {
        struct rl_host_claim *host = piece_of(block, store->size, i);

        host->key = NULL;
        spare(store, host + 1);
    }
    return true;
}

static struct rl_claim *allocate(struct rl_claim_store *store)
{
    void *claim;

    if (!store->spare && !add_block(store))
        return NULL;
    claim = store->spare;
    store->spare = *(void **)claim;
    return claim;
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

struct rl_claim *rl_host_claim_create(struct redlock_client *client, struct rl_key *key, bool fenced,
                                      const char *token, int *ret_error)
{
    struct rl_claim *claim;

    if (client->stats.claims >= client->options.max_claims) {
        *ret_error = REDLOCK_E_LIMIT;
        return NULL;
    }
    *ret_error = REDLOCK_E_NOMEM;
    claim = allocate(&client->claims[fenced]);
    if (!claim)
        return NULL;
    if (!set_token(client, rl_host_claim_of(claim), token)) {
        spare(&client->claims[fenced], claim);
        return NULL;
    }
    rl_host_claim_of(claim)->key = rl_key_ref(key);
    rl_host_claim_of(claim)->token.own.in_line = false;
    client->stats.claims++;
    return claim;
}

void rl_host_claim_dispose(struct redlock_client *client, struct rl_claim *claim)
{
    struct rl_host_claim *host = rl_host_claim_of(claim);

    rl_waiters_leave(client, claim);
    rl_key_unref(host->key);
    host->key = NULL;
    drop_token(host);
    spare(&client->claims[claim->fenced], claim);
    client->stats.claims--;
}

/* Those in use are given up. */
static void free_block(struct rl_claim_block *block, size_t size)
{
    for (size_t i = 0; i < BLOCK_CLAIMS; i++) {
        struct rl_host_claim *host = piece_of(block, size, i);

        if (!host->key)
            continue;
        rl_key_unref(host->key);
        drop_token(host);
    }
    free(block);
}

void rl_host_claims_fini(struct redlock_client *client)
{
    for (int fenced = 0; fenced < 2; fenced++) {
        struct rl_claim_block *block = client->claims[fenced].blocks;

        while (block) {
            struct rl_claim_block *next = block->next;

            free_block(block, client->claims[fenced].size);
            block = next;
        }
    }
}
