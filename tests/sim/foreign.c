/* A client that knows nothing of queues, as those in other languages: it sets the key, it compares and deletes. Those
 * that wait in the queue share the key with it (rules 7). */
#include "foreign.h"

#include "kinds/mutex.h"
#include "kinds/command.h"

static void foreign_command(enum rl_step step, const struct rl_subject *subject, struct rl_command *ret_command)
{
    if (step != RL_STEP_RELEASE && step != RL_STEP_ROLLBACK) {
        rl_mutex_kind.command(step, subject, ret_command);
        return;
    }
    rl_command_init(ret_command, RL_SCRIPT_NONE, 0);
    rl_push_word(ret_command, "DELIFEQ");
    rl_push(ret_command, subject->key);
    rl_push(ret_command, subject->token);
}

/* DELIFEQ answers 1 or 0, as RELEASE does that has found the key or not. */
static struct rl_answer foreign_answer(enum rl_step step, const struct rl_reply *reply)
{
    return rl_mutex_kind.answer(step, reply);
}

const struct rl_kind foreign_kind = {
    .name = "foreign",
    .can = RL_BATCH_EXTEND,
    .command = foreign_command,
    .answer = foreign_answer,
};
