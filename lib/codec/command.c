#include "codec/command.h"

#include <assert.h>
#include <string.h>

#include <redlock/options.h>

#include "codec/script.h"
#include "util/slice.h"

/* "$" or "*", the digits, CR LF, and CR LF behind the text. */
#define FRAME_MAX (1 + RL_DECIMAL_MAX + 2 + 2)

/* EVALSHA, digest and number of keys in front of the arguments. */
#define SCRIPT_WORDS 3

/* Nearly every word has less than a hundred bytes. */
static unsigned char *put_header(unsigned char *out, char kind, size_t number)
{
    *out++ = (unsigned char)kind;
    if (number >= 100) {
        char digits[RL_DECIMAL_MAX];
        size_t n = rl_decimal(number, digits);

        memcpy(out, digits, n);
        out += n;
    } else {
        if (number >= 10)
            *out++ = (unsigned char)('0' + number / 10);
        *out++ = (unsigned char)('0' + number % 10);
    }
    *out++ = '\r';
    *out++ = '\n';
    return out;
}

static unsigned char *put_word(unsigned char *out, struct rl_slice word)
{
    out = put_header(out, '$', word.size);
    if (word.size)
        memcpy(out, word.data, word.size);
    out += word.size;
    *out++ = '\r';
    *out++ = '\n';
    return out;
}

static size_t words_bound(const struct rl_slice *words, size_t n_words)
{
    size_t bound = 0;

    for (size_t i = 0; i < n_words; i++)
        bound += FRAME_MAX + words[i].size;
    return bound;
}

static unsigned char *put_words(unsigned char *out, const struct rl_slice *words, size_t n_words)
{
    for (size_t i = 0; i < n_words; i++)
        out = put_word(out, words[i]);
    return out;
}

/* One command of two runs of words, with room for so many more. Room is made once, for the longest it can be; then it
 * is written in one pass. */
static bool encode(const struct rl_slice *first, size_t n_first, const struct rl_slice *rest, size_t n_rest,
                   size_t n_more, struct rl_bytes *out)
{
    unsigned char *end;

    if (!rl_bytes_reserve(out, FRAME_MAX + words_bound(first, n_first) + words_bound(rest, n_rest)))
        return false;
    end = put_header(out->data + out->size, '*', n_first + n_rest + n_more);
    end = put_words(put_words(end, first, n_first), rest, n_rest);
    out->size = (size_t)(end - out->data);
    return true;
}

bool rl_words_append(const struct rl_slice *words, size_t n_words, struct rl_bytes *out)
{
    if (!rl_bytes_reserve(out, words_bound(words, n_words)))
        return false;
    out->size = (size_t)(put_words(out->data + out->size, words, n_words) - out->data);
    return true;
}

static bool encode_script(bool by_digest, enum rl_script which, size_t n_keys, const struct rl_slice *argv, size_t argc,
                          size_t n_more, struct rl_bytes *out)
{
    const struct rl_script_text *script = rl_script_text(which);
    char keys[RL_DECIMAL_MAX];
    struct rl_slice words[SCRIPT_WORDS];

    if (by_digest) {
        words[0] = (struct rl_slice){"EVALSHA", 7};
        words[1] = (struct rl_slice){script->sha1, 40};
    } else {
        words[0] = (struct rl_slice){"EVAL", 4};
        words[1] = (struct rl_slice){script->text, script->size};
    }
    words[2] = (struct rl_slice){keys, rl_decimal(n_keys, keys)};
    return encode(words, SCRIPT_WORDS, argv, argc, n_more, out);
}

bool rl_command_begin_many(const struct rl_command *command, size_t n, struct rl_bytes *out)
{
    return encode_script(command->by_digest, command->script, n * command->n_keys, NULL, 0, n * command->argc, out);
}

