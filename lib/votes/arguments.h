/* What the kinds build commands with; header only. */
#ifndef RL_VOTES_ARGUMENTS_H
#define RL_VOTES_ARGUMENTS_H

#include <assert.h>
#include <string.h>

#include "votes/kind.h"
#include "util/slice.h"

static inline void rl_command_init(struct rl_command *command, enum rl_send_as send_as, enum rl_script script,
                                   size_t n_keys)
{
    command->send_as = send_as;
    command->script = script;
    command->n_keys = n_keys;
    command->argc = 0;
}

static inline void rl_push(struct rl_command *command, struct rl_slice argument)
{
    assert(command->argc < RL_COMMAND_MAX_ARGS);
    command->argv[command->argc++] = argument;
}

static inline void rl_push_word(struct rl_command *command, const char *text)
{
    rl_push(command, (struct rl_slice){text, strlen(text)});
}

/* `index` says which of the command's RL_COMMAND_MAX_NUMBERS buffers holds the digits. */
static inline void rl_push_number(struct rl_command *command, size_t index, uint64_t number)
{
    assert(index < RL_COMMAND_MAX_NUMBERS);
    rl_push(command, (struct rl_slice){command->numbers[index], rl_decimal(number, command->numbers[index])});
}

#endif
