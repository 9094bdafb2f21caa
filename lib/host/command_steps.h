/* What the host's commands are for, as their tickets say: a step of one claim (votes/kind.h), or one of these. */
#ifndef RL_HOST_COMMAND_STEPS_H
#define RL_HOST_COMMAND_STEPS_H

#include "votes/kind.h"

enum rl_ticket_step {
    RL_TICKET_BATCH = RL_STEP_COUNT, /* the owner is a batch, not a claim */
    RL_TICKET_QUESTION,              /* the owner is a question to all masters */
    RL_TICKET_ANNOUNCEMENT,          /* no owner: whatever is answered says nothing */
    /* No owner: the command is about the master. */
    RL_TICKET_EPOCH_MARKER,    /* HGET marker inc */
    RL_TICKET_EPOCH_CLOCK,     /* TIME: the last of an epoch check */
    RL_TICKET_RECHECK_SETTING, /* CONFIG GET; flags: which */
    RL_TICKET_RECHECK_JOIN,
};

#endif
