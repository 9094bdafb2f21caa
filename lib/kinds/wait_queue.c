#include "kinds/wait_queue.h"

#include "kinds/text.h"
#include "kinds/command.h"

/* The keys of enqueue.lua and refresh_many.lua. */
#define N_KEYS 5

/* The limit in enqueue.lua. */
#define LONGEST_QUEUE 100000

/* Where there is no marker, the key is named in its place, since no ACL allows an empty name; the scripts do not look
 * at it then. */
void rl_queue_push_keys(const struct rl_subject *subject, struct rl_command *command)
{
    rl_push(command, subject->key);
    rl_push(command, subject->queue);
    if (!subject->waiters.size)
        return;
    rl_push(command, subject->waiters);
    rl_push(command, subject->counter);
    rl_push(command, subject->marker.size ? subject->marker : subject->key);
}

void rl_queue_enqueue_command(const struct rl_subject *subject, struct rl_command *ret_command)
{
    rl_command_init(ret_command, RL_SCRIPT_ENQUEUE, N_KEYS);
    rl_queue_push_keys(subject, ret_command);
    rl_push(ret_command, subject->token);
    rl_push_number(ret_command, 0, subject->ttl_ms);
    rl_push_number(ret_command, 1, subject->round);
    rl_push_number(ret_command, 2, subject->ticket);
    rl_push_number(ret_command, 3, subject->proposed_ticket);
    rl_push(ret_command, subject->incarnation);
    rl_push_proposal(ret_command, 4, subject);
    rl_push_number(ret_command, 5, subject->counter_ttl_ms);
    rl_push(ret_command, subject->channel);
}

void rl_queue_refresh_many_command(const struct rl_subject *subject, struct rl_command *ret_command)
{
    rl_command_init(ret_command, RL_SCRIPT_REFRESH_MANY, N_KEYS);
    rl_queue_push_keys(subject, ret_command);
    rl_push_number(ret_command, 0, subject->ttl_ms);
    rl_push(ret_command, subject->incarnation);
    rl_push_number(ret_command, 1, subject->proposal != 0);
    rl_push_number(ret_command, 2, subject->counter_ttl_ms);
    rl_push(ret_command, subject->channel);
}

/* --- Replies ---------------------------------------------------------------------------------------------------- */

/* The elements of the reply of enqueue.lua. */
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
    IN_FRONT = N_ELEMENTS, /* where further values follow the first, and it was not refused */
    N_ELEMENTS_MANY,
};

static bool has_numbers(const struct rl_reply *reply, size_t n)
{
    if (!rl_reply_is_integers(reply, n))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (reply->elements[i].integer < (i == CODE ? -3 : -1))
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

/* A reply that can be taken apart: something was done for all values. */
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

/* The further values are behind the first, in this order and with the next tickets. The one in front of a value looks
 * after itself, as with other new entries; but a value that has none in front must look after the holder. */
static void make_tail_reply(struct rl_reply *own, int64_t rank, int64_t place)
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
        make_tail_reply(ret_own, reply->elements[IN_FRONT].integer + (int64_t)i - 1, (int64_t)i);
}

/* The elements of the reply of refresh_many.lua; TIME_US is where it is in that of enqueue.lua. */
enum {
    REFRESHED_PTTL = TIME_US + 1,
    REFRESHED_TEXT,
    N_ELEMENTS_REFRESHED,
};

static bool is_refresh_reply(const struct rl_reply *reply)
{
    const struct rl_reply_item *items = reply->elements;

    return reply->root.type == RL_REPLY_ARRAY && reply->n_elements == N_ELEMENTS_REFRESHED &&
           items[CODE].type == RL_REPLY_INTEGER && items[CODE].integer == 0 &&
           items[TIME_US].type == RL_REPLY_INTEGER && items[REFRESHED_PTTL].type == RL_REPLY_INTEGER &&
           items[REFRESHED_TEXT].type == RL_REPLY_STRING;
}

static bool read_refreshed(struct rl_slice rank, struct rl_slice look, struct rl_refreshed *ret_refreshed)
{
    uint64_t number = 0;
    uint64_t ms = 0;
    bool alone = rl_slice_is(rank, "-") && rl_slice_is(look, "-");
    bool never = rl_slice_is(look, "-1");

    if (!alone && (!rl_text_read_number(rank, &number) || number > UINT32_MAX ||
                   (!never && !rl_text_read_number(look, &ms))))
        return false;
    *ret_refreshed = (struct rl_refreshed){.alone = alone, .rank = (uint32_t)number,
                                           .look_ms = never ? -1 : (int64_t)ms};
    return true;
}

