#include "kinds/look.h"

#include <string.h>

#include "kinds/text.h"
#include "kinds/wait_queue.h"
#include "kinds/command.h"

void rl_look_command(const struct rl_subject *subject, struct rl_command *ret_command)
{
    rl_command_init(ret_command, RL_SCRIPT_LOOK, 0);
    rl_queue_push_keys(subject, ret_command);
    ret_command->n_keys = ret_command->argc;
}

/* --- Replies ---------------------------------------------------------------------------------------------------- */

enum { FORM, PTTL, COUNTER, VOTES, WAITING, VOTE_LIST, WAITER_LIST, INCARNATION, N_ITEMS };

static bool has_shape(const struct rl_reply *reply)
{
    if (reply->root.type != RL_REPLY_ARRAY || reply->n_elements != N_ITEMS)
        return false;
    for (size_t i = 0; i < N_ITEMS; i++) {
        bool is_number = i >= PTTL && i <= WAITING;

        if (reply->elements[i].type != (is_number ? RL_REPLY_INTEGER : RL_REPLY_STRING))
            return false;
        if (is_number && i != PTTL && reply->elements[i].integer < 0)
            return false;
    }
    return true;
}

bool rl_look_answer(const struct rl_reply *reply, struct rl_look_answer *ret_answer)
{
    const struct rl_reply_item *items = reply->elements;

    if (!has_shape(reply))
        return false;
    *ret_answer = (struct rl_look_answer){
        .foreign = rl_reply_item_is(&items[FORM], "foreign"),
        .counter = (uint64_t)items[COUNTER].integer,
        .n_votes = (uint64_t)items[VOTES].integer,
        .n_waiting = (uint64_t)items[WAITING].integer,
        .votes = items[VOTE_LIST].text,
        .waiters = items[WAITER_LIST].text,
        .incarnation = items[INCARNATION].text,
    };
    return true;
}

static bool take_mode(struct rl_slice *text, enum rl_mode *ret_mode)
{
    static const char letters[] = {[RL_EXCLUSIVE] = 'x', [RL_UPGRADEABLE] = 'u', [RL_SHARED] = 'r'};
    const char *bytes = text->data;

    if (text->size < 2 || bytes[1] != ' ')
        return false;
    for (size_t mode = 0; mode < sizeof letters; mode++) {
        if (bytes[0] != letters[mode])
            continue;
        *ret_mode = (enum rl_mode)mode;
        rl_text_skip(text, 2);
        return true;
    }
    return false;
}

static bool take_left(struct rl_slice *text, int64_t *ret_left_ms)
{
    uint64_t left;

    if (text->size > 3 && memcmp(text->data, "-1 ", 3) == 0) {
        rl_text_skip(text, 3);
        *ret_left_ms = -1;
        return true;
    }
    if (!rl_text_take_number(text, &left))
        return false;
    *ret_left_ms = (int64_t)left;
    return true;
}

static bool take_value(struct rl_slice *text, struct rl_slice *ret_value)
{
    return rl_text_take_sized(text, RL_LOOK_VALUE_BYTES, ret_value);
}

bool rl_look_next_vote(struct rl_slice *text, struct rl_look_vote *ret_vote)
{
    ret_vote->ticket = 0;
    return take_mode(text, &ret_vote->mode) && take_left(text, &ret_vote->left_ms) &&
           take_value(text, &ret_vote->value);
}

bool rl_look_next_waiter(struct rl_slice *text, struct rl_look_vote *ret_waiter)
{
    return take_mode(text, &ret_waiter->mode) && take_left(text, &ret_waiter->left_ms) &&
           rl_text_take_number(text, &ret_waiter->ticket) && take_value(text, &ret_waiter->value);
}
