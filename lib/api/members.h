/* Masters that come with a new list (rules 15): how the client reaches them, and whether it may. */
#ifndef RL_API_MEMBERS_H
#define RL_API_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>

struct redlock_client;
struct rl_host;
struct rl_master;
struct rl_member_list;

/* The list that the client was created with, which is kept from then on; NULL: out of memory. */
const struct rl_member_list *rl_client_configured(struct redlock_client *client);

/* The masters that the client is configured with, and behind them those of the list to which its own change leads. */
const struct rl_master *rl_client_known_master(const struct redlock_client *client, size_t i);

/* Why clients that are configured as this one is would not reach a master like that by a list that is told to them;
 * NULL: they would. */
const char *rl_client_why_not_like(const struct redlock_client *client, const struct rl_master *coming);

/* As new_member, name_member and place_of of struct rl_host_sink. */
bool rl_client_new_member(struct rl_host *host, unsigned node, const char *name, const char **ret_why_not);
void rl_client_name_member(struct rl_host *host, unsigned node, const char *name);
int rl_client_place_of(struct rl_host *host, const char *name);

#endif
