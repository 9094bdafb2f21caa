/* Callbacks on the stack keep it, and looks that have yet to call back. */
#include "api/election_memory.h"

#include "api/election.h"
#include "api/handle.h"
#include "api/lifetime.h"

void rl_election_enter(struct redlock_election *election)
{
    election->depth++;
    election->client->depth++;
}

/* A look that has yet to call back keeps the memory; in a forked child none does. */
void rl_election_leave(struct redlock_election *election)
{
    bool awaited = election->looks.looking && !rl_client_forked(election->client);

    election->client->depth--;
    if (--election->depth == 0 && election->destroyed && !awaited)
        rl_client_defer_free(election->client, &election->link);
}
