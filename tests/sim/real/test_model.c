/* The simulator's masters are what a real server is: both are told the same commands and scripts, with clocks that
 * show the same, and must give the same answers, publish the same messages and keep the same keys.
 *
 * Each seed makes a history of its own; $REDLOCK_SEED chooses others. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "codec/script.h"
#include "draw.h"
#include "kinds/latch.h"
#include "model.h"
#include "simulated/resp.h"
#include "server.h"
#include "suite.h"

#define N_SEEDS 4
#define N_STEPS 1500

static struct server *server;
static struct model *model;
static struct drawn drawn;
static struct rng rng;
static uint64_t seed;
static int64_t now_us;

static bool is_end_of_a_key(int64_t at_us)
{
    const struct entry *entries[KEYSPACE_MAX_KEYS];
    size_t n = model_list_keys(model, entries);
    bool is_end = false;

    for (size_t i = 0; i < n; i++)
        is_end |= entries[i]->expire_ms == at_us / 1000;
    return is_end;
}

/* In the millisecond in which a key ends a command still finds it, unless the server (Redis 8) has had time to remove
 * it before. So no clock is set to that. */
static void set_time(int64_t to_us)
{
    while (is_end_of_a_key(to_us))
        to_us += 1000;
    now_us = to_us;
    server_set_time(server, now_us);
    model_set_time(model, now_us);
}

static void open_both(void)
{
    server = server_open();
    model = model_open();
    set_time((int64_t)time(NULL) * 1000000);
}

static void close_both(void)
{
    model_close(model);
    server_close(server);
    rl_bytes_fini(&drawn.bytes);
}

/* --- Texts -------------------------------------------------------------------------------------------------------- */

static FILE *open_text(char **ret_text, size_t *ret_size)
{
    FILE *file = open_memstream(ret_text, ret_size);

    ck_assert_ptr_nonnull(file);
    return file;
}

/* Servers before Redis 7 do not tell which error a script has met. */
static void write_error(const struct rl_reply_item *item, FILE *out)
{
    const char *text = item->text.data;
    size_t word = 0;

    while (word < item->text.size && text[word] != ' ')
        word++;
    if (drawn.program != PROGRAM_NONE && !suite_server_is(7, 0))
        word = 0;
    fprintf(out, "error %.*s", (int)word, text);
}

static void write_item(const struct rl_reply_item *item, FILE *out)
{
    switch (item->type) {
    case RL_REPLY_NIL:
        fputs("nil", out);
        break;
    case RL_REPLY_INTEGER:
        fprintf(out, "integer %lld", (long long)item->integer);
        break;
    case RL_REPLY_ERROR:
        write_error(item, out);
        break;
    default:
        fprintf(out, "%s \"%.*s\"", item->type == RL_REPLY_STATUS ? "status" : "string", (int)item->text.size,
                (const char *)item->text.data);
        break;
    }
}

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A hash names its fields in any order, and latches keep names in one. */
static void sort_parts(char *text, const char *between)
{
    char *parts[32];
    char *copy = strdup(text);
    char *rest = copy;
    size_t n = 0;

    ck_assert_ptr_nonnull(copy);
    for (char *part = strsep(&rest, between); part; part = strsep(&rest, between)) {
        ck_assert_uint_lt(n, sizeof parts / sizeof parts[0]);
        parts[n++] = part;
    }
    qsort(parts, n, sizeof parts[0], compare_words);
    for (size_t i = 0; i < n; i++)
        text = stpcpy(i ? stpcpy(text, between) : text, parts[i]);
    free(copy);
}

static void write_names(struct rl_slice names, FILE *out)
{
    struct rl_slice name;
    char text[128] = "";

    while (rl_latch_next_name(&names, &name)) {
        ck_assert_uint_lt(strlen(text) + name.size + 2, sizeof text);
        snprintf(text + strlen(text), sizeof text - strlen(text), " %.*s", (int)name.size, (const char *)name.data);
    }
    sort_parts(text, " ");
    fprintf(out, "names%s", text);
}

static bool is_latch(void)
{
    return drawn.program == PROGRAM_SHIPPED && drawn.script == RL_SCRIPT_LATCH;
}

