/* Of a held lock as text: from which list of masters it comes, and what it is worth by the list of who reads it
 * (rules 15). */
#ifndef RL_API_TRANSFER_LIST_H
#define RL_API_TRANSFER_LIST_H

#include <stdbool.h>
#include <stdio.h>

#include "api/handle.h"
#include "engine/lock.h"
#include "host/operations.h"

/* That of the client's list. false: out of memory. */
bool rl_transfer_find_order(struct redlock_client *client, struct rl_host_order *ret_order);

void rl_transfer_put_hex(FILE *out, const unsigned char *bytes, size_t size);
void rl_transfer_put_instants(FILE *out, struct redlock_client *client, const struct rl_instant *at, size_t n);
void rl_transfer_put_list(FILE *out, struct redlock_client *client, const struct rl_host_origin *origin);

bool rl_transfer_read_number(const char *text, uint64_t limit, uint64_t *ret_number);
bool rl_transfer_read_u32(const char *text, uint32_t limit, uint32_t *ret_number);

/* Reads the list; a client that knows less goes by it from then on. */
bool rl_transfer_read_list(struct redlock_client *client, char *text, uint32_t longest_ttl_ms,
                           struct rl_host_origin *ret_origin);
bool rl_transfer_read_instants(struct redlock_client *client, char *text, uint32_t longest_ttl_ms,
                               struct rl_instant *ret_at, size_t n);

#endif
