/* Inside the tiny world: what its files share. Not for the search. */
#ifndef SIM_TINY_PARTS_H
#define SIM_TINY_PARTS_H

#include "tiny.h"

/* --- tiny.c: the host --------------------------------------------------------------------------------------------- */

uint32_t tiny_ms(unsigned ticks);

/* Which of the client's claims this is. */
uint8_t tiny_number_of(const struct tiny *tiny, unsigned client, const struct rl_claim *claim);

void tiny_push(struct tiny_pipe *pipe, struct tiny_message message);
struct tiny_message tiny_shift(struct tiny_pipe *pipe);

/* Tells the engine the end of a command. */
void tiny_tell(struct tiny *tiny, unsigned client, unsigned master, struct tiny_message message);

/* Carries out what the engine wants done; to be called after every event. */
void tiny_pump(struct tiny *tiny, const struct tiny_setup *setup, unsigned client);

/* The client begins its acquisition. */
void tiny_start(struct tiny *tiny, const struct tiny_setup *setup, unsigned client);

/* Does the master hold the value of this claim? */
bool tiny_holds(const struct tiny *tiny, unsigned master, unsigned client, unsigned claim);

/* --- tiny_master.c ------------------------------------------------------------------------------------------------ */

/* The next command that is on its way, or that survives from a dead connection. */
void tiny_carry_out(struct tiny *tiny, unsigned client, unsigned master);
void tiny_carry_out_ghost(struct tiny *tiny, unsigned client, unsigned master);

/* The next reply that is on its way. */
void tiny_deliver(struct tiny *tiny, const struct tiny_setup *setup, unsigned client, unsigned master);

void tiny_break(struct tiny *tiny, const struct tiny_setup *setup, struct search_action action);

/* The client gives the connection up; what is on its way lives on. */
void tiny_give_up(struct tiny *tiny, const struct tiny_setup *setup, unsigned client, unsigned master);

/* All connections to the master end, with all that was on its way to it. */
void tiny_crash(struct tiny *tiny, const struct tiny_setup *setup, unsigned master);

/* The key is gone, and the marker with it. */
void tiny_empty(struct tiny_master *master);

/* --- tiny_trust.c ------------------------------------------------------------------------------------------------- */

/* A connection begins: the master is admitted, and may be asked from then on. */
void tiny_join(struct tiny *tiny, const struct tiny_setup *setup, unsigned client, unsigned master);

/* Writes epoch checks behind the commands of a turn. */
void tiny_guard(struct tiny *tiny, const struct tiny_setup *setup, unsigned client);

/* The reply to an epoch check. */
void tiny_guarded(struct tiny *tiny, const struct tiny_setup *setup, unsigned client, unsigned master, uint8_t found);

/* May the memory be lost while connections stay? */
bool tiny_may_flush(const struct tiny *tiny, const struct tiny_setup *setup, unsigned master);

/* --- tiny_check.c ------------------------------------------------------------------------------------------------- */

bool tiny_is_valid(const struct tiny *tiny, unsigned client);

#endif
