/* Commands for one claim. */
#ifndef RL_HOST_SEND_H
#define RL_HOST_SEND_H

#include <stdbool.h>

#include "engine/engine.h"
#include "host/transport.h"

struct rl_host;

/* Carries out an RL_EFFECT_SEND at once, in no batch. */
void rl_host_send_now(struct rl_host *host, const struct rl_effect *effect);

/* Writes the command of a tag once more, to one master. false: it cannot be written. */
bool rl_host_send_again(struct rl_host *host, unsigned node, const struct rl_tag *tag);

#endif
