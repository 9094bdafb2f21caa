#include "exposition.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

enum { NAME_SIZE = 80, MAX_FAMILIES = 128, MAX_SAMPLES = 1024 };

static struct {
    char families[MAX_FAMILIES][NAME_SIZE];
    size_t n_families;
    bool typed;   /* the latest family has its TYPE ... */
    bool counter; /* ... and it is this */
    bool histogram; /* ... or this, whose buckets only grow: */
    double bucket;
    const char *samples[MAX_SAMPLES]; /* up to their numbers */
    size_t lengths[MAX_SAMPLES];
    size_t n_samples;
} seen;

#define MUST(condition, at) ck_assert_msg(condition, "%s: %.*s", #condition, (int)strcspn(at, "\n"), at)

static const char *after_name(const char *at, char *ret_name)
{
    size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

    MUST(n > 0 && n < NAME_SIZE && !isdigit((unsigned char)*at), at);
    snprintf(ret_name, NAME_SIZE, "%.*s", (int)n, at);
    return at + n;
}

static void check_help(const char *at)
{
    char *name = seen.families[seen.n_families];

    ck_assert_uint_lt(seen.n_families, MAX_FAMILIES);
    ck_assert(seen.n_families == 0 || seen.typed);
    at = after_name(at, name);
    MUST(at[0] == ' ' && isalnum((unsigned char)at[1]), at);
    for (size_t i = 0; i < seen.n_families; i++)
        ck_assert_str_ne(seen.families[i], name);
    seen.n_families++;
    seen.typed = false;
}

static void check_type(const char *at)
{
    char name[NAME_SIZE];

    at = after_name(at, name);
    ck_assert(seen.n_families > 0 && !seen.typed);
    ck_assert_str_eq(name, seen.families[seen.n_families - 1]);
    seen.typed = true;
    seen.counter = strncmp(at, " counter\n", 9) == 0;
    seen.histogram = strncmp(at, " histogram\n", 11) == 0;
    seen.bucket = 0;
    MUST(seen.counter || seen.histogram || strncmp(at, " gauge\n", 7) == 0, at);
    ck_assert_int_eq(seen.counter, strlen(name) > 6 && strcmp(name + strlen(name) - 6, "_total") == 0);
}

static const char *after_label(const char *at)
{
    char name[NAME_SIZE];

    at = after_name(at, name);
    MUST(at[0] == '=' && at[1] == '"', at);
    for (at += 2; *at != '"'; at++) {
        MUST(*at != '\n' && *at != '\0', at);
        if (*at == '\\')
            MUST(*++at != '\0' && strchr("\\\"n", *at), at);
    }
    return at + 1;
}

static const char *after_labels(const char *at)
{
    if (*at != '{')
        return at;
    do
        at = after_label(at + 1);
    while (*at == ',');
    MUST(*at == '}', at);
    return at + 1;
}

/* What a name has behind that of its family. Each bucket has those before it, too, and the count has all. */
static void check_part(const char *line, const char *name, double number)
{
    const char *family = seen.families[seen.n_families - 1];
    size_t length = strlen(family);

    MUST(strncmp(name, family, length) == 0, line);
    if (!seen.histogram) {
        ck_assert_str_eq(name + length, "");
    } else if (strcmp(name + length, "_bucket") == 0) {
        MUST(number >= seen.bucket && strstr(line, "le=\""), line);
        seen.bucket = number;
    } else if (strcmp(name + length, "_count") == 0) {
        MUST(number == seen.bucket, line);
        seen.bucket = 0;
    } else {
        ck_assert_str_eq(name + length, "_sum");
    }
}

static void check_sample(const char *line)
{
    char name[NAME_SIZE];
    const char *at = after_labels(after_name(line, name));
    size_t length = (size_t)(at - line);
    char *end;

    MUST(seen.typed, line);
    MUST(at[0] == ' ' && (at[1] == '-' || isdigit((unsigned char)at[1])), line);
    MUST(strspn(at + 1, "-0123456789.") == strcspn(at + 1, "\n"), line);
    check_part(line, name, strtod(at + 1, &end));
    MUST(*end == '\n', line);
    ck_assert_uint_lt(seen.n_samples, MAX_SAMPLES);
    for (size_t i = 0; i < seen.n_samples; i++)
        MUST(seen.lengths[i] != length || memcmp(seen.samples[i], line, length) != 0, line);
    seen.samples[seen.n_samples] = line;
    seen.lengths[seen.n_samples++] = length;
}

size_t exposition_check(const char *text)
{
    memset(&seen, 0, sizeof seen);
    while (*text != '\0') {
        const char *end = strchr(text, '\n');

        MUST(end != NULL, text);
        if (strncmp(text, "# HELP ", 7) == 0)
            check_help(text + 7);
        else if (strncmp(text, "# TYPE ", 7) == 0)
            check_type(text + 7);
        else
            check_sample(text);
        text = end + 1;
    }
    ck_assert(seen.typed);
    return seen.n_samples;
}

double exposition_value(const char *text, const char *sample)
{
    size_t length = strlen(sample);

    for (const char *at = text; (at = strstr(at, sample)); at++)
        if ((at == text || at[-1] == '\n') && at[length] == ' ')
            return strtod(at + length, NULL);
    ck_abort_msg("there is no %s in:\n%s", sample, text);
}
