/* Memory of claims, and their shared keys. */
#include <stdlib.h>
#include <string.h>

#include "api/client.h"

_Static_assert(RL_TOKEN_SIZE <= REDLOCK_MAX_TOKEN_BYTES + 1, "a token holds a UUID");

struct rl_key *rl_key_create(const void *bytes, size_t size)
{
    struct rl_key *key = malloc(sizeof *key + size);

    if (!key)
        return NULL;
    key->references = 1;
    key->size = size;
    memcpy(key->bytes, bytes, size);
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

_Static_assert(sizeof(struct rl_host_claim) % _Alignof(struct rl_claim) == 0, "a claim can follow");

static struct rl_host_claim *allocate_new(const struct redlock_client *client)
{
    struct rl_host_claim *host = malloc(sizeof *host + rl_claim_size(client->engine.config.n_nodes));

    if (!host)
        return NULL;
    rl_list_init(&host->link);
    host->claim = (struct rl_claim *)(void *)(host + 1);
    host->claim->host = host;
    return host;
}

static struct rl_host_claim *allocate(struct redlock_client *client)
{
    struct rl_host_claim *host;

    if (rl_list_empty(&client->spare_claims))
        return allocate_new(client);
    host = RL_CONTAINER_OF(client->spare_claims.next, struct rl_host_claim, link);
    rl_list_remove(&host->link);
    return host;
}

struct rl_claim *rl_host_claim_create(struct redlock_client *client, struct rl_key *key, const char *token,
                                      int *ret_error)
{
    struct rl_host_claim *host;

    if (client->stats.claims >= client->options.max_claims) {
        *ret_error = REDLOCK_E_LIMIT;
        return NULL;
    }
    host = allocate(client);
    if (!host) {
        *ret_error = REDLOCK_E_NOMEM;
        return NULL;
    }
    host->key = rl_key_ref(key);
    host->recipe = &rl_mutex_recipe;
    if (token)
        memcpy(host->token, token, strlen(token) + 1);
    else
        rl_token_make(&client->tokens, client->now, host->token);
    rl_list_append(&client->claims, &host->link);
    client->stats.claims++;
    return host->claim;
}

/* Spare claims are kept: their number is the largest that was ever in use at once, and that is limited. */
void rl_host_claim_dispose(struct redlock_client *client, struct rl_claim *claim)
{
    struct rl_host_claim *host = rl_host_claim_of(claim);

    rl_key_unref(host->key);
    rl_list_remove(&host->link);
    rl_list_append(&client->spare_claims, &host->link);
    client->stats.claims--;
}

static void free_list(struct rl_list *list, bool live)
{
    while (!rl_list_empty(list)) {
        struct rl_host_claim *host = RL_CONTAINER_OF(list->next, struct rl_host_claim, link);

        rl_list_remove(&host->link);
        if (live)
            rl_key_unref(host->key);
        free(host);
    }
}

void rl_host_claims_fini(struct redlock_client *client)
{
    free_list(&client->claims, true);
    free_list(&client->spare_claims, false);
}
