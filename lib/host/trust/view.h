/* The list of masters that the client goes by, and how it follows a newer one (rules 15). */
#ifndef RL_HOST_TRUST_VIEW_H
#define RL_HOST_TRUST_VIEW_H

#include <stdint.h>

#include "host/host.h"
#include "util/instant.h"
#include "util/slice.h"
#include "votes/view.h"

/* The client's view as JOIN carries it; empty: the list that it is configured with. */
static inline struct rl_slice rl_trust_view(const struct rl_host *host)
{
    return (struct rl_slice){rl_bytes_front(&host->trust.view_text), rl_bytes_length(&host->trust.view_text)};
}

/* How far ahead of the clock proposals for fencing counters are (rule 15.13). */
static inline uint64_t rl_trust_lead(const struct rl_host *host)
{
    return host->trust.view ? host->trust.view->lead_us : 0;
}

/* Members that have said that they vote by the client's list. */
uint32_t rl_trust_greeted_members(const struct rl_host *host);

/* The number of a master; -1: the client does not know it. */
int rl_trust_place_of(const struct rl_host *host, const char *node_id);

/* A master's marker has a newer view. NULL: the client goes by it from now on, and greets all its members; one with
 * the list that it has already changes nothing else. Otherwise why it does not: then it goes on as before, without
 * that master. */
const char *rl_trust_adopt(struct rl_host *host, struct rl_slice view, struct rl_instant now);

/* Is the master asked by which list it votes? Until it has answered, nothing that it says counts. */
bool rl_trust_is_greeting(const struct rl_host *host, unsigned node);

/* The marker has another incarnation than the one that was admitted. Nothing that the master says counts until it has
 * answered JOIN. */
void rl_trust_doubt(struct rl_host *host, unsigned node, struct rl_instant now);

/* The master has answered JOIN, and `counts`: it votes by the client's list, now or later; or its link has gone. */
void rl_trust_end_greeting(struct rl_host *host, unsigned node, bool counts, struct rl_instant now);

/* The master has not answered in its time: what waits for it goes on without it. Its answer still ends the greeting. */
void rl_trust_greeting_is_late(struct rl_host *host, unsigned node, struct rl_instant now);

/* A master that has left the list may still have votes to give back. True: it has none any more, and its connection is
 * closed. */
bool rl_trust_dismiss(struct rl_host *host, unsigned node, struct rl_instant now);

/* A master that an operator's run asks, a member or not: it is connected and greeted, and is not let go before
 * rl_trust_uninvite(). `looks`: nothing is written there. *ret_place: its number, if it has one now. NULL, or why there
 * is no connection. */
const char *rl_trust_invite(struct rl_host *host, const struct rl_member *member, bool looks, struct rl_instant now,
                            unsigned *ret_place);
void rl_trust_uninvite(struct rl_host *host);

#endif
