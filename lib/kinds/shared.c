/* The read-write lock (rules 9): a vote has a mode, and masters store those of many values under one key. The
 * key is that of the plain mutex, so all of them exclude each other. Release and rollback are the mutex's. */
#include "kinds/shared.h"

#include <stdbool.h>

#include "kinds/mutex.h"
#include "kinds/command.h"
#include "kinds/wait_queue.h"
#include "votes/fence.h"
#include "votes/kind.h"

/* As scripts call the modes. */
static void push_mode(struct rl_command *command, enum rl_mode mode)
{
    static const char *const words[] = {[RL_EXCLUSIVE] = "x", [RL_UPGRADEABLE] = "u", [RL_SHARED] = "r"};

    rl_push_word(command, words[mode]);
}

/* The keys of claim_shared.lua and extend_shared.lua. */
#define N_KEYS 5

static void claim(const struct rl_subject *subject, struct rl_command *command)
{
    rl_command_init(command, RL_SCRIPT_CLAIM_SHARED, N_KEYS);
    rl_queue_push_keys(subject, command);
    rl_push(command, subject->token);
    rl_push_number(command, 0, subject->ttl_ms);
    push_mode(command, subject->mode);
    rl_push_proposal(command, 1, subject);
    rl_push_number(command, 2, subject->counter_ttl_ms);
    rl_push(command, subject->replaces);
}

static void extend(const struct rl_subject *subject, struct rl_command *command)
{
    rl_command_init(command, RL_SCRIPT_EXTEND_SHARED, subject->queue.size ? N_KEYS : 1);
    if (subject->queue.size)
        rl_queue_push_keys(subject, command);
    else
        rl_push(command, subject->key);
    rl_push(command, subject->token);
    rl_push_number(command, 0, subject->ttl_ms);
    push_mode(command, subject->mode);
}

/* Enqueue and repair say more of a vote than the mutex does: its mode, and the value whose vote it is to replace. */
static void push_vote(const struct rl_subject *subject, enum rl_script script, struct rl_command *command)
{
    command->script = script;
    push_mode(command, subject->mode);
    rl_push(command, subject->replaces);
}

static void shared_command(enum rl_step step, const struct rl_subject *subject, struct rl_command *ret_command)
{
    switch (step) {
    case RL_STEP_CLAIM:
        claim(subject, ret_command);
        break;
    case RL_STEP_ENQUEUE:
        rl_queue_enqueue_command(subject, ret_command);
        push_vote(subject, RL_SCRIPT_ENQUEUE_SHARED, ret_command);
        break;
    case RL_STEP_EXTEND:
        extend(subject, ret_command);
        break;
    case RL_STEP_REPAIR:
        rl_mutex_kind.command(step, subject, ret_command);
        push_vote(subject, RL_SCRIPT_REPAIR_SHARED, ret_command);
        break;
    case RL_STEP_RAISE:
        rl_fenced_kind.command(step, subject, ret_command);
        break;
    default:
        rl_release_command(subject, ret_command);
        break;
    }
}

/* {1, counter}, or {0, PTTL, counter, why}: 1 if somebody has the key, 2 if others wait for it. Where the claim was an
 * exclusive one, and its mode has been lowered since, the reply is that of the mutex. */
static struct rl_answer claim_answer(const struct rl_reply *reply, bool fenced)
{
    const struct rl_kind *former = fenced ? &rl_fenced_kind : &rl_mutex_kind;
    const struct rl_reply_item *items = reply->elements;

    if (rl_reply_is_integers(reply, 2) && items[0].integer == 1 && items[1].integer >= fenced)
        return (struct rl_answer){RL_GRANTED, RL_DETAIL_NONE, fenced ? (uint64_t)items[1].integer : 0};
    if (rl_reply_is_integers(reply, 4) && items[0].integer == 0 && items[2].integer >= 0 &&
        (items[3].integer == 1 || items[3].integer == 2))
        return (struct rl_answer){RL_REFUSED, items[3].integer == 1 ? RL_DETAIL_HELD : RL_DETAIL_OTHERS_WAIT,
                                  (uint64_t)items[2].integer};
    return former->answer(RL_STEP_CLAIM, reply);
}

static struct rl_answer shared_answer(enum rl_step step, const struct rl_reply *reply)
{
    if (step == RL_STEP_CLAIM)
        return claim_answer(reply, false);
    return rl_mutex_kind.answer(step, reply);
}

static struct rl_answer fenced_shared_answer(enum rl_step step, const struct rl_reply *reply)
{
    if (step == RL_STEP_CLAIM)
        return claim_answer(reply, true);
    return rl_fenced_kind.answer(step, reply);
}

const struct rl_kind rl_shared_kind = {
    .name = "read-write lock",
    .can = RL_BATCH_EXTEND | RL_REPAIR,
    .writes_several = true,
    .respects_queue = true,
    .refreshes_early = true,
    .command = shared_command,
    .answer = shared_answer,
};

const struct rl_kind rl_fenced_shared_kind = {
    .name = "fenced read-write lock",
    .can = RL_BATCH_EXTEND | RL_REPAIR,
    .has_token = true,
    .writes_several = true,
    .respects_queue = true,
    .refreshes_early = true,
    .tail_size = rl_fence_size,
    .note = rl_fence_note,
    .after_quorum = rl_fence_verdict,
    .command = shared_command,
    .answer = fenced_shared_answer,
};

const struct rl_kind *rl_shared_form(const struct rl_kind *kind)
{
    if (kind == &rl_mutex_kind || kind == &rl_shared_kind)
        return &rl_shared_kind;
    return kind == &rl_fenced_kind || kind == &rl_fenced_shared_kind ? &rl_fenced_shared_kind : NULL;
}
