/* Looking at the masters, and preparing them. */
#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

#define MAX_WORDS 9

static void collect(va_list words, const char *ret_argv[MAX_WORDS + 1])
{
    size_t n = 0;
    const char *word;

    while ((word = va_arg(words, const char *))) {
        ck_assert_uint_lt(n, MAX_WORDS);
        ret_argv[n++] = word;
    }
    ret_argv[n] = NULL;
}

static void run(struct rig *rig, size_t node, const char *const *argv)
{
    char *reply = masters_command(rig->masters, node, argv);

    ck_assert_msg(reply != NULL, "%s on master %zu: %s", argv[0], node, masters_error());
    free(reply);
}

void rig_do(struct rig *rig, size_t node, ...)
{
    const char *argv[MAX_WORDS + 1];
    va_list words;

    va_start(words, node);
    collect(words, argv);
    va_end(words);
    run(rig, node, argv);
}

void rig_do_all(struct rig *rig, ...)
{
    const char *argv[MAX_WORDS + 1];
    va_list words;

    va_start(words, rig);
    collect(words, argv);
    va_end(words);
    for (size_t i = 0; i < rig->n; i++)
        run(rig, i, argv);
}

void rig_occupy(struct rig *rig, size_t node, const char *key)
{
    rig_do(rig, node, "SET", key, "foreign", "PX", "60000", NULL);
}

size_t rig_count_value(struct rig *rig, const char *key, const char *value)
{
    size_t n = 0;

    for (size_t i = 0; i < rig->n; i++) {
        char *stored = masters_get(rig->masters, i, key);

        n += stored && strcmp(stored, value) == 0;
        free(stored);
    }
    return n;
}

long long rig_pttl(struct rig *rig, size_t node, const char *key)
{
    char *reply = masters_command(rig->masters, node, (const char *const[]){"PTTL", key, NULL});
    long long pttl = 0;

    ck_assert_msg(reply != NULL, "%s", masters_error());
    ck_assert_int_eq(sscanf(reply, "(integer) %lld", &pttl), 1);
    free(reply);
    return pttl;
}
