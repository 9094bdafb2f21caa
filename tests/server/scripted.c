#include "scripted.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/script.h"

#define WORDS_MAX (RL_COMMAND_MAX_ARGS + 4 + 4 * RL_BATCH_MAX)

static char *copy_of(struct rl_slice slice)
{
    char *copy = strndup(slice.size ? slice.data : "", slice.size);

    ck_assert_ptr_nonnull(copy);
    return copy;
}

static size_t begin_with_script(const struct rl_command *command, char **words)
{
    const struct rl_script_text *script;

    if (command->script == RL_SCRIPT_NONE)
        return 0;
    script = rl_script_text(command->script);
    words[0] = copy_of((struct rl_slice){"EVAL", 4});
    words[1] = copy_of((struct rl_slice){script->text, script->size});
    ck_assert_int_gt(asprintf(&words[2], "%zu", command->n_keys), 0);
    return 3;
}

/* One line of what masters_command() makes of a reply. */
static struct rl_reply_item item_of(const char *line, size_t size)
{
    static const char number[] = "(integer) ";
    const size_t prefix = sizeof number - 1;

    if (size > prefix && memcmp(line, number, prefix) == 0)
        return (struct rl_reply_item){.type = RL_REPLY_INTEGER, .integer = strtoll(line + prefix, NULL, 10)};
    return (struct rl_reply_item){.type = RL_REPLY_STRING, .text = {line, size}};
}

static void read_lines(struct scripted *scripted)
{
    struct rl_reply *reply = &scripted->reply;
    const char *line = scripted->text;

    if (!strchr(line, '\n')) {
        reply->root = item_of(line, strlen(line));
        return;
    }
    reply->root = (struct rl_reply_item){.type = RL_REPLY_ARRAY};
    while (line) {
        size_t size = strcspn(line, "\n");

        ck_assert_uint_lt(reply->n_elements, RL_REPLY_MAX_ELEMENTS);
        reply->elements[reply->n_elements++] = item_of(line, size);
        line = line[size] ? line + size + 1 : NULL;
    }
}

static size_t begin(const struct rl_command *command, char **words)
{
    size_t n = begin_with_script(command, words);

    for (size_t i = 0; i < command->argc; i++)
        words[n++] = copy_of(command->argv[i]);
    return n;
}

static void add_number(char **words, size_t *n, uint64_t number)
{
    ck_assert_int_gt(asprintf(&words[(*n)++], "%" PRIu64, number), 0);
}

/* Frees the words. */
static struct scripted run(struct masters *masters, size_t i, char **words, size_t n)
{
    struct scripted scripted = {0};

    words[n] = NULL;
    scripted.text = masters_command(masters, i, (const char *const *)words);
    if (scripted.text) {
        read_lines(&scripted);
    } else {
        scripted.text = strdup(masters_error());
        ck_assert_ptr_nonnull(scripted.text);
        scripted.reply.root.type = RL_REPLY_ERROR;
        scripted.reply.root.text = (struct rl_slice){scripted.text, strlen(scripted.text)};
        ck_assert_msg(masters_pid(masters, i) && !strstr(scripted.text, "connect"), "%s", scripted.text);
    }
    while (n)
        free(words[--n]);
    return scripted;
}

struct scripted scripted_run(struct masters *masters, size_t i, const struct rl_command *command)
{
    return scripted_run_many(masters, i, command, &(struct rl_joins){.n = 0});
}

struct scripted scripted_run_many(struct masters *masters, size_t i, const struct rl_command *command,
                                  const struct rl_joins *followers)
{
    char *words[WORDS_MAX + 1];
    size_t n = begin(command, words);

    for (size_t j = 0; j < followers->n; j++) {
        words[n++] = copy_of(followers->tokens[j]);
        add_number(words, &n, followers->proposals[j]);
    }
    return run(masters, i, words, n);
}

struct scripted scripted_run_refresh(struct masters *masters, size_t i, const struct rl_command *command,
                                  const struct rl_refresh_many *refreshes)
{
    char *words[WORDS_MAX + 1];
    size_t n = begin(command, words);

    for (size_t j = 0; j < refreshes->n; j++) {
        words[n++] = copy_of(refreshes->at[j].token);
        add_number(words, &n, refreshes->at[j].round);
        add_number(words, &n, refreshes->at[j].ticket);
        add_number(words, &n, refreshes->at[j].proposal);
    }
    return run(masters, i, words, n);
}

void scripted_free(struct scripted *scripted)
{
    free(scripted->text);
    *scripted = (struct scripted){0};
}