static void write_reply(const struct rl_reply *reply, FILE *out)
{
    bool ends_with_names = is_latch() && reply->n_elements == 4;

    if (reply->root.type != RL_REPLY_ARRAY) {
        write_item(&reply->root, out);
        return;
    }
    for (size_t i = 0; i < reply->n_elements; i++) {
        fputs(i ? ", " : "{", out);
        if (ends_with_names && i == 3)
            write_names(reply->elements[i].text, out);
        else
            write_item(&reply->elements[i], out);
    }
    fputs(reply->n_elements ? "}" : "{}", out);
}

/* A script by its name. */
static const char *text_of_command(void)
{
    static char text[2048];
    const char *program = drawn.program == PROGRAM_SHIPPED ? rl_script_text(drawn.script)->name : "a caller";
    struct rl_slice words[RESP_MAX_WORDS];
    size_t n = 0;
    size_t used = 0;

    resp_parse(rl_bytes_front(&drawn.bytes), rl_bytes_length(&drawn.bytes), words, &n);
    if (drawn.program != PROGRAM_NONE)
        words[1] = rl_slice_of(program);
    for (size_t i = 0; i < n && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " \"%.*s\"", (int)words[i].size,
                                 (const char *)words[i].data);
    return text;
}

/* --- One step ----------------------------------------------------------------------------------------------------- */

static void expect_same(unsigned step, const char *what, const char *of_server, const char *of_model)
{
    ck_assert_msg(strcmp(of_server, of_model) == 0,
                  "seed %llu, step %u: %s\n# %s differ.\n# The server:\n%s\n# The model:\n%s",
                  (unsigned long long)seed, step, text_of_command(), what, of_server, of_model);
}

/* JOIN reads INFO, of which the model has no other. */
static void copy_info(void)
{
    struct rl_reply reply;
    char *info;

    server_tell(server, "INFO", &reply);
    info = strndup(reply.root.text.data, reply.root.text.size);
    ck_assert_ptr_nonnull(info);
    model_set_info(model, info);
    free(info);
}

static void compare_answers(unsigned step)
{
    struct rl_reply reply;
    char *texts[4];
    size_t sizes[4];
    FILE *files[4];

    for (size_t i = 0; i < 4; i++)
        files[i] = open_text(&texts[i], &sizes[i]);
    server_ask(server, &drawn.bytes, &reply);
    write_reply(&reply, files[0]);
    server_write_messages(server, files[1]);
    model_ask(model, &drawn, files[3], &reply);
    write_reply(&reply, files[2]);
    for (size_t i = 0; i < 4; i++)
        fclose(files[i]);
    if (is_latch()) {
        sort_parts(texts[1], "\n");
        sort_parts(texts[3], "\n");
    }
    expect_same(step, "The answers", texts[0], texts[2]);
    expect_same(step, "The messages", texts[1], texts[3]);
    for (size_t i = 0; i < 4; i++)
        free(texts[i]);
}

/* A line for each key: name, type, PTTL and what it holds, a hash by its fields. ARGV: the names that the model has. */
static const char contents_script[] =
    "local lines = {}\n"
    "for i, key in ipairs(ARGV) do\n"
    "  local kind, held = redis.call('TYPE', key).ok, {}\n"
    "  if kind == 'string' then\n"
    "    held[1] = redis.call('GET', key)\n"
    "  elseif kind == 'hash' then\n"
    "    local fields = redis.call('HKEYS', key)\n"
    "    table.sort(fields)\n"
    "    for _, field in ipairs(fields) do\n"
    "      held[#held + 1] = field\n"
    "      held[#held + 1] = redis.call('HGET', key, field)\n"
    "    end\n"
    "  elseif kind == 'zset' then\n"
    "    held = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')\n"
    "  end\n"
    "  local left = string.format('%.0f', redis.call('PTTL', key))\n"
    "  lines[i] = key .. ' ' .. kind .. ' ' .. left .. ' ' .. table.concat(held, ' ') .. '\\n'\n"
    "end\n"
    "return table.concat(lines) .. #redis.call('KEYS', '*') .. ' keys'\n";

