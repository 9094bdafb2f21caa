/* The engine's words as those of the public interface. */
#ifndef RL_API_PUBLIC_H
#define RL_API_PUBLIC_H

#include <redlock/look.h>
#include <redlock/redlock.h>

#include "engine/engine.h"
#include "host/look.h"
#include "util/link.h"
#include "votes/admission.h"
#include "votes/kind.h"
#include "votes/outcome.h"

enum redlock_standing rl_public_standing(enum rl_admission kind);
enum redlock_fault rl_public_fault(enum rl_fault fault);
enum redlock_vote rl_public_vote(enum rl_outcome outcome);
enum redlock_link rl_public_link(enum rl_link link);
enum redlock_loss rl_public_loss(enum rl_loss loss);
enum redlock_op rl_public_op(enum rl_op op);
enum redlock_mode rl_public_mode(enum rl_mode mode);
enum redlock_look_verdict rl_public_verdict(enum rl_look_verdict verdict);

int rl_public_status(const struct redlock_lock *lock, enum rl_end end);
int64_t rl_public_latency_us(uint32_t latency_us);

/* And back. The number may come from a program. */
bool rl_mode_is_valid(enum redlock_mode mode);
enum rl_mode rl_mode_of(enum redlock_mode mode);

#endif
