/* The plain mutex: rules 2.3 (claim), 4.1 (extend), 4.7 (repair). Release and rollback hand the key off to waiters,
 * so all kinds have them in common. */
#include "kinds/mutex.h"

#include <stdbool.h>

#include "kinds/wait_queue.h"
#include "kinds/command.h"
#include "votes/fence.h"
#include "votes/kind.h"

static void claim(const struct rl_subject *subject, struct rl_command *command)
{
    rl_command_init(command, RL_SCRIPT_NONE, 0);
    rl_push_word(command, "SET");
    rl_push(command, subject->key);
    rl_push(command, subject->token);
    rl_push_word(command, "NX");
    rl_push_word(command, "PX");
    rl_push_number(command, 0, subject->ttl_ms);
}

static void extend(const struct rl_subject *subject, struct rl_command *command)
{
    rl_command_init(command, RL_SCRIPT_EXTEND, 1);
    rl_push(command, subject->key);
    rl_push(command, subject->token);
    rl_push_number(command, 0, subject->ttl_ms);
}

/* Where the subject has a counter, the command names it, for the kind with fencing tokens. Where there is no marker,
 * the key is named in its place, since no ACL allows an empty name; the script does not look at it then. */
static void repair(const struct rl_subject *subject, struct rl_command *command)
{
    struct rl_slice nothing = {"", 0};

    rl_command_init(command, RL_SCRIPT_REPAIR, subject->counter.size ? 3 : 2);
    rl_push(command, subject->key);
    rl_push(command, subject->marker.size ? subject->marker : subject->key);
    if (subject->counter.size)
        rl_push(command, subject->counter);
    rl_push(command, subject->token);
    rl_push_number(command, 0, subject->ttl_ms);
    rl_push(command, subject->marker.size ? subject->incarnation : nothing);
    if (subject->counter.size) {
        rl_push_number(command, 1, subject->fence);
        rl_push_number(command, 2, subject->counter_ttl_ms);
    }
}

static void mutex_command(enum rl_step step, const struct rl_subject *subject, struct rl_command *ret_command)
{
    switch (step) {
    case RL_STEP_CLAIM:
        claim(subject, ret_command);
        break;
    case RL_STEP_RAISE: /* there is no counter to raise: never asked, and harmless if it were */
    case RL_STEP_EXTEND:
        extend(subject, ret_command);
        break;
    case RL_STEP_REPAIR:
        repair(subject, ret_command);
        break;
    case RL_STEP_ENQUEUE:
        rl_queue_enqueue_command(subject, ret_command);
        break;
    case RL_STEP_RELEASE:
    case RL_STEP_ROLLBACK:
    default:
        rl_release_command(subject, ret_command);
        break;
    }
}

static struct rl_answer claim_answer(const struct rl_reply_item *root)
{
    if (root->type == RL_REPLY_STATUS && rl_slice_is(root->text, "OK"))
        return (struct rl_answer){RL_GRANTED, RL_DETAIL_NONE, 0};
    if (root->type == RL_REPLY_NIL)
        return (struct rl_answer){RL_REFUSED, RL_DETAIL_HELD, 0};
    return (struct rl_answer){RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0};
}

/* EXTEND answers 1: done, 0: no such key, -1: another's value. So does RAISE. */
static struct rl_answer extend_answer(const struct rl_reply_item *root)
{
    if (root->type == RL_REPLY_INTEGER && root->integer == 1)
        return (struct rl_answer){RL_GRANTED, RL_DETAIL_NONE, 0};
    if (root->type == RL_REPLY_INTEGER && root->integer == 0)
        return (struct rl_answer){RL_REFUSED, RL_DETAIL_MISSING, 0};
    if (root->type == RL_REPLY_INTEGER && root->integer == -1)
        return (struct rl_answer){RL_REFUSED, RL_DETAIL_FOREIGN, 0};
    return (struct rl_answer){RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0};
}

/* REPAIR sets a missing key, and answers 2 then; -2 means another memory. */
static struct rl_answer repair_answer(const struct rl_reply_item *root)
{
    int64_t answer = root->type == RL_REPLY_INTEGER ? root->integer : 0;

    if (answer == 1 || answer == 2)
        return (struct rl_answer){RL_GRANTED, RL_DETAIL_NONE, 0};
    if (answer == -1)
        return (struct rl_answer){RL_REFUSED, RL_DETAIL_FOREIGN, 0};
    if (answer == -2)
        return (struct rl_answer){RL_FAILED, RL_DETAIL_MEMORY_LOST, 0};
    return (struct rl_answer){RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0};
}

