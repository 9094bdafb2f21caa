#include "locks_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

struct tool tool;
struct masters *masters;

void locks_start(size_t count, const char *const *extra_args)
{
    const struct masters_options options = {.count = count, .extra_args = extra_args};

    locks_start_with(&options);
}

void locks_start_with(const struct masters_options *options)
{
    char list[2048] = "";

    masters = masters_create(options);
    ck_assert_msg(masters != NULL, "%s", masters_error());
    for (size_t i = 0; i < options->count; i++)
        strcat(strcat(list, i > 0 ? "," : ""), masters_url(masters, i));
    setenv("REDLOCK_NODES", list, 1);
}

/* Otherwise masters that have just been started would not vote for a minute. */
void locks_declare_new(void)
{
    tool_expect_run(&tool, "nodes --new-deployment --yes", 0);
}

void locks_open(void)
{
    locks_start(5, NULL);
    locks_declare_new();
}

void locks_close(void)
{
    masters_destroy(masters);
}

void locks_command(size_t node, const char *const *words)
{
    char *reply = masters_command(masters, node, words);

    ck_assert_msg(reply != NULL, "%s", masters_error());
    free(reply);
}

void locks_store(size_t node, const char *value)
{
    locks_command(node, (const char *const[]){"SET", "job", value, "PX", "60000", NULL});
}

/* `redlock lock job`, which must succeed; its token. */
const char *locks_lock(void)
{
    static char token[128];

    tool_expect_run(&tool, "lock job --ttl 30s", 0);
    ck_assert_int_eq(sscanf(tool.out, "%127s\n", token), 1);
    return token;
}

void locks_expect_majority(const char *text, const char *words)
{
    const char *at = strstr(text, words);
    const char *number = !at ? "" : at + strlen(words);

    ck_assert_msg(*number >= '3' && *number <= '5' && strncmp(number + 1, " of 5 masters", 13) == 0,
                  "no majority of masters behind '%s' in:\n%s", words, text);
}

void locks_unlock(const char *token)
{
    const char *const words[] = {"unlock", "job", token, NULL};

    tool_start(&tool, words);
    tool_finish(&tool);
}
