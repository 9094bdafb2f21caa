/* What hashes of tiny worlds with the real engine have in common. A world's copy is made plain first: what has no
 * influence on what may follow is the same everywhere. */
#ifndef SIM_ENGINE_HASH_H
#define SIM_ENGINE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"

uint64_t engine_hash_more(uint64_t hash, const void *data, size_t size);
uint64_t engine_hash_bytes(const void *data, size_t size);

/* Hashes that are added up are mixed before. */
uint64_t engine_hash_mix(uint64_t hash);

/* Instants in the past count as one. */
void engine_hash_forget_past(struct rl_instant *instant, struct rl_instant now);
void engine_hash_normalize_claim(struct rl_claim *claim, struct rl_instant now);

/* What the lock has told its host has no influence. */
void engine_hash_forget_report(struct rl_lock *lock);

/* The bit of the mask; and what the claim has of one master: the bits of its masks, and the vote. They are taken out of
 * the copy, so that masters can be exchanged. */
unsigned engine_hash_take_bit(uint32_t *mask, unsigned master);
unsigned engine_hash_take_claim(struct rl_claim *claim, unsigned master, struct rl_vote *ret_vote);

/* Of an engine all but the arrays about masters, what is configured, and what is counted. */
uint64_t engine_hash_engine(uint64_t hash, const struct rl_engine *engine);

#endif
