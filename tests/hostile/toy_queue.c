/* The toy master's queues: RELEASE and ENQUEUE, and the notifications. */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "toy_inside.h"

/* Behind the script, its digest or text, and the number of its keys. */
enum { KEY = 3, SHORT_RELEASE_VALUE = 5, RELEASE_VALUE = 8 };
enum { VALUE = 8, LEASE, ROUND, TICKET, PROPOSED, INCARNATION, PROPOSAL, IDLE, CHANNEL };

static void copy(char *to, size_t size, struct toy_word word)
{
    ck_assert_uint_lt(word.size, size);
    memcpy(to, word.bytes, word.size);
    to[word.size] = '\0';
}

static bool waits_for(struct toy_waiter *waiter, struct toy_word key)
{
    if (waiter->key_size && waiter->lease_ends_ns <= toy_now_ns())
        waiter->key_size = 0;
    return waiter->key_size == key.size && memcmp(waiter->key, key.bytes, key.size) == 0;
}

static struct toy_waiter *find(struct toy *toy, struct toy_word key, struct toy_word value)
{
    for (size_t i = 0; i < TOY_WAITERS; i++) {
        if (waits_for(&toy->waiters[i], key) && toy_is(value, toy->waiters[i].value))
            return &toy->waiters[i];
    }
    return NULL;
}

static bool is_before(const struct toy_waiter *a, const struct toy_waiter *b)
{
    return a->ticket != b->ticket ? a->ticket < b->ticket : strcmp(a->value, b->value) < 0;
}

static struct toy_waiter *first_in_queue(struct toy *toy, struct toy_word key)
{
    struct toy_waiter *first = NULL;

    for (size_t i = 0; i < TOY_WAITERS; i++) {
        struct toy_waiter *waiter = &toy->waiters[i];

        if (waits_for(waiter, key) && (!first || is_before(waiter, first)))
            first = waiter;
    }
    return first;
}

static void notify(struct toy *toy, const struct toy_waiter *waiter, int64_t counter)
{
    char payload[256];

    snprintf(payload, sizeof payload, "%s %s granted %s %" PRId64 " %" PRId64, waiter->value, waiter->round,
             waiter->incarnation, toy_wall_us(), counter);
    toy_publish(toy, waiter->channel, payload);
}

/* The key is free, or its holder gives it up. */
static bool hand_off(struct toy *toy, struct toy_word key, struct toy_word me)
{
    struct toy_waiter *successor = first_in_queue(toy, key);
    struct toy_word value;

    if (!successor)
        return false;
    value = (struct toy_word){(const unsigned char *)successor->value, strlen(successor->value)};
    toy_store(toy, key, value, (successor->lease_ends_ns - toy_now_ns()) / 1000000 + 1);
    if (successor->fenced)
        toy->counter++;
    successor->key_size = 0;
    if (!toy_is(me, successor->value))
        notify(toy, successor, successor->fenced ? toy->counter : 0);
    return true;
}

static const char *release(struct toy *toy, struct toy_word key, struct toy_word value)
{
    static const struct toy_word nobody = {(const unsigned char *)"", 0};
    struct toy_key *at = toy_find(toy, key);
    struct toy_key *vote = toy_find_vote(toy, key, value);
    struct toy_waiter *waiter = find(toy, key, value);

    if (waiter)
        waiter->key_size = 0;
    if (vote) {
        vote->size = 0;
        toy->deletes++;
        return ":1\r\n";
    }
    if (!at)
        return ":0\r\n";
    if (!toy_is(value, at->value))
        return ":-1\r\n";
    at->size = 0;
    toy->deletes++;
    return hand_off(toy, key, nobody) ? ":2\r\n" : ":1\r\n";
}

const char *toy_release(struct toy *toy, const struct toy_word *words)
{
    return release(toy, words[KEY], words[RELEASE_VALUE]);
}

