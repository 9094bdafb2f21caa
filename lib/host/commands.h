/* The host's commands: what they are for, their bytes in the host's scratch, and how they are sent for one claim. */
#ifndef RL_HOST_COMMANDS_H
#define RL_HOST_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

#include <redlock/options.h>

#include "codec/command.h"
#include "engine/engine.h"
#include "host/transport.h"
#include "kinds/command.h"

struct rl_claim;
struct rl_host;
struct rl_key;
struct rl_tag;

/* How a command differs from the usual one; also flags of its tag. */
enum {
    RL_COMMAND_REPEATED = 1, /* after a NOSCRIPT */
    RL_COMMAND_IN_FULL = 2,  /* a rollback or release: with all keys of a wait queue */
};

/* A guarded client asks on each new connection which scripts its server has. Until a server is known to have a script,
 * commands carry its text; then they go by its digest. If it goes missing later, one is repeated with the text after a
 * NOSCRIPT, and what else was refused behind that, by the digest. */
struct rl_scripting {
    /* Since when the server at the other end has surely had each script; RL_NEVER: that is not known. */
    struct rl_instant had_since[REDLOCK_MAX_MASTERS][RL_SCRIPT_COUNT];
    enum rl_script encoded; /* in host->scratch ... */
    bool by_digest;         /* ... which is sent so */
};

/* Nothing is known of a connection that is new, or yet to come. */
void rl_scripts_forget(struct rl_host *host, unsigned node);

/* Appends the question which scripts a server has; the answer to what was sent then. */
bool rl_scripts_ask(struct rl_bytes *out);
void rl_scripts_learn(struct rl_host *host, unsigned node, struct rl_instant sent, const struct rl_reply *reply);

/* May the master be sent the script's digest? */
bool rl_script_goes_by_digest(const struct rl_host *host, unsigned node, enum rl_script script);

/* The text has been written to it. It has answered a command that was sent then. */
void rl_script_written(struct rl_host *host, unsigned node, enum rl_script script);
void rl_script_answered(struct rl_host *host, unsigned node, enum rl_script script, struct rl_instant sent,
                        const struct rl_reply *reply);

/* The command for a step of one claim, which is the tag's owner. false, here and below: out of memory. */
bool rl_command_of_step(struct rl_host *host, unsigned node, const struct rl_tag *tag);

/* RL_STEP_ENQUEUE of a claim that joins the wait queue, and of the others in its batch. */
bool rl_command_of_joins(struct rl_host *host, struct rl_claim *claim, unsigned node,
                             const struct rl_joins *joins);

/* RL_STEP_ENQUEUE of a batch of claims that keep their entries; `claim` is one of them. */
bool rl_command_of_refreshes(struct rl_host *host, const struct rl_claim *claim, unsigned node, uint32_t lease_ms,
                             const struct rl_refresh_many *refreshes);

/* RL_STEP_EXTEND of many. */
bool rl_command_of_extensions(struct rl_host *host, unsigned node, const struct rl_extend_many *many);

/* RL_STEP_RELEASE or RL_STEP_ROLLBACK of several claims of one kind, in the short form. */
bool rl_command_of_releases(struct rl_host *host, unsigned node, const struct rl_claim *const claims[], size_t n);

/* Is a release or a rollback of this claim to have the short form? */
bool rl_release_is_short(struct rl_host *host, const struct rl_claim *claim);

/* What a master knows of a key. */
bool rl_command_of_look(struct rl_host *host, const struct rl_key *key, unsigned node);

/* Are the bytes that were made for one master those for the other, too, if the claim is as it was? */
bool rl_command_is_same(const struct rl_host *host, const struct rl_claim *claim, enum rl_step step, unsigned a,
                        unsigned b);

/* Sends the bytes. false: it cannot be done now. */
bool rl_command_send(struct rl_host *host, unsigned node, enum rl_sending how, const struct rl_tag *tag);

/* Commands for one claim. */

/* Carries out an RL_EFFECT_SEND at once, in no batch. */
void rl_host_send_now(struct rl_host *host, const struct rl_effect *effect);

/* Writes the command of a tag once more, to one master. false: it cannot be written. */
bool rl_host_send_again(struct rl_host *host, unsigned node, const struct rl_tag *tag);

/* What the host's commands are for, as their tags say: a step of one claim (votes/kind.h), or one of these. */

enum rl_tag_step {
    RL_TAG_BATCH = RL_STEP_COUNT, /* the owner is a batch, not a claim */
    RL_TAG_QUORUM_READ,              /* the owner is a question to all masters */
    RL_TAG_ANNOUNCEMENT,          /* no owner: whatever is answered says nothing */
    /* No owner: the command is about the master. */
    RL_TAG_EPOCH_MARKER,    /* HGET marker inc */
    RL_TAG_EPOCH_CLOCK,     /* TIME: the last of an epoch check */
    RL_TAG_RECHECK_SETTING, /* CONFIG GET; flags: which */
    RL_TAG_RECHECK_JOIN,
    RL_TAG_CHANGE,          /* JOIN of an operator's run; flags: which of its masters */
};

#endif
