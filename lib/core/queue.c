#include "core/queue.h"

#include <string.h>

#include "core/arguments.h"

/* The keys of release.lua and enqueue.lua. Without a marker its place is taken by the key, since an empty name would be
 * one that no ACL allows; the scripts do not look at it then. */
#define N_KEYS 5
#define N_KEYS_SHORT 2

/* enqueue.lua takes no more. */
#define LONGEST_QUEUE 100000

static void push_keys(const struct rl_subject *subject, struct rl_command *command)
{
    rl_push(command, subject->key);
    rl_push(command, subject->queue);
    if (!subject->waiters.size)
        return;
    rl_push(command, subject->waiters);
    rl_push(command, subject->counter);
    rl_push(command, subject->marker.size ? subject->marker : subject->key);
}

static void enqueue(const struct rl_subject *subject, struct rl_command *command)
{
    rl_command_init(command, RL_SEND_EVALSHA, RL_SCRIPT_ENQUEUE, N_KEYS);
    push_keys(subject, command);
    rl_push(command, subject->token);
    rl_push_number(command, 0, subject->ttl_ms);
    rl_push_number(command, 1, subject->round);
    rl_push_number(command, 2, subject->ticket);
    rl_push_number(command, 3, subject->proposed_ticket);
    rl_push(command, subject->incarnation);
    rl_push_number(command, 4, subject->proposal);
    rl_push_number(command, 5, subject->counter_ttl_ms);
    rl_push(command, subject->channel);
}

void rl_queue_command(enum rl_step step, const struct rl_subject *subject, struct rl_command *ret_command)
{
    if (step == RL_STEP_ENQUEUE) {
        enqueue(subject, ret_command);
        return;
    }
    rl_command_init(ret_command, step == RL_STEP_RELEASE ? RL_SEND_EVALSHA : RL_SEND_EVAL, RL_SCRIPT_RELEASE,
                    subject->waiters.size ? N_KEYS : N_KEYS_SHORT);
    push_keys(subject, ret_command);
    rl_push(ret_command, subject->token);
}

/* --- Replies ---------------------------------------------------------------------------------------------------- */

/* The elements of the reply to ENQUEUE: enqueue.lua. */
enum {
    CODE,
    TIME_US,
    TICKET,
    LOWER,
    RANK,
    PTTL,
    LOOK,
    COUNTER,
    N_ELEMENTS,
    IN_FRONT = N_ELEMENTS, /* where values follow the first, and it was not refused */
    N_ELEMENTS_MANY,
};

static bool has_numbers(const struct rl_reply *reply, size_t n)
{
    if (reply->root.type != RL_REPLY_ARRAY || reply->n_elements != n)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (reply->elements[i].type != RL_REPLY_INTEGER || reply->elements[i].integer < (i == CODE ? -3 : -1))
            return false;
    }
    return true;
}

static bool is_enqueue_reply(const struct rl_reply *reply)
{
    return has_numbers(reply, N_ELEMENTS);
}

struct rl_answer rl_queue_answer(const struct rl_reply *reply, bool fenced)
{
    const struct rl_reply_item *items = reply->elements;

    if (!is_enqueue_reply(reply))
        return (struct rl_answer){RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0};
    switch (items[CODE].integer) {
    case 1:
        if (fenced && items[COUNTER].integer <= 0)
            return (struct rl_answer){RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0};
        return (struct rl_answer){RL_GRANTED, RL_DETAIL_NONE, fenced ? (uint64_t)items[COUNTER].integer : 0};
    case 0:
        return (struct rl_answer){RL_QUEUED, RL_DETAIL_NONE, 0};
    case -2:
        return (struct rl_answer){RL_FAILED, RL_DETAIL_MEMORY_LOST, 0};
    case -3:
        return (struct rl_answer){RL_FAILED, RL_DETAIL_QUEUE_FULL, 0};
    default:
        return (struct rl_answer){RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0};
    }
}

static bool is_code(const struct rl_reply *reply, int64_t one, int64_t other)
{
    return reply->elements[CODE].integer == one || reply->elements[CODE].integer == other;
}

/* What was done for all, as far as each can be told its part. */
static bool is_reply_to_many(const struct rl_reply *reply)
{
    const struct rl_reply_item *items = reply->elements;

    return has_numbers(reply, N_ELEMENTS_MANY) && is_code(reply, 0, 1) && items[IN_FRONT].integer >= 0 &&
           items[IN_FRONT].integer < UINT32_MAX && items[TICKET].integer < INT64_MAX - RL_BATCH_MAX;
}

static bool is_refusal_of_all(const struct rl_reply *reply)
{
    return is_enqueue_reply(reply) && is_code(reply, -2, -3);
}

/* They are behind the first, in this order and with the next tickets. Somebody else looks after the one in front of
 * them, as with other newcomers; but who has none in front has to look after the holder. */