/* In both forms, of a permit: the keys are more by those of the semaphore's directory. */
const char *toy_release_permit(struct toy *toy, const struct toy_word *words)
{
    return release(toy, words[KEY], words[KEY + toy_number(words[KEY - 1])]);
}

/* The short form, of a client that knows of nobody in the queue. */
const char *toy_release_alone(struct toy *toy, const struct toy_word *words)
{
    struct toy_key *at = toy_find(toy, words[KEY]);
    bool mine = at && toy_is(words[SHORT_RELEASE_VALUE], at->value);

    if (!first_in_queue(toy, words[KEY]))
        return release(toy, words[KEY], words[SHORT_RELEASE_VALUE]);
    if (mine)
        at->size = 0;
    toy->deletes += mine;
    return mine ? ":4\r\n" : ":3\r\n";
}

/* The short form for several values, which stand behind all keys: a letter for each. */
const char *toy_release_many(struct toy *toy, const struct toy_word *words, size_t n_values)
{
    size_t n_keys = (size_t)toy_number(words[KEY - 1]);
    char letters[128];

    ck_assert_uint_lt(n_values, sizeof letters);
    for (size_t i = 0; i < n_values; i++) {
        const struct toy_word own[] = {[KEY] = words[KEY + i * (n_keys / n_values)],
                                       [SHORT_RELEASE_VALUE] = words[KEY + n_keys + i]};
        const char *said = toy_release_alone(toy, own);

        letters[i] = said[1]; /* of ":1", and of ":-1" */
    }
    snprintf(toy->reply, sizeof toy->reply, "$%zu\r\n%.*s\r\n", n_values, (int)n_values, letters);
    return toy->reply;
}

static struct toy_waiter *take_place(struct toy *toy, const struct toy_word *words)
{
    struct toy_waiter *waiter = find(toy, words[KEY], words[VALUE]);
    struct toy_word unmarked = {(const unsigned char *)"-", 1};

    for (size_t i = 0; !waiter && i < TOY_WAITERS; i++) {
        if (!toy->waiters[i].key_size)
            waiter = &toy->waiters[i];
    }
    ck_assert_ptr_nonnull(waiter);
    if (!waiter->key_size)
        waiter->ticket = ++toy->tickets;
    if (toy_number(words[TICKET]))
        waiter->ticket = toy_number(words[TICKET]);
    if (waiter->ticket > toy->tickets)
        toy->tickets = waiter->ticket;
    memcpy(waiter->key, words[KEY].bytes, words[KEY].size);
    waiter->key_size = words[KEY].size;
    waiter->lease_ends_ns = toy_now_ns() + toy_number(words[LEASE]) * 1000000;
    waiter->fenced = toy_number(words[PROPOSAL]) != 0;
    copy(waiter->value, sizeof waiter->value, words[VALUE]);
    copy(waiter->round, sizeof waiter->round, words[ROUND]);
    copy(waiter->channel, sizeof waiter->channel, words[CHANNEL]);
    copy(waiter->incarnation, sizeof waiter->incarnation, words[INCARNATION].size ? words[INCARNATION] : unmarked);
    return waiter;
}

const char *toy_answer_enqueue(struct toy *toy, int code, int64_t ticket, size_t rank, int64_t left_ms)
{
    snprintf(toy->reply, sizeof toy->reply,
             "*8\r\n:%d\r\n:%" PRId64 "\r\n:%" PRId64 "\r\n:0\r\n"
             ":%zu\r\n:%" PRId64 "\r\n:%" PRId64 "\r\n:%" PRId64 "\r\n",
             code, toy_wall_us(), ticket, rank, left_ms, code == 1 ? -1 : left_ms, toy->counter);
    return toy->reply;
}

static int64_t left_ms(const struct toy_key *at)
{
    return at ? (at->expires_ns - toy_now_ns()) / 1000000 : -1;
}

static size_t rank_of(struct toy *toy, struct toy_word key, const struct toy_waiter *waiter)
{
    size_t rank = 0;

    for (size_t i = 0; i < TOY_WAITERS; i++)
        rank += waits_for(&toy->waiters[i], key) && is_before(&toy->waiters[i], waiter);
    return rank;
}

