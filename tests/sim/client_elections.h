/* Candidates, as lib/api/election.c has them. */
#ifndef SIM_CLIENT_ELECTIONS_H
#define SIM_CLIENT_ELECTIONS_H

#include "client.h"

/* redlock_election_campaign(), for a candidate that is IDLE; redlock_election_resign(), for one that is CAMPAIGNING or
 * LEADING. */
void client_campaign(struct client *client, struct handle *handle, const struct rl_acquire *request, bool once);
void client_resign(struct client *client, struct handle *handle);

/* What becomes of the lock of a candidate; its loss is looked at when the turn ends. */
void client_on_candidate(struct client *client, const struct completion *completion);
void client_on_candidate_lost(struct handle *handle);
void client_end_turn_of_elections(struct client *client);

#endif