static void make_follower(struct rl_reply *own, int64_t rank, int64_t place)
{
    struct rl_reply_item *items = own->elements;

    items[CODE].integer = rank < LONGEST_QUEUE ? 0 : -3;
    items[TICKET].integer += place;
    items[LOWER].integer = 0;
    items[RANK].integer = rank;
    items[LOOK].integer = rank == 0 ? items[PTTL].integer : -1;
    items[COUNTER].integer = 0;
}

void rl_queue_reply_of(const struct rl_reply *reply, size_t i, size_t n, struct rl_reply *ret_own)
{
    *ret_own = *reply;
    if (n == 1 || reply->root.type == RL_REPLY_ERROR || is_refusal_of_all(reply))
        return;
    ret_own->n_elements = is_reply_to_many(reply) ? N_ELEMENTS : 0;
    if (i > 0 && ret_own->n_elements)
        make_follower(ret_own, reply->elements[IN_FRONT].integer + (int64_t)i - 1, (int64_t)i);
}

struct rl_answer rl_queue_undo_answer(const struct rl_reply *reply)
{
    if (reply->root.type != RL_REPLY_INTEGER)
        return (struct rl_answer){RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0};
    switch (reply->root.integer) {
    case 4:
        return (struct rl_answer){RL_GRANTED, RL_DETAIL_OTHERS_WAIT, 0};
    case 3:
        return (struct rl_answer){RL_FAILED, RL_DETAIL_OTHERS_WAIT, 0};
    case 2:
        return (struct rl_answer){RL_GRANTED, RL_DETAIL_HANDED_ON, 0};
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

struct rl_answer rl_queue_undone(struct rl_answer answer, bool deleted)
{
    if (answer.detail == RL_DETAIL_OTHERS_WAIT)
        return (struct rl_answer){RL_FAILED, RL_DETAIL_OTHERS_WAIT, 0};
    if (deleted && answer.outcome == RL_REFUSED)
        return (struct rl_answer){RL_GRANTED, RL_DETAIL_HANDED_ON, 0};
    return answer;
}

bool rl_queue_place(const struct rl_reply *reply, struct rl_place *ret_place)
{
    const struct rl_reply_item *items = reply->elements;

    if (!is_enqueue_reply(reply) || items[CODE].integer < 0 || items[TIME_US].integer < 0 ||
        items[TICKET].integer <= 0 || items[RANK].integer < 0)
        return false;
    *ret_place = (struct rl_place){
        .time_us = (uint64_t)items[TIME_US].integer,
        .ticket = (uint64_t)items[TICKET].integer,
        .rank = items[RANK].integer < UINT32_MAX ? (uint32_t)items[RANK].integer : UINT32_MAX,
        .held_ms = items[PTTL].integer,
        .look_ms = items[LOOK].integer,
        .lower = items[LOWER].integer == 1,
    };
    return true;
}

/* --- Notifications ---------------------------------------------------------------------------------------------- */

/* value round what incarnation time counter, with a space between each two. */
#define N_WORDS 6

static bool split(struct rl_slice payload, struct rl_slice words[N_WORDS])
{
    const char *at = payload.data;
    const char *end = at + payload.size;

    for (size_t i = 0; i < N_WORDS; i++) {
        const char *space = at < end ? memchr(at, ' ', (size_t)(end - at)) : NULL;
        bool last = i == N_WORDS - 1;

        if (last != !space || at == (space ? space : end))
            return false;
        words[i] = (struct rl_slice){at, (size_t)((space ? space : end) - at)};
        at = space ? space + 1 : end;
    }
    return true;
}

static bool read_number(struct rl_slice word, uint64_t *ret_number)
{
    const char *digits = word.data;
    uint64_t number = 0;

    if (word.size == 0 || word.size > 18)
        return false;
    for (size_t i = 0; i < word.size; i++) {
        if (digits[i] < '0' || digits[i] > '9')
            return false;
        number = number * 10 + (uint64_t)(digits[i] - '0');
    }
    *ret_number = number;
    return true;
}

bool rl_queue_call(struct rl_slice payload, struct rl_slice *ret_value, struct rl_slice *ret_incarnation,
                   struct rl_call *ret_call)
{
    struct rl_slice words[N_WORDS];
    struct rl_call call = {0};
    uint64_t round;

    if (!payload.size || !split(payload, words) || !read_number(words[1], &round) || round > UINT32_MAX ||
        !read_number(words[4], &call.time_us) || !read_number(words[5], &call.fence))
        return false;
    call.granted = rl_slice_is(words[2], "granted");
    if (!call.granted && !rl_slice_is(words[2], "lower"))
        return false;
    call.round = (uint32_t)round;
    *ret_value = words[0];
    *ret_incarnation = words[3];
    *ret_call = call;
    return true;
}

bool rl_queue_call_counts(const struct rl_call *call, struct rl_slice incarnation, struct rl_slice judged)
{
    if (!call->granted)
        return true;
    if (!judged.size)
        return rl_slice_is(incarnation, "-");
    return judged.size == incarnation.size && memcmp(judged.data, incarnation.data, judged.size) == 0;
}
