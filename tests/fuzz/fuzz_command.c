/* What the encoder writes, hiredis reads back, word for word.
 *
 * Input: the step and the ttl, the length of the key, then the key and the token. */
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <string.h>

#include "codec/command.h"
#include "codec/script.h"
#include "core/recipe.h"
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

/* Where the subject must be found in the command of each step. */
static void check_words(const redisReply *reply, enum rl_step step, const struct rl_subject *subject)
{
    const size_t key_at = step == RL_STEP_CLAIM ? 1 : 3;
    const size_t ttl_at = step == RL_STEP_CLAIM ? 5 : 5;
    const bool has_ttl = step == RL_STEP_CLAIM || step == RL_STEP_EXTEND;
    char ttl[16];

    snprintf(ttl, sizeof(ttl), "%" PRIu32, subject->ttl_ms);
    HOLDS(reply->elements == (has_ttl ? 6u : 5u));
    expect_word(reply, key_at, subject->key);
    expect_word(reply, key_at + 1, subject->token);
    if (has_ttl)
        expect_word(reply, ttl_at, text(ttl));
    expect_word(reply, 0, text(step == RL_STEP_CLAIM ? "SET" : step == RL_STEP_ROLLBACK ? "EVAL" : "EVALSHA"));
}

static void check_step(enum rl_step step, const struct rl_subject *subject)
{
    struct rl_command command;
    struct rl_bytes bytes = {0};
    redisReply *reply;

    rl_mutex_recipe.command(step, subject, &command);
    HOLDS(rl_command_encode(&command, &bytes));
    reply = parse(&bytes);
    check_words(reply, step, subject);
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
    uint32_t ttl_ms;
    size_t key_size;

    if (size < 6)
        return;
    memcpy(&ttl_ms, data + 1, sizeof(ttl_ms));
    key_size = data[5] < size - 6 ? data[5] : size - 6;
    subject = (struct rl_subject){
        .key = {data + 6, key_size}, .token = {data + 6 + key_size, size - 6 - key_size}, .ttl_ms = ttl_ms};
    check_step((enum rl_step)(data[0] % RL_STEP_COUNT), &subject);
    check_plain(data + 6, size - 6, 1 + data[0] / 16);
}
