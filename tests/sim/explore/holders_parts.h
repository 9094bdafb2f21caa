/* Inside the tiny world of locks that share and convert: what its files have in common. Not for the search. */
#ifndef SIM_HOLDERS_PARTS_H
#define SIM_HOLDERS_PARTS_H

#include "holders.h"

/* In the wait queue, a new value's number is above all that the master has given, and this at least. */
#define HOLDERS_PROPOSED_TICKET 2

/* --- holders_host.c ----------------------------------------------------------------------------------------------- */

void holders_push(struct holders_pipe *pipe, struct holders_message message);
struct holders_message holders_shift(struct holders_pipe *pipe);

/* Which of the client's claims this is. */
uint8_t holders_number_of(const struct holders_client *client, const struct rl_claim *claim);

/* Carries out what the engine wants done; to be called after every event. */
void holders_pump(struct holders *world, const struct holders_setup *setup, unsigned client);

void holders_acquire(struct holders *world, const struct holders_setup *setup, unsigned client);
void holders_upgrade(struct holders *world, unsigned client, bool once);
void holders_cancel(struct holders *world, const struct holders_setup *setup, unsigned client);
void holders_release(struct holders *world, const struct holders_setup *setup, unsigned client);

/* --- holders_master.c --------------------------------------------------------------------------------------------- */

/* The next command that is on its way is carried out. */
void holders_carry_out(struct holders *world, const struct holders_setup *setup, unsigned client, unsigned master);

/* The next reply, or notification, arrives. */
void holders_deliver(struct holders *world, const struct holders_setup *setup, unsigned client, unsigned master);
void holders_notify(struct holders *world, const struct holders_setup *setup, unsigned client, unsigned master);

/* --- holders_check.c ---------------------------------------------------------------------------------------------- */

bool holders_is_valid(const struct holders *world, unsigned client);

/* The value has neither a vote nor an entry in a queue on any master. */
bool holders_is_gone(const struct holders *world, const struct holders_setup *setup, unsigned client, unsigned claim);

#endif
