/* Of a held lock as text: from which list of masters it comes, and what it is worth by the list of who reads it
 * (rules 15). */
#ifndef RL_API_TRANSFER_LIST_H
#define RL_API_TRANSFER_LIST_H

#include <stdbool.h>
#include <stdio.h>

#include "api/handle.h"
#include "engine/lock.h"
#include "host/operations.h"

/* Whose bounds a text has, one after the other. */
struct rl_transfer_order {
    size_t n;
    size_t quorum;
    int places[RL_MAX_NODES]; /* numbers of the client's masters; -1: it does not know this one */
};

/* That of the client's list. false: out of memory. */
bool rl_transfer_find_order(struct redlock_client *client, struct rl_transfer_order *ret_order);

/* A mask of masters in that order, and back. */
uint32_t rl_transfer_in_order(const struct rl_transfer_order *order, uint32_t nodes);
uint32_t rl_transfer_by_node(const struct rl_transfer_order *order, uint32_t mask);

void rl_transfer_put_hex(FILE *out, const unsigned char *bytes, size_t size);
void rl_transfer_put_bounds(FILE *out, struct redlock_client *client, const struct rl_transfer_order *order,
                            const struct rl_instant *bounds);
void rl_transfer_put_list(FILE *out, struct redlock_client *client, const struct rl_transfer_order *order,
                          const struct rl_exported_state *state);

bool rl_transfer_read_number(const char *text, uint64_t limit, uint64_t *ret_number);
bool rl_transfer_read_u32(const char *text, uint32_t limit, uint32_t *ret_number);

/* What a text says of its list. */
struct rl_transfer_origin {
    struct rl_transfer_order order;
    bool older;         /* the client goes by a newer one */
    uint32_t ungreeted; /* in that order, as the following ones */
    uint32_t newcomers;
    struct rl_instant standing;
    struct rl_instant bounds[RL_MAX_NODES];
};

/* Reads the list; a client that knows less goes by it from then on. */
bool rl_transfer_read_list(struct redlock_client *client, char *text, uint32_t longest_ttl_ms,
                           struct rl_transfer_origin *ret_origin);
bool rl_transfer_read_instants(struct redlock_client *client, char *text, uint32_t longest_ttl_ms,
                               struct rl_instant *ret_at, size_t n);
void rl_transfer_take_ledger(const struct redlock_client *client, const struct rl_transfer_origin *origin,
                             struct rl_host_exported *ret);

#endif