static struct rl_answer mutex_answer(enum rl_step step, const struct rl_reply *reply)
{
    switch (step) {
    case RL_STEP_CLAIM:
        return claim_answer(&reply->root);
    case RL_STEP_ENQUEUE:
        return rl_queue_answer(reply, false);
    case RL_STEP_REPAIR:
        return repair_answer(&reply->root);
    case RL_STEP_RELEASE:
    case RL_STEP_ROLLBACK:
        return rl_release_answer(reply);
    default:
        return extend_answer(&reply->root);
    }
}

const struct rl_kind rl_mutex_kind = {
    .name = "mutex",
    .can = RL_BATCH_EXTEND | RL_BATCH_RELEASE | RL_BATCH_JOIN | RL_COHORT | RL_REPAIR,
    .command = mutex_command,
    .answer = mutex_answer,
};

/* The mutex with fencing tokens (rules 8). GRANT claims and counts, RAISE records a token; the rest is the plain mutex,
 * whose REPAIR restores the counter. */

static void grant(const struct rl_subject *subject, struct rl_command *command)
{
    rl_command_init(command, RL_SCRIPT_GRANT, 2);
    rl_push(command, subject->key);
    rl_push(command, subject->counter);
    rl_push(command, subject->token);
    rl_push_number(command, 0, subject->ttl_ms);
    rl_push_proposal(command, 1, subject);
    rl_push_number(command, 2, subject->counter_ttl_ms);
}

static void raise_counter(const struct rl_subject *subject, struct rl_command *command)
{
    rl_command_init(command, RL_SCRIPT_RAISE, 2);
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
    .can = RL_BATCH_EXTEND | RL_BATCH_RELEASE | RL_BATCH_JOIN | RL_REPAIR,
    .has_token = true,
    .tail_size = rl_fence_size,
    .note = rl_fence_note,
    .after_quorum = rl_fence_verdict,
    .command = fenced_command,
    .answer = fenced_answer,
};

/* The keys of release.lua, and of release_short.lua. */
#define N_KEYS 5
#define N_KEYS_SHORT 2

void rl_release_command(const struct rl_subject *subject, struct rl_command *ret_command)
{
    rl_command_init(ret_command, subject->waiters.size ? RL_SCRIPT_RELEASE : RL_SCRIPT_RELEASE_SHORT,
                    subject->waiters.size ? N_KEYS : N_KEYS_SHORT);
    rl_queue_push_keys(subject, ret_command);
    rl_push(ret_command, subject->token);
}

struct rl_answer rl_release_answer(const struct rl_reply *reply)
{
    if (reply->root.type != RL_REPLY_INTEGER)
        return (struct rl_answer){RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0};
    switch (reply->root.integer) {
    case 4:
        return (struct rl_answer){RL_GRANTED, RL_DETAIL_OTHERS_WAIT, 0};
    case 3:
        return (struct rl_answer){RL_FAILED, RL_DETAIL_OTHERS_WAIT, 0};
    case 2:
        return (struct rl_answer){RL_GRANTED, RL_DETAIL_HANDED_OFF, 0};
    case 1:
        return (struct rl_answer){RL_GRANTED, RL_DETAIL_NONE, 0};
    case 0:
        return (struct rl_answer){RL_REFUSED, RL_DETAIL_MISSING, 0};
    case -1:
        return (struct rl_answer){RL_REFUSED, RL_DETAIL_FOREIGN, 0};
    default:
        return (struct rl_answer){RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0};
    }
}

struct rl_answer rl_release_repeated(struct rl_answer answer, bool deleted)
{
    if (answer.detail == RL_DETAIL_OTHERS_WAIT)
        return (struct rl_answer){RL_FAILED, RL_DETAIL_OTHERS_WAIT, 0};
    if (deleted && answer.outcome == RL_REFUSED)
        return (struct rl_answer){RL_GRANTED, RL_DETAIL_HANDED_OFF, 0};
    return answer;
}

/* EXTEND_MANY, and a release of several values, answer a letter for each: what one alone is answered, but "-" for -1,
 * and "?" where an error came after something had been written. */
struct rl_answer rl_many_answer(enum rl_step step, const struct rl_reply *reply, size_t i, size_t n)
{
    struct rl_reply own = {.root = {.type = RL_REPLY_INTEGER}};
    char letter;

    if (reply->root.type != RL_REPLY_STRING || reply->root.text.size != n)
        return (struct rl_answer){RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0};
    letter = ((const char *)reply->root.text.data)[i];
    if (letter == '?')
        return (struct rl_answer){RL_UNKNOWN, RL_DETAIL_ERROR, 0};
    own.root.integer = letter == '-' ? -1 : letter - '0';
    return step == RL_STEP_EXTEND ? extend_answer(&own.root) : rl_release_answer(&own);
}
