#include "kinds/latch.h"

#include <string.h>

#include "kinds/text.h"
#include "util/slice.h"
#include "kinds/command.h"

void rl_latch_command(const struct rl_latch_read *question, struct rl_command *ret_command)
{
    rl_command_init(ret_command, RL_SCRIPT_LATCH, 1);
    rl_push(ret_command, question->key);
    rl_push_number(ret_command, 0, question->parties);
    rl_push_number(ret_command, 1, question->generation);
    rl_push_number(ret_command, 2, question->keep_ms);
    rl_push(ret_command, question->passed);
    rl_push(ret_command, question->party);
    rl_push_word(ret_command, question->open ? "1" : "");
    rl_push(ret_command, question->channel);
    if (question->wants_names)
        rl_push(ret_command, question->revision);
    else
        rl_push_word(ret_command, "*");
}

/* --- Replies ---------------------------------------------------------------------------------------------------- */

enum { CODE, PASSED, REVISION, NAMES, N_ITEMS };

static bool has_shape(const struct rl_reply *reply)
{
    if (reply->root.type != RL_REPLY_ARRAY || reply->n_elements != N_ITEMS)
        return false;
    for (size_t i = 0; i < N_ITEMS; i++) {
        if (reply->elements[i].type != (i == CODE ? RL_REPLY_INTEGER : RL_REPLY_STRING))
            return false;
    }
    return reply->elements[PASSED].text.size <= RL_LATCH_PASSED_BYTES &&
           reply->elements[REVISION].text.size <= RL_LATCH_REVISION_BYTES;
}

static bool take_code(int64_t number, enum rl_latch_code *ret_code)
{
    static const enum rl_latch_code codes[] = {RL_LATCH_OPEN, RL_LATCH_SHUT, RL_LATCH_OTHER_PARTIES,
                                               RL_LATCH_OTHER_GENERATION, RL_LATCH_COMPLETE, RL_LATCH_FOREIGN};

    if (number > 1 || number < -4)
        return false;
    *ret_code = codes[1 - number];
    return true;
}

/* "GENERATION PARTIES", or nothing. */
static bool read_passed(struct rl_slice text, uint64_t *ret_generation)
{
    const char *bytes = text.data;
    size_t n;

    *ret_generation = 0;
    if (text.size == 0)
        return true;
    n = rl_decimal_read(bytes, text.size, ret_generation);
    return n > 0 && n < text.size && bytes[n] == ' ';
}

bool rl_latch_answer(const struct rl_reply *reply, struct rl_latch_answer *ret_answer)
{
    const struct rl_reply_item *items = reply->elements;

    if (!has_shape(reply) || !take_code(items[CODE].integer, &ret_answer->code) ||
        !read_passed(items[PASSED].text, &ret_answer->passed_generation))
        return false;
    ret_answer->passed = items[PASSED].text;
    ret_answer->revision = items[REVISION].text;
    ret_answer->names = items[NAMES].text;
    return true;
}

bool rl_latch_is_party(struct rl_slice name)
{
    const char *bytes = name.data;

    if (name.size == 0 || name.size > RL_LATCH_PARTY_BYTES)
        return false;
    for (size_t i = 0; i < name.size; i++) {
        if (bytes[i] <= ' ' || bytes[i] > '~')
            return false;
    }
    return true;
}

bool rl_latch_next_name(struct rl_slice *text, struct rl_slice *ret_name)
{
    return rl_text_take_sized(text, RL_LATCH_PARTY_BYTES, ret_name) && rl_latch_is_party(*ret_name);
}

bool rl_latch_notification(struct rl_slice payload, struct rl_slice *ret_key)
{
    static const char word[] = "latch ";
    const size_t size = sizeof word - 1;

    if (payload.size <= size || memcmp(payload.data, word, size) != 0)
        return false;
    *ret_key = payload;
    rl_text_skip(ret_key, size);
    return true;
}