static char *contents_of_server(const struct entry *const *entries, size_t n)
{
    struct rl_slice words[3 + KEYSPACE_MAX_KEYS] = {rl_slice_of("EVAL"), rl_slice_of(contents_script),
                                                    rl_slice_of("0")};
    struct rl_reply reply;
    char *text;

    for (size_t i = 0; i < n; i++)
        words[3 + i] = (struct rl_slice){entries[i]->key.bytes, entries[i]->key.size};
    server_ask_words(server, words, 3 + n, &reply);
    text = strndup(reply.root.text.data, reply.root.text.size);
    ck_assert_ptr_nonnull(text);
    return text;
}

static void compare_contents(unsigned step)
{
    const struct entry *entries[KEYSPACE_MAX_KEYS];
    size_t n = model_list_keys(model, entries);
    char *of_server = contents_of_server(entries, n);
    char *of_model;
    size_t size;
    FILE *file = open_text(&of_model, &size);

    for (size_t i = 0; i < n; i++)
        model_write_entry(model, entries[i], file);
    fprintf(file, "%zu keys", n);
    fclose(file);
    expect_same(step, "The keys", of_server, of_model);
    free(of_server);
    free(of_model);
}

/* --- What happens between the steps ------------------------------------------------------------------------------- */

/* A key that has ended lives again when the clock is set back, unless somebody has asked for it. The server also
 * removes such keys when it has time. */
static void ask_for_all(void)
{
    struct rl_reply reply;

    rl_bytes_clear(&drawn.bytes);
    draw_all_names(&drawn.bytes);
    server_ask(server, &drawn.bytes, &reply);
    model_purge(model);
}

static void pass_time(void)
{
    uint32_t choice = rng_below(&rng, 1000);

    if (choice < 500)
        set_time(now_us + rng_between(&rng, 0, 3000));
    else if (choice < 700)
        set_time(now_us + rng_between(&rng, 0, 40000));
    else if (choice < 720)
        set_time(now_us + rng_between(&rng, 0, 5000000));
    else if (choice < 723) {
        ask_for_all();
        set_time(now_us - rng_between(&rng, 0, 300000));
    }
}

/* One setting at a time, or none. Before Redis 7 scripts may write without replicas, and say ERR if memory is full. */
static void change_settings(void)
{
    struct rl_reply reply;

    server_tell(server, "CONFIG SET maxmemory 0", &reply);
    server_tell(server, "CONFIG SET min-replicas-to-write 0", &reply);
    model_refuse_writes(model, NULL, false);
    if (rng_chance(&rng, 250) && suite_server_is(7, 0)) {
        server_tell(server, "CONFIG SET maxmemory 1", &reply);
        model_refuse_writes(model, "OOM command not allowed when used memory > 'maxmemory'.", true);
    } else if (rng_chance(&rng, 100) && suite_server_is(7, 0)) {
        server_tell(server, "CONFIG SET min-replicas-to-write 1", &reply);
        model_refuse_writes(model, "NOREPLICAS Not enough good replicas to write.", false);
    }
}

static void forget_scripts(void)
{
    struct rl_reply reply;

    server_tell(server, "SCRIPT FLUSH", &reply);
    model_forget_scripts(model);
}

static void let_things_happen(void)
{
    pass_time();
    if (rng_chance(&rng, 20))
        change_settings();
    if (rng_chance(&rng, 3))
        forget_scripts();
}

/* $REDLOCK_SEED is the first of as many as there are. */
static void choose_seed(int i)
{
    const char *first = getenv("REDLOCK_SEED");

    seed = (first ? strtoull(first, NULL, 10) : 1) + (unsigned)i;
    rng_init(&rng, seed, 0);
}

GROUP(histories, "histories", open_both, close_both)

TESTS(histories, the_model_answers_and_keeps_what_a_server_does, 0, N_SEEDS)
{
    choose_seed(_i);
    for (unsigned step = 0; step < N_STEPS; step++) {
        let_things_happen();
        draw_command(&rng, &drawn);
        if (drawn.script == RL_SCRIPT_JOIN)
            copy_info();
        compare_answers(step);
        compare_contents(step);
    }
}

int main(void)
{
    if (!suite_clock_can_be_stopped())
        return suite_skip(suite_collect("model"), "the clock of this server cannot be stopped");
    return suite_run_with_server(suite_collect("model"));
}