bool rl_queue_refreshed(const struct rl_reply *reply, size_t n, struct rl_refreshed ret_refreshed[])
{
    struct rl_slice text;
    struct rl_slice rank;
    struct rl_slice look;

    if (!is_refresh_reply(reply))
        return false;
    text = reply->elements[REFRESHED_TEXT].text;
    for (size_t i = 0; i < n; i++) {
        if (!rl_text_take_word(&text, &rank) || !rl_text_take_word(&text, &look) ||
            !read_refreshed(rank, look, &ret_refreshed[i]))
            return false;
    }
    return !text.data;
}

void rl_queue_refreshed_reply(const struct rl_reply *reply, const struct rl_refreshed *refreshed, uint64_t ticket,
                              struct rl_reply *ret_own)
{
    *ret_own = *reply;
    if (!refreshed) {
        if (reply->root.type != RL_REPLY_ERROR && !is_refusal_of_all(reply))
            ret_own->n_elements = 0;
        return;
    }
    for (size_t i = 0; i < N_ELEMENTS; i++)
        ret_own->elements[i].type = RL_REPLY_INTEGER;
    ret_own->elements[TICKET].integer = (int64_t)ticket;
    ret_own->elements[LOWER].integer = 0;
    ret_own->elements[RANK].integer = refreshed->rank;
    ret_own->elements[PTTL].integer = reply->elements[REFRESHED_PTTL].integer;
    ret_own->elements[LOOK].integer = refreshed->look_ms;
    ret_own->elements[COUNTER].integer = 0;
    ret_own->n_elements = N_ELEMENTS;
}

/* Somebody else may have set a key whose ttl no clock can count. */
static int64_t cut(int64_t ms)
{
    return ms < INT64_C(1) << 40 ? ms : INT64_C(1) << 40;
}

bool rl_queue_entry_report(const struct rl_reply *reply, struct rl_entry_report *ret_report)
{
    const struct rl_reply_item *items = reply->elements;

    if ((!is_enqueue_reply(reply) && !has_numbers(reply, N_ELEMENTS_MANY)) || items[CODE].integer < 0 ||
        items[TIME_US].integer < 0 || items[TICKET].integer <= 0 || items[RANK].integer < 0)
        return false;
    *ret_report = (struct rl_entry_report){
        .time_us = (uint64_t)items[TIME_US].integer,
        .ticket = (uint64_t)items[TICKET].integer,
        .rank = items[RANK].integer < UINT32_MAX ? (uint32_t)items[RANK].integer : UINT32_MAX,
        .held_ms = cut(items[PTTL].integer),
        .look_ms = cut(items[LOOK].integer),
        .lower = items[LOWER].integer == 1,
    };
    return true;
}

/* "value round what incarnation time counter" */
#define N_WORDS 6

static bool split(struct rl_slice payload, struct rl_slice words[N_WORDS])
{
    for (size_t i = 0; i < N_WORDS; i++) {
        if (!rl_text_take_word(&payload, &words[i]))
            return false;
    }
    return !payload.data;
}

static bool read_kind(struct rl_slice word, enum rl_notice_kind *ret_kind)
{
    static const char *const words[] = {
        [RL_TOLD_GRANTED] = "granted", [RL_TOLD_LOWER] = "lower", [RL_TOLD_LOOK] = "look",
        [RL_TOLD_FIRST] = "first"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        *ret_kind = (enum rl_notice_kind)i;
        if (rl_slice_is(word, words[i]))
            return true;
    }
    return false;
}

bool rl_notification_read(struct rl_slice payload, struct rl_slice *ret_value, struct rl_slice *ret_incarnation,
                           struct rl_notification *ret_notification)
{
    struct rl_slice words[N_WORDS];
    struct rl_notification notification = {0};
    uint64_t round;

    if (!payload.size || !split(payload, words) || !rl_text_read_number(words[1], &round) || round > UINT32_MAX ||
        !rl_text_read_number(words[4], &notification.time_us) || !rl_text_read_number(words[5], &notification.fence))
        return false;
    if (!read_kind(words[2], &notification.kind))
        return false;
    notification.round = (uint32_t)round;
    *ret_value = words[0];
    *ret_incarnation = words[3];
    *ret_notification = notification;
    return true;
}

bool rl_notification_counts(const struct rl_notification *notification, struct rl_slice incarnation,
                                  struct rl_slice admitted)
{
    if (notification->kind != RL_TOLD_GRANTED)
        return true;
    if (!admitted.size)
        return rl_slice_is(incarnation, "-");
    return rl_slice_equals(admitted, incarnation);
}
