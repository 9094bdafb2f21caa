/* Permits of a semaphore. Permit s of the semaphore KEY is the mutex on KEY#s, so each step is the mutex's, plain or
 * with fencing tokens. CLAIM and ENQUEUE also ask which other slots are free, so that the host can choose the slot of
 * the next attempt (host/permits.c). A claim is for one slot: votes for different slots are never counted together.
 * Whoever waits is listed in the semaphore's directory, too, and a release tells one of those in it. */
#include "kinds/permit.h"

#include <string.h>

#include "kinds/mutex.h"
#include "kinds/names.h"
#include "kinds/wait_queue.h"
#include "kinds/command.h"
#include "votes/fence.h"

/* --- Commands --------------------------------------------------------------------------------------------------- */

static void push_candidates(const struct rl_subject *subject, struct rl_command *command)
{
    for (size_t i = 0; i < subject->candidates.n; i++) {
        rl_push(command, subject->candidates.keys[i]);
        rl_push(command, rl_name_of(subject->names, subject->candidates.keys[i], RL_QUEUE_NAME));
    }
}

static struct rl_slice semaphore_of(struct rl_slice slot)
{
    const char *bytes = slot.data;

    while (bytes[--slot.size] != '#')
        assert(slot.size > 0);
    return slot;
}

/* The keys of the directory of those who wait for any slot. The short form names the first. */
static void push_directory(const struct rl_subject *subject, struct rl_command *command)
{
    struct rl_slice semaphore = semaphore_of(subject->key);

    rl_push(command, rl_name_of(subject->names, semaphore, RL_PERMITS_NAME));
    if (subject->waiters.size)
        rl_push(command, rl_name_of(subject->names, semaphore, RL_PERMIT_WAITERS_NAME));
}

/* Without fencing, the counter is not looked at; the key is named in its place, since no ACL allows an empty name. */
static void claim(const struct rl_subject *subject, struct rl_command *command)
{
    rl_command_init(command, RL_SCRIPT_CLAIM_PERMIT, 2 + 2 * subject->candidates.n);
    rl_push(command, subject->key);
    rl_push(command, subject->counter.size ? subject->counter : subject->key);
    push_candidates(subject, command);
    rl_push(command, subject->token);
    rl_push_number(command, 0, subject->ttl_ms);
    rl_push_proposal(command, 1, subject);
    rl_push_number(command, 2, subject->counter_ttl_ms);
}

/* The mutex's commands for the wait queue, with further keys behind theirs. */
static void queue_command(enum rl_step step, const struct rl_subject *subject, struct rl_command *command)
{
    struct rl_slice rest[RL_COMMAND_MAX_ARGS];
    size_t n_rest;

    if (step == RL_STEP_ENQUEUE)
        rl_queue_enqueue_command(subject, command);
    else
        rl_release_command(subject, command);
    n_rest = command->argc - command->n_keys;
    memcpy(rest, command->argv + command->n_keys, n_rest * sizeof rest[0]);
    command->argc = command->n_keys;
    push_directory(subject, command);
    if (step == RL_STEP_ENQUEUE)
        push_candidates(subject, command);
    command->n_keys = command->argc;
    for (size_t i = 0; i < n_rest; i++)
        rl_push(command, rest[i]);
}

static void enqueue(const struct rl_subject *subject, struct rl_command *command)
{
    queue_command(RL_STEP_ENQUEUE, subject, command);
    command->script = RL_SCRIPT_ENQUEUE_PERMIT;
    rl_push_number(command, 6, subject->limit);
}

static void release(enum rl_step step, const struct rl_subject *subject, struct rl_command *command)
{
    queue_command(step, subject, command);
    if (subject->waiters.size)
        command->script = RL_SCRIPT_RELEASE_PERMIT;
}

static void permit_command(enum rl_step step, const struct rl_subject *subject, struct rl_command *ret_command)
{
    if (step == RL_STEP_CLAIM)
        claim(subject, ret_command);
    else if (step == RL_STEP_ENQUEUE)
        enqueue(subject, ret_command);
    else if (step == RL_STEP_RELEASE || step == RL_STEP_ROLLBACK)
        release(step, subject, ret_command);
    else
        rl_fenced_kind.command(step, subject, ret_command);
}

/* --- Replies ---------------------------------------------------------------------------------------------------- */

bool rl_permit_mask(const struct rl_reply *reply, uint32_t *ret_mask)
{
    const struct rl_reply_item *last;

    if (reply->root.type != RL_REPLY_ARRAY || !reply->n_elements)
        return false;
    last = &reply->elements[reply->n_elements - 1];
    if (last->type != RL_REPLY_INTEGER || last->integer < 0 || last->integer >> RL_MAX_CANDIDATES)
        return false;
    *ret_mask = (uint32_t)last->integer;
    return true;
}

/* {1, 0} or {0, PTTL, 0}. */
static struct rl_answer claim_answer(const struct rl_reply *reply)
{
    const struct rl_reply_item *items = reply->elements;

    if (rl_reply_is_integers(reply, 2) && items[0].integer == 1)
        return (struct rl_answer){RL_GRANTED, RL_DETAIL_NONE, 0};
    if (rl_reply_is_integers(reply, 3) && items[0].integer == 0)
        return (struct rl_answer){RL_REFUSED, RL_DETAIL_HELD, 0};
    return (struct rl_answer){RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0};
}

/* What is left without the mask. A reply that should have one, and does not, is made one that nothing expects. */
static struct rl_reply without_mask(enum rl_step step, const struct rl_reply *reply)
{
    struct rl_reply rest = *reply;
    uint32_t mask;

    if (step == RL_STEP_CLAIM || step == RL_STEP_ENQUEUE)
        rest.n_elements = rl_permit_mask(reply, &mask) ? reply->n_elements - 1 : 0;
    return rest;
}

static struct rl_answer permit_answer(enum rl_step step, const struct rl_reply *reply)
{
    struct rl_reply rest = without_mask(step, reply);

    return step == RL_STEP_CLAIM ? claim_answer(&rest) : rl_mutex_kind.answer(step, &rest);
}

static struct rl_answer fenced_permit_answer(enum rl_step step, const struct rl_reply *reply)
{
    struct rl_reply rest = without_mask(step, reply);

    return rl_fenced_kind.answer(step, &rest);
}

const struct rl_kind rl_permit_kind = {
    .name = "permit",
    .can = RL_BATCH_EXTEND | RL_BATCH_RELEASE | RL_REPAIR,
    .command = permit_command,
    .answer = permit_answer,
};

const struct rl_kind rl_fenced_permit_kind = {
    .name = "fenced permit",
    .can = RL_BATCH_EXTEND | RL_BATCH_RELEASE | RL_REPAIR,
    .has_token = true,
    .tail_size = rl_fence_size,
    .note = rl_fence_note,
    .after_quorum = rl_fence_verdict,
    .command = permit_command,
    .answer = fenced_permit_answer,
};

const struct rl_kind *rl_permit_form(const struct rl_kind *kind)
{
    if (kind == &rl_mutex_kind || kind == &rl_permit_kind)
        return &rl_permit_kind;
    return kind == &rl_fenced_kind || kind == &rl_fenced_permit_kind ? &rl_fenced_permit_kind : NULL;
}
