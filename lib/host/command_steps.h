/* What the host's commands are for, as their tags say: a step of one claim (votes/kind.h), or one of these. */
#ifndef RL_HOST_COMMAND_STEPS_H
#define RL_HOST_COMMAND_STEPS_H

#include "votes/kind.h"

enum rl_tag_step {
    RL_TAG_BATCH = RL_STEP_COUNT, /* the owner is a batch, not a claim */
    RL_TAG_QUESTION,              /* the owner is a question to all masters */
    RL_TAG_ANNOUNCEMENT,          /* no owner: whatever is answered says nothing */
    /* No owner: the command is about the master. */
    RL_TAG_EPOCH_MARKER,    /* HGET marker inc */
    RL_TAG_EPOCH_CLOCK,     /* TIME: the last of an epoch check */
    RL_TAG_RECHECK_SETTING, /* CONFIG GET; flags: which */
    RL_TAG_RECHECK_JOIN,
};

#endif
