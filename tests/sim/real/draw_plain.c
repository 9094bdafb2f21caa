#include "draw_plain.h"

#include <check.h>
#include <stdio.h>

#include "codec/command.h"
#include "draw_words.h"
#include "kinds/names.h"
#include "util/slice.h"

/* Errors are known by their first word, which those of a server before Redis 7 do not all have. A hash names its fields
 * in any order. */
const char program_show[] =
    "local function show(value)\n"
    "  if type(value) ~= 'table' then return type(value) .. ' ' .. tostring(value) end\n"
    "  if value.err then return 'error ' .. (value.err:match('^%u%u+') or 'ERR') end\n"
    "  if value.ok then return 'status ' .. value.ok end\n"
    "  local parts = {}\n"
    "  for i = 1, #value do parts[i] = show(value[i]) end\n"
    "  if ARGV[1] == 'HKEYS' then table.sort(parts) end\n"
    "  return '{' .. table.concat(parts, ', ') .. '}'\n"
    "end\n"
    "return show(redis.pcall(unpack(ARGV)))\n";
const char program_return[] = "return redis.call(unpack(ARGV))\n";

#define MOST_WORDS 24

struct line {
    struct rl_slice words[MOST_WORDS];
    size_t n;
    char numbers[8][RL_DECIMAL_MAX + 2];
    size_t n_numbers;
};

static void add(struct line *line, const char *word)
{
    ck_assert_uint_lt(line->n, MOST_WORDS);
    line->words[line->n++] = rl_slice_of(word);
}

static void add_number(struct line *line, const char *before, int64_t number)
{
    char *text = line->numbers[line->n_numbers];

    ck_assert_uint_lt(line->n_numbers++, COUNT(line->numbers));
    snprintf(text, sizeof line->numbers[0], "%s%lld", before, (long long)number);
    add(line, text);
}

static void draw_set(struct rng *rng, struct line *line)
{
    add(line, rng_chance(rng, 800) ? "SET" : "set");
    add(line, draw_any_name(rng));
    add(line, draw_some_word(rng));
    if (rng_chance(rng, 400))
        add(line, "NX");
    if (rng_chance(rng, 200))
        add(line, "xx");
    if (rng_chance(rng, 700)) {
        add(line, "PX");
        add_number(line, "", rng_chance(rng, 50) ? 0 : rng_scaled(rng, 1, 30000));
    }
}

static void draw_key_command(struct rng *rng, struct line *line)
{
    static const char *const commands[] = {"GET", "DEL", "EXISTS", "PTTL", "ZCARD", "ZPOPMIN"};
    const char *command = PICK(rng, commands);

    add(line, command);
    add(line, draw_any_name(rng));
    while ((command == commands[1] || command == commands[2]) && line->n < 5 && rng_chance(rng, 500))
        add(line, draw_any_name(rng));
}

static void draw_expire(struct rng *rng, struct line *line)
{
    add(line, "PEXPIRE");
    add(line, draw_any_name(rng));
    if (rng_chance(rng, 50))
        add(line, "soon");
    else
        add_number(line, "", rng_chance(rng, 50) ? -rng_between(rng, 0, 1) : rng_scaled(rng, 1, 30000));
}

/* One hash has so few fields that it loses the last one now and then. */
static void draw_hash_command(struct rng *rng, struct line *line)
{
    static const char *const commands[] = {"HGET", "HMGET", "HSET", "HDEL"};
    static const char *const few[] = {"f0", "f1"};
    static const char *const fields[] = {"f0", "v1", "@last", "inc", "run", "open", "gen", "n", "until"};
    bool is_small = rng_chance(rng, 400);
    const char *command = PICK(rng, commands);
    bool sets = command == commands[2];

    add(line, command);
    add(line, is_small ? "h" : rng_chance(rng, 100) ? RL_MARKER_NAME : draw_any_name(rng));
    do {
        add(line, is_small ? PICK(rng, few) : PICK(rng, fields));
        if (sets)
            add(line, draw_some_word(rng));
    } while (command != commands[0] && line->n < 8 && rng_chance(rng, 500));
}

