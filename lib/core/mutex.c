/* Recipe of the plain mutex: protocol 1.3 (claim), 3.1 (extend), 2.3 (release and rollback). */
#include <string.h>

#include "core/recipe.h"
#include "util/decimal.h"

static struct rl_slice word(const char *text)
{
    return (struct rl_slice){text, strlen(text)};
}

static void push(struct rl_command *command, struct rl_slice argument)
{
    command->argv[command->argc++] = argument;
}

static void push_ttl(struct rl_command *command, uint32_t ttl_ms)
{
    size_t size = rl_decimal(ttl_ms, command->number_text);

    push(command, (struct rl_slice){command->number_text, size});
}

static void claim(const struct rl_subject *subject, struct rl_command *command)
{
    command->send_as = RL_SEND_PLAIN;
    command->script = RL_SCRIPT_NONE;
    push(command, word("SET"));
    push(command, subject->key);
    push(command, subject->token);
    push(command, word("NX"));
    push(command, word("PX"));
    push_ttl(command, subject->ttl_ms);
}

static void compare_and(enum rl_script script, enum rl_send_as send_as, const struct rl_subject *subject,
                        struct rl_command *command)
{
    command->send_as = send_as;
    command->script = script;
    command->n_keys = 1;
    push(command, subject->key);
    push(command, subject->token);
    if (script == RL_SCRIPT_EXTEND)
        push_ttl(command, subject->ttl_ms);
}

static void mutex_command(enum rl_step step, const struct rl_subject *subject, struct rl_command *ret_command)
{
    ret_command->argc = 0;
    ret_command->n_keys = 0;
    switch (step) {
    case RL_STEP_CLAIM:
        claim(subject, ret_command);
        break;
    case RL_STEP_EXTEND:
        compare_and(RL_SCRIPT_EXTEND, RL_SEND_EVALSHA, subject, ret_command);
        break;
    case RL_STEP_RELEASE:
        compare_and(RL_SCRIPT_RELEASE, RL_SEND_EVALSHA, subject, ret_command);
        break;
    case RL_STEP_ROLLBACK:
    default:
        compare_and(RL_SCRIPT_RELEASE, RL_SEND_EVAL, subject, ret_command);
        break;
    }
}

static struct rl_answer claim_answer(const struct rl_reply_item *root)
{
    if (root->type == RL_REPLY_STATUS && root->text.size == 2 && memcmp(root->text.data, "OK", 2) == 0)
        return (struct rl_answer){RL_GRANTED, RL_DETAIL_NONE};
    if (root->type == RL_REPLY_NIL)
        return (struct rl_answer){RL_REFUSED, RL_DETAIL_HELD};
    return (struct rl_answer){RL_UNKNOWN, RL_DETAIL_PROTOCOL};
}

/* The scripts answer 1: done, 0: no such key, -1: another's value. */
static struct rl_answer script_answer(const struct rl_reply_item *root)
{
    if (root->type == RL_REPLY_INTEGER && root->integer == 1)
        return (struct rl_answer){RL_GRANTED, RL_DETAIL_NONE};
    if (root->type == RL_REPLY_INTEGER && root->integer == 0)
        return (struct rl_answer){RL_REFUSED, RL_DETAIL_MISSING};
    if (root->type == RL_REPLY_INTEGER && root->integer == -1)
        return (struct rl_answer){RL_REFUSED, RL_DETAIL_FOREIGN};
    return (struct rl_answer){RL_UNKNOWN, RL_DETAIL_PROTOCOL};
}

static struct rl_answer mutex_answer(enum rl_step step, const struct rl_reply *reply)
{
    return step == RL_STEP_CLAIM ? claim_answer(&reply->root) : script_answer(&reply->root);
}

const struct rl_recipe rl_mutex_recipe = {
    .name = "mutex",
    .command = mutex_command,
    .answer = mutex_answer,
};
