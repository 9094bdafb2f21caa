/* The mutex with fencing tokens (protocol section 4). GRANT claims and counts, RAISE records a token; the rest is the
 * plain mutex (kinds/mutex.c), whose REPAIR restores the counter. */
#include "kinds/fenced.h"

#include <stdbool.h>

#include "kinds/mutex.h"
#include "votes/arguments.h"
#include "kinds/wait_queue.h"
#include "votes/fence.h"
#include "votes/kind.h"

static void grant(const struct rl_subject *subject, struct rl_command *command)
{
    rl_command_init(command, RL_SEND_EVALSHA, RL_SCRIPT_GRANT, 2);
    rl_push(command, subject->key);
    rl_push(command, subject->counter);
    rl_push(command, subject->token);
    rl_push_number(command, 0, subject->ttl_ms);
    rl_push_number(command, 1, subject->proposal);
    rl_push_number(command, 2, subject->counter_ttl_ms);
}

static void raise_counter(const struct rl_subject *subject, struct rl_command *command)
{
    rl_command_init(command, RL_SEND_EVALSHA, RL_SCRIPT_RAISE, 2);
    rl_push(command, subject->key);
    rl_push(command, subject->counter);
    rl_push(command, subject->token);
    rl_push_number(command, 0, subject->fence);
    rl_push_number(command, 1, subject->counter_ttl_ms);
}

static void fenced_command(enum rl_step step, const struct rl_subject *subject, struct rl_command *ret_command)
{
    if (step == RL_STEP_CLAIM)
        grant(subject, ret_command);
    else if (step == RL_STEP_RAISE)
        raise_counter(subject, ret_command);
    else
        rl_mutex_kind.command(step, subject, ret_command);
}

/* {1, counter} or {0, PTTL, counter}. A grant counts, so its number is not 0. */
static struct rl_answer grant_answer(const struct rl_reply *reply)
{
    const struct rl_reply_item *items = reply->elements;

    if (rl_reply_is_integers(reply, 2) && items[0].integer == 1 && items[1].integer > 0)
        return (struct rl_answer){RL_GRANTED, RL_DETAIL_NONE, (uint64_t)items[1].integer};
    if (rl_reply_is_integers(reply, 3) && items[0].integer == 0 && items[2].integer >= 0)
        return (struct rl_answer){RL_REFUSED, RL_DETAIL_HELD, (uint64_t)items[2].integer};
    return (struct rl_answer){RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0};
}

static struct rl_answer fenced_answer(enum rl_step step, const struct rl_reply *reply)
{
    if (step == RL_STEP_CLAIM)
        return grant_answer(reply);
    return step == RL_STEP_ENQUEUE ? rl_queue_answer(reply, true) : rl_mutex_kind.answer(step, reply);
}

const struct rl_kind rl_fenced_kind = {
    .name = "fenced mutex",
    .can = RL_BATCH_EXTEND | RL_BATCH_JOIN | RL_REPAIR,
    .has_token = true,
    .tail_size = rl_fence_size,
    .note = rl_fence_note,
    .after_quorum = rl_fence_verdict,
    .command = fenced_command,
    .answer = fenced_answer,
};