const char *toy_enqueue(struct toy *toy, const struct toy_word *words)
{
    struct toy_key *at = toy_find(toy, words[KEY]);
    struct toy_waiter *waiter;
    int64_t ticket;

    if (words[INCARNATION].size && !toy_is(words[INCARNATION], toy->incarnation))
        return toy_answer_enqueue(toy, -2, 0, 0, -1);
    if (at && toy_is(words[VALUE], at->value)) {
        at->expires_ns = toy_now_ns() + toy_number(words[LEASE]) * 1000000;
        ticket = toy_number(words[TICKET]) ? toy_number(words[TICKET]) : ++toy->tickets;
        return toy_answer_enqueue(toy, 1, ticket, 0, left_ms(at));
    }
    waiter = take_place(toy, words);
    ticket = waiter->ticket;
    if (!at) {
        hand_off(toy, words[KEY], words[VALUE]);
        at = toy_find(toy, words[KEY]);
    }
    return toy_answer_enqueue(toy, at && toy_is(words[VALUE], at->value), ticket, rank_of(toy, words[KEY], waiter),
                              left_ms(at));
}

/* Of REFRESH_MANY: what all have in common, where the first begins, and what each has. */
enum { KEEP_LEASE = 8, KEEP_INCARNATION, KEEP_FENCED, KEEP_IDLE, KEEP_CHANNEL, KEEP_FIRST, KEEP_EACH = 4 };

/* Where a lease is, ENQUEUE has a value, which is a long word. */
bool toy_is_keep_many(const struct toy_word *words, size_t n)
{
    return n >= KEEP_FIRST + KEEP_EACH && (n - KEEP_FIRST) % KEEP_EACH == 0 && words[KEEP_LEASE].size <= 10;
}

/* "rank look", or "- -" for who must ask alone. */
static int keep_one(struct toy *toy, const struct toy_word *all, const struct toy_word *own, char *text, size_t size)
{
    struct toy_key *at = toy_find(toy, all[KEY]);
    struct toy_word words[] = {
        [KEY] = all[KEY],  [VALUE] = own[0],  [LEASE] = all[KEEP_LEASE], [ROUND] = own[1],
        [TICKET] = own[2], [PROPOSAL] = own[3], [INCARNATION] = all[KEEP_INCARNATION], [CHANNEL] = all[KEEP_CHANNEL]};

    if (!at || toy_is(own[0], at->value) || !find(toy, all[KEY], own[0]))
        return snprintf(text, size, "- -");
    return snprintf(text, size, "%zu %" PRId64, rank_of(toy, all[KEY], take_place(toy, words)), left_ms(at));
}

const char *toy_keep_many(struct toy *toy, const struct toy_word *words, size_t n)
{
    char text[256] = "";
    size_t used = 0;

    if (words[KEEP_INCARNATION].size && !toy_is(words[KEEP_INCARNATION], toy->incarnation))
        return toy_answer_enqueue(toy, -2, 0, 0, -1);
    for (size_t i = KEEP_FIRST; i < n; i += KEEP_EACH) {
        if (used)
            text[used++] = ' ';
        used += (size_t)keep_one(toy, words, &words[i], text + used, sizeof text - used);
        ck_assert_uint_lt(used, sizeof text - 1);
    }
    snprintf(toy->reply, sizeof toy->reply, "*4\r\n:0\r\n:%" PRId64 "\r\n:%" PRId64 "\r\n$%zu\r\n%s\r\n",
             toy_wall_us(), left_ms(toy_find(toy, words[KEY])), used, text);
    return toy->reply;
}

size_t toy_waiting(struct toy *toy)
{
    size_t n = 0;

    for (size_t i = 0; i < TOY_WAITERS; i++) {
        struct toy_waiter *waiter = &toy->waiters[i];

        n += waiter->key_size && waiter->lease_ends_ns > toy_now_ns();
    }
    return n;
}
