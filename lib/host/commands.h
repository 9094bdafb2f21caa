/* The bytes of commands, in the host's scratch. */
#ifndef RL_HOST_COMMANDS_H
#define RL_HOST_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "codec/command.h"
#include "votes/kind.h"

struct rl_claim;
struct rl_host;
struct rl_key;
struct rl_tag;

/* How a command differs from the usual one; also flags of its tag. */
enum {
    RL_COMMAND_AS_EVAL = 1, /* with the script's text */
    RL_COMMAND_IN_FULL = 2, /* a rollback or release: with all keys of a wait queue */
};

/* The command for a step of one claim, which is the tag's owner. false, here and below: out of memory. */
bool rl_command_of_step(struct rl_host *host, unsigned node, const struct rl_tag *tag);

/* RL_STEP_ENQUEUE of a claim that joins the wait queue, and of the others in its batch. */
bool rl_command_of_enqueues(struct rl_host *host, struct rl_claim *claim, unsigned node,
                             const struct rl_batch_tail *followers);

/* RL_STEP_ENQUEUE of a batch of claims that keep their entries; `claim` is one of them. */
bool rl_command_of_refreshes(struct rl_host *host, const struct rl_claim *claim, unsigned node, uint32_t lease_ms,
                           enum rl_send_as send_as, const struct rl_refresh_many *refreshes);

/* What a master knows of a key. */
bool rl_command_of_look(struct rl_host *host, const struct rl_key *key, unsigned node);

/* Are the bytes for one master those for the other, too, if the claim is as it was? */
bool rl_command_is_same(const struct rl_host *host, const struct rl_claim *claim, enum rl_step step, unsigned a,
                        unsigned b);

#endif
