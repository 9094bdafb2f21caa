/* Memory of claims, their tokens and fencing counters, and their shared keys. */
#ifndef RL_HOST_CLAIMS_H
#define RL_HOST_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

#include <redlock/options.h>

#include "host/environment.h"
#include "util/hash.h"
#include "util/slice.h"
#include "util/table.h"
#include "votes/claim.h"
#include "votes/kind.h"

struct rl_host;
struct rl_host_claim;
struct rl_claim;
struct rl_host_lock;

/* A key, the client's prefix included; shared by its lock and by the claims that outlive it. */
struct rl_key {
    uint32_t references;
    uint16_t size;
    unsigned char bytes[];
};

/* What the host keeps with an engine's claim: right in front of it. */
struct rl_host_claim {
    struct rl_key *key; /* NULL: not in use */
    struct rl_table_node waiter;
    union {
        struct {
            char text[RL_TOKEN_SIZE];
            bool in_queue : 1;    /* notifications may name it: contended.c */
            bool exposed : 1;     /* others may know it, as of this hold alone: contended.c */
            bool transferred : 1; /* its lock has held another value, and has handed that off */
        } own;
        struct {
            char empty; /* no token is: a longer one, given by a caller, is kept elsewhere */
            char *text;
        } other;
    } token;
};

/* So many sizes do claims have at most: kinds differ by their tails, and lists of masters by their lengths. */
#define RL_CLAIM_SIZES (2 * RL_MAX_NODES)

/* A claim with this token, which others may know; NULL: with a fresh one that has this label. *ret_error: E_LIMIT or
 * E_NOMEM when NULL is returned. */
struct rl_claim *rl_host_claim_create(struct rl_host *host, struct rl_key *key, const struct rl_kind *kind,
                                      const char *token, const char *label, int *ret_error);
/* A claim for the same value, with so many masters; NULL: out of memory. What the former one is worth is the engine's
 * to say. */
struct rl_claim *rl_host_claim_copy(struct rl_host *host, const struct rl_claim *former, size_t n_nodes);
void rl_host_claim_dispose(struct rl_host *host, struct rl_claim *claim);
void rl_host_claims_fini(struct rl_host *host);

static inline struct rl_host_claim *rl_host_claim_of(const struct rl_claim *claim)
{
    return (struct rl_host_claim *)(uintptr_t)claim - 1;
}

static inline const char *rl_host_token(const struct rl_claim *claim)
{
    const struct rl_host_claim *part = rl_host_claim_of(claim);

    return part->token.other.empty ? part->token.own.text : part->token.other.text;
}

static inline struct rl_slice rl_key_slice(const struct rl_key *key)
{
    return (struct rl_slice){key->bytes, key->size};
}

static inline uint64_t rl_key_hash(const struct rl_key *key)
{
    return rl_hash(key->bytes, key->size);
}

/* A name of the library's own that belongs to the key (host/names.h), which stands between the client's prefix and the
 * rest of the key. There is room for both in `buffer`. */
struct rl_slice rl_key_name(const struct rl_key *key, size_t prefix_size, const char *name, unsigned char *buffer);

struct rl_key *rl_key_create(struct rl_slice prefix, const void *bytes, size_t size);
struct rl_key *rl_key_ref(struct rl_key *key);
void rl_key_unref(struct rl_key *key);

/* The token of a claim, which is its value on the masters: a fresh one for each attempt, with a label behind it, or
 * one that is given. */

const char *rl_host_token_label(const char *token); /* "": it has none */

/* false: out of memory. */
bool rl_host_token_set(struct rl_host_claim *part, const char *token);
void rl_host_token_drop(struct rl_host_claim *part);

/* The masters' fencing counters (rules 8.4 and 8.5): how long an idle one lives, and the numbers that the client
 * proposes for them. */

/* A counter that is not used expires when so much time has passed. */
uint64_t rl_counter_idle_ttl_ms(const struct rl_host *host);

/* A master has shown this counter for the claim's key. */
void rl_counter_note(const struct rl_claim *claim, uint64_t counter);

/* The number to propose for the counter of the lock's key, and for its ticket (rule 7.5): it follows the wall
 * clock, and is above every counter that the pending attempt has been shown. */
uint64_t rl_counter_propose(const struct rl_host_lock *lock);

#endif
