/* What the encoder writes, hiredis reads back, word for word.
 *
 * Input: the step and the ttl, the length of the key, then the key and the token. The fenced kind and the marker are
 * chosen by the highest bits of the ttl, which no ttl has. */
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <string.h>

#include "codec/command.h"
#include "codec/script.h"
#include "kinds/mutex.h"
#include "votes/kind.h"
#include "fuzz.h"

static redisReply *parse(const struct rl_bytes *bytes)
{
    redisReader *reader = redisReaderCreate();
    void *reply = NULL;

    HOLDS(reader != NULL);
    HOLDS(redisReaderFeed(reader, (const char *)rl_bytes_front(bytes), rl_bytes_length(bytes)) == REDIS_OK);
    HOLDS(redisReaderGetReply(reader, &reply) == REDIS_OK && reply);
    HOLDS(reader->pos == reader->len); /* one command, and nothing behind it */
    redisReaderFree(reader);
    HOLDS(((redisReply *)reply)->type == REDIS_REPLY_ARRAY);
    return reply;
}

static void expect_word(const redisReply *reply, size_t i, struct rl_slice word)
{
    const redisReply *element = i < reply->elements ? reply->element[i] : NULL;

    HOLDS(element && element->type == REDIS_REPLY_STRING && (size_t)element->len == word.size);
    HOLDS(word.size == 0 || memcmp(element->str, word.data, word.size) == 0);
}

static struct rl_slice text(const char *string)
{
    return (struct rl_slice){string, strlen(string)};
}

/* The words of each step's command, a letter for each: see expect_letter(). */
static const char *const shapes[][RL_STEP_COUNT] = {
    {
        [RL_STEP_CLAIM] = "SktNPm",
        [RL_STEP_RAISE] = "ED1ktm",
        [RL_STEP_EXTEND] = "ED1ktm",
        [RL_STEP_REPAIR] = "ED2kMtmi",
        [RL_STEP_ENQUEUE] = "ED5kqwcMtmrTziplh",
        [RL_STEP_RELEASE] = "ED5kqwcMt",
        [RL_STEP_ROLLBACK] = "ED5kqwcMt",
    },
    {
        [RL_STEP_CLAIM] = "ED2kctmpl",
        [RL_STEP_RAISE] = "ED2kctfl",
        [RL_STEP_EXTEND] = "ED1ktm",
        [RL_STEP_REPAIR] = "ED3kMctmifl",
        [RL_STEP_ENQUEUE] = "ED5kqwcMtmrTziplh",
        [RL_STEP_RELEASE] = "ED5kqwcMt",
        [RL_STEP_ROLLBACK] = "ED5kqwcMt",
    },
};

static void expect_number(const redisReply *reply, size_t i, uint64_t number)
{
    char digits[24];

    snprintf(digits, sizeof digits, "%" PRIu64, number);
    expect_word(reply, i, text(digits));
}

static void expect_letter(const redisReply *reply, size_t i, char letter, const struct rl_subject *subject)
{
    const struct {
        char letter;
        struct rl_slice word;
    } words[] = {
        {'S', text("SET")}, {'N', text("NX")}, {'P', text("PX")}, {'H', text("EVALSHA")}, {'E', text("EVAL")},
        {'1', text("1")},   {'2', text("2")},  {'3', text("3")},  {'5', text("5")},
        {'k', subject->key}, {'t', subject->token},
        {'q', subject->queue}, {'w', subject->waiters}, {'h', subject->channel},
        {'c', subject->counter}, {'M', subject->marker.size ? subject->marker : subject->key},
        {'i', subject->marker.size ? subject->incarnation : text("")},
    };
    const struct {
        char letter;
        uint64_t number;
    } numbers[] = {
        {'m', subject->ttl_ms}, {'p', subject->proposal}, {'f', subject->fence}, {'l', subject->counter_ttl_ms},
        {'r', subject->round},  {'T', subject->ticket},   {'z', subject->proposed_ticket}};

    for (size_t j = 0; j < sizeof words / sizeof words[0]; j++) {
        if (words[j].letter == letter)
            expect_word(reply, i, words[j].word);
    }
    for (size_t j = 0; j < sizeof numbers / sizeof numbers[0]; j++) {
        if (numbers[j].letter == letter)
            expect_number(reply, i, numbers[j].number);
    }
}

static void check_step(const struct rl_kind *kind, enum rl_step step, const struct rl_subject *subject)
{
    const char *shape = shapes[kind == &rl_fenced_kind][step];
    struct rl_command command;
    struct rl_bytes bytes = {0};
    redisReply *reply;

    kind->command(step, subject, &command);
    HOLDS(rl_command_encode(&command, &bytes));
    reply = parse(&bytes);
    HOLDS(reply->elements == strlen(shape));
    for (size_t i = 0; i < reply->elements; i++)
        expect_letter(reply, i, shape[i], subject);
    freeReplyObject(reply);
    rl_bytes_fini(&bytes);
}

static void check_plain(const uint8_t *data, size_t size, size_t n_words)
{
    struct rl_slice words[16];
    struct rl_bytes bytes = {0};
    redisReply *reply;

    for (size_t i = 0; i < n_words; i++)
        words[i] = (struct rl_slice){data + i * size / n_words, (i + 1) * size / n_words - i * size / n_words};
    HOLDS(rl_words_encode(words, n_words, &bytes));
    reply = parse(&bytes);
    HOLDS(reply->elements == n_words);
    for (size_t i = 0; i < n_words; i++)
        expect_word(reply, i, words[i]);
    freeReplyObject(reply);
    rl_bytes_fini(&bytes);
}

void fuzz_command(const uint8_t *data, size_t size)
{
    struct rl_subject subject;
    bool fenced, marked;
    uint32_t ttl_ms;
    size_t key_size;

    if (size < 6)
        return;
    memcpy(&ttl_ms, data + 1, sizeof ttl_ms);
    key_size = data[5] < size - 6 ? data[5] : size - 6;
    fenced = ttl_ms & (UINT32_C(1) << 31);
    marked = ttl_ms & (UINT32_C(1) << 30);
    subject = (struct rl_subject){
        .key = {data + 6, key_size}, .token = {data + 6 + key_size, size - 6 - key_size}, .ttl_ms = ttl_ms,
        .queue = text("queue"), .waiters = text("waiters"), .channel = {data + 6, size - 6},
        .round = ttl_ms * 3, .ticket = (uint64_t)ttl_ms << 20, .proposed_ticket = UINT64_MAX - ttl_ms};
    if (marked) {
        subject.marker = text("marker");
        subject.incarnation = subject.token;
    }
    if (fenced) {
        subject.counter = text("counter");
        subject.counter_ttl_ms = UINT64_MAX - ttl_ms;
        subject.proposal = subject.fence = (uint64_t)ttl_ms << data[5] % 32;
    }
    check_step(fenced ? &rl_fenced_kind : &rl_mutex_kind, (enum rl_step)(data[0] % RL_STEP_COUNT), &subject);
    check_plain(data + 6, size - 6, 1 + data[0] / 16);
}