bool rl_command_encode(const struct rl_command *command, struct rl_bytes *out)
{
    if (command->script == RL_SCRIPT_NONE)
        return encode(command->argv, command->argc, NULL, 0, 0, out);
    return encode_script(command->by_digest, command->script, command->n_keys, command->argv, command->argc, 0, out);
}

static struct rl_slice number_word(uint64_t number, char digits[RL_DECIMAL_MAX])
{
    return (struct rl_slice){digits, rl_decimal(number, digits)};
}

/* A value whose vote is shared has the mode in front of it. */
#define SHARED_WORD_MAX (2 + REDLOCK_MAX_TOKEN_BYTES)

static struct rl_slice value_word(struct rl_slice token, enum rl_mode mode, char word[SHARED_WORD_MAX])
{
    if (mode == RL_EXCLUSIVE)
        return token;
    assert(token.size <= REDLOCK_MAX_TOKEN_BYTES);
    word[0] = mode == RL_SHARED ? 'r' : 'u';
    word[1] = ' ';
    memcpy(word + 2, token.data, token.size);
    return (struct rl_slice){word, 2 + token.size};
}

bool rl_extend_many_encode(const struct rl_extend_many *many, bool by_digest, struct rl_bytes *out)
{
    struct rl_slice argv[2 * RL_BATCH_MAX + 1];
    char words[RL_BATCH_MAX][SHARED_WORD_MAX];
    char ttl[RL_DECIMAL_MAX];

    assert(many->n >= 1 && many->n <= RL_BATCH_MAX);
    memcpy(argv, many->keys, many->n * sizeof argv[0]);
    argv[many->n] = number_word(many->ttl_ms, ttl);
    for (size_t i = 0; i < many->n; i++)
        argv[many->n + 1 + i] = value_word(many->tokens[i], many->modes[i], words[i]);
    return encode_script(by_digest, RL_SCRIPT_EXTEND_MANY, many->n, argv, 2 * many->n + 1, 0, out);
}

bool rl_joins_encode(const struct rl_command *command, const struct rl_joins *joins, struct rl_bytes *out)
{
    struct rl_slice argv[RL_COMMAND_MAX_ARGS + 2 * RL_BATCH_MAX];
    char proposals[RL_BATCH_MAX][RL_PROPOSAL_MAX];
    size_t argc = command->argc;

    assert(joins->n < RL_BATCH_MAX);
    memcpy(argv, command->argv, argc * sizeof argv[0]);
    for (size_t i = 0; i < joins->n; i++) {
        argv[argc++] = joins->tokens[i];
        argv[argc++] = rl_proposal_word(joins->proposals[i], joins->lead_us, proposals[i]);
    }
    return encode_script(command->by_digest, command->script, command->n_keys, argv, argc, 0, out);
}

/* Token, round, ticket and proposal. */
#define REFRESH_WORDS 4

bool rl_refresh_many_encode(const struct rl_command *command, const struct rl_refresh_many *many, struct rl_bytes *out)
{
    struct rl_slice argv[RL_COMMAND_MAX_ARGS + REFRESH_WORDS * RL_BATCH_MAX];
    char digits[RL_BATCH_MAX][REFRESH_WORDS - 1][RL_PROPOSAL_MAX];
    size_t argc = command->argc;

    assert(many->n <= RL_BATCH_MAX);
    memcpy(argv, command->argv, argc * sizeof argv[0]);
    for (size_t i = 0; i < many->n; i++) {
        argv[argc++] = many->at[i].token;
        argv[argc++] = number_word(many->at[i].round, digits[i][0]);
        argv[argc++] = number_word(many->at[i].ticket, digits[i][1]);
        argv[argc++] = rl_proposal_word(many->at[i].proposal, many->lead_us, digits[i][2]);
    }
    return encode_script(command->by_digest, command->script, command->n_keys, argv, argc, 0, out);
}

bool rl_words_encode(const struct rl_slice *words, size_t n_words, struct rl_bytes *out)
{
    return encode(words, n_words, NULL, 0, 0, out);
}
