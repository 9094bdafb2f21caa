#include "ask.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 15

struct masters *ask_open(const struct masters_options *options)
{
    struct masters *masters = masters_create(options);

    ck_assert_msg(masters && masters_cleanup_on_exit(masters), "%s", masters_error());
    return masters;
}

static char *run(struct masters *masters, size_t i, const char *line)
{
    const char *argv[MAX_WORDS + 1] = {0};
    char *copy = strdup(line);
    char *rest = copy;
    char *reply;

    ck_assert_ptr_nonnull(copy);
    for (size_t n = 0; rest; n++) {
        ck_assert_uint_lt(n, MAX_WORDS);
        argv[n] = strsep(&rest, " ");
    }
    reply = masters_command(masters, i, argv);
    free(copy);
    return reply;
}

char *ask(struct masters *masters, size_t i, const char *line)
{
    char *reply = run(masters, i, line);

    ck_assert_msg(reply != NULL, "%s: %s", line, masters_error());
    return reply;
}

void ask_expect(struct masters *masters, size_t i, const char *line, const char *reply)
{
    char *text = ask(masters, i, line);

    ck_assert_msg(strcmp(text, reply) == 0, "%s: \"%s\", not \"%s\"", line, text, reply);
    free(text);
}

long long ask_integer(struct masters *masters, size_t i, const char *line)
{
    char *text = ask(masters, i, line);
    long long value = 0;

    ck_assert_msg(sscanf(text, "(integer) %lld", &value) == 1, "%s: \"%s\" is no integer", line, text);
    free(text);
    return value;
}

void ask_refused(struct masters *masters, size_t i, const char *line, const char *error)
{
    char *text = run(masters, i, line);

    ck_assert_msg(!text, "%s: \"%s\", not refused", line, text);
    ck_assert_msg(strncmp(masters_error(), error, strlen(error)) == 0, "%s: %s", line, masters_error());
}

void ask_contains(struct masters *masters, size_t i, const char *line, const char *part)
{
    char *text = ask(masters, i, line);

    ck_assert_msg(strstr(text, part) != NULL, "%s: nothing of \"%s\" in \"%s\"", line, part, text);
    free(text);
}

/* CLUSTER ADDSLOTSRANGE is of Redis 7.0. */
void ask_serve_slots(struct masters *masters, size_t i)
{
    enum { SLOTS = 16384 };
    static char numbers[SLOTS][sizeof "16383"];
    static const char *argv[2 + SLOTS + 1] = {"CLUSTER", "ADDSLOTS"};
    char *reply;

    for (int slot = 0; slot < SLOTS; slot++) {
        snprintf(numbers[slot], sizeof numbers[slot], "%d", slot);
        argv[2 + slot] = numbers[slot];
    }
    reply = masters_command(masters, i, argv);
    ck_assert_msg(reply != NULL, "CLUSTER ADDSLOTS: %s", masters_error());
    free(reply);
}
