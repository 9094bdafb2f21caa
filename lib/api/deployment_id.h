/* The id of a list of masters and their names: the same for the same masters, in whatever order. */
#ifndef RL_API_DEPLOYMENT_ID_H
#define RL_API_DEPLOYMENT_ID_H

#include <stddef.h>

#include "codec/url.h"
#include "votes/view.h"

/* One more member of the list: its name, and its node id, which is made from it. */
void rl_deployment_add_member(struct rl_member_list *list, const struct rl_master *master);

/* Writes the id of a list whose members and quorum are complete. */
void rl_deployment_name_list(const char *prefix, struct rl_member_list *list);

/* The URL of a member without user, password and TLS; to be freed. NULL: out of memory. */
char *rl_deployment_url(const char *member_name);

#endif