static void draw_member_command(struct rng *rng, struct line *line)
{
    static const char *const commands[] = {"ZREM", "ZRANK", "ZSCORE"};
    const char *command = PICK(rng, commands);

    add(line, command);
    add(line, draw_any_name(rng));
    do
        add(line, draw_some_word(rng));
    while (command == commands[0] && line->n < 6 && rng_chance(rng, 500));
}

/* At a lock's key scores are times in milliseconds, of which the model's clock knows some hundred years. */
static int64_t draw_score(struct rng *rng, const char *name)
{
    bool is_lock = name[0] == 'a' || name[0] == 'b' || name[0] == 's';

    return rng_chance(rng, 500) ? rng_below(rng, 9) : rng_scaled(rng, 1, INT64_C(1) << (is_lock ? 42 : 53));
}

static void draw_scores(struct rng *rng, struct line *line)
{
    const char *name = draw_any_name(rng);

    add(line, "ZADD");
    add(line, name);
    do {
        if (rng_chance(rng, 30))
            add(line, "high");
        else
            add_number(line, "", draw_score(rng, name));
        add(line, draw_some_word(rng));
    } while (line->n < 10 && rng_chance(rng, 600));
}

static void draw_below(struct rng *rng, struct line *line)
{
    const char *name = draw_any_name(rng);

    add(line, "ZREMRANGEBYSCORE");
    add(line, name);
    add(line, "-inf");
    add_number(line, "(", draw_score(rng, name));
}

/* As many as a reply has room for at most. */
static void draw_range(struct rng *rng, struct line *line)
{
    int64_t first = rng_between(rng, -9, 9);

    add(line, "ZRANGE");
    add(line, draw_any_name(rng));
    add_number(line, "", first);
    add_number(line, "", first < 0 && rng_chance(rng, 500) ? -1 : first + rng_between(rng, -1, 8));
}

static void draw_publish(struct rng *rng, struct line *line)
{
    add(line, "PUBLISH");
    add(line, draw_channel(rng));
    add(line, draw_some_word(rng));
}

/* What only scripts ask for. */
static void draw_long(struct rng *rng, struct line *line)
{
    static const char *const texts[] = {"HKEYS", "ZRANGE"};
    const char *command = PICK(rng, texts);

    add(line, command);
    add(line, draw_any_name(rng));
    if (command == texts[0])
        return;
    add(line, "0");
    add(line, "-1");
    if (rng_chance(rng, 700))
        add(line, "WITHSCORES");
}

static void draw_wrong(struct rng *rng, struct line *line)
{
    static const char *const texts[] = {"GET", "SET", "ZADD", "ZRANGE", "HSET", "TIME", "NOSUCHCOMMAND"};

    add(line, PICK(rng, texts));
    for (uint32_t n = rng_below(rng, 5); n > 0; n--)
        add(line, "x");
}

static void draw_line(struct rng *rng, struct line *line)
{
    static void (*const ways[])(struct rng *, struct line *) = {
        draw_set, draw_set, draw_key_command, draw_key_command, draw_expire, draw_hash_command, draw_hash_command,
        draw_member_command, draw_scores, draw_below, draw_range, draw_publish, draw_wrong,
    };

    PICK(rng, ways)(rng, line);
}

void draw_plain(struct rng *rng, struct drawn *drawn)
{
    struct line line = {0};

    draw_line(rng, &line);
    ck_assert(rl_words_encode(line.words, line.n, &drawn->bytes));
    drawn->program = PROGRAM_NONE;
}

void draw_called(struct rng *rng, struct drawn *drawn)
{
    struct line line = {0};
    bool is_long = rng_chance(rng, 150);

    drawn->program = is_long || rng_chance(rng, 600) ? PROGRAM_SHOW : PROGRAM_RETURN;
    add(&line, "EVAL");
    add(&line, drawn->program == PROGRAM_SHOW ? program_show : program_return);
    add(&line, "0");
    if (is_long)
        draw_long(rng, &line);
    else
        draw_line(rng, &line);
    ck_assert(rl_words_encode(line.words, line.n, &drawn->bytes));
}
