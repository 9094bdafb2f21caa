#include "contestants.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "redlock"
#define DEFAULTS ":defaults"

bool engine_contestant_is_library(const struct engine_contestant *contestant)
{
    return !*contestant->place.path;
}

bool engine_contestant_is_durable(const struct engine_contestant *contestant)
{
    return !engine_contestant_is_library(contestant) && contestant->system != MASTERS_REDIS &&
           contestant->system != MASTERS_SENTINEL && contestant->system != MASTERS_AGENT;
}

/* "redis:5" */
static bool parse_system(struct engine_contestant *contestant, const char *word, size_t length)
{
    const char *colon = memchr(word, ':', length);
    size_t name_length = colon ? (size_t)(colon - word) : length;

    for (int i = 0; i < MASTERS_SYSTEMS; i++) {
        const char *name = masters_system_name((enum masters_system)i);

        if (strlen(name) != name_length || strncmp(name, word, name_length) != 0)
            continue;
        contestant->system = (enum masters_system)i;
        contestant->members = colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : i == MASTERS_REDIS ? 1 : 0;
        return contestant->members <= MASTERS_MAX;
    }
    return false;
}

/* The first of its systems, or the one that is asked for. */
static bool choose_system(struct engine_contestant *contestant, const char *wanted)
{
    for (const char *word = contestant->hello.systems; *word; word += *word == ',') {
        size_t length = strcspn(word, ",");

        if ((!wanted || (strncmp(word, wanted, strlen(wanted)) == 0 && strchr(":,", word[strlen(wanted)]))) &&
            parse_system(contestant, word, length))
            return true;
        word += length;
    }
    return false;
}

__attribute__((format(printf, 2, 3))) static bool skip(struct engine_contestant *contestant, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(contestant->skipped, sizeof contestant->skipped, format, args);
    va_end(args);
    return false;
}

/* The contestant has its place. */
static bool get_to_know(struct engine_contestant *contestant, const char *system)
{
    char why[160];

    snprintf(contestant->label, sizeof contestant->label, "%s%s%s%s", contestant->place.name, system ? "@" : "",
             system ? system : "", contestant->defaults ? DEFAULTS : "");
    if (!runner_ask(&contestant->place, &contestant->hello, why, sizeof why))
        return skip(contestant, "%s", why);
    if (!choose_system(contestant, system))
        return skip(contestant, "engine %s cannot be put on %s: it knows %.80s", contestant->place.name,
                    system ? system : "anything that is known here", contestant->hello.systems);
    if (contestant->defaults && !contestant->hello.ttl_ms)
        return skip(contestant, "engine %s has no ttl by default: users of its library name one",
                    contestant->place.name);
    contestant->is_known_system = true;
    return masters_is_installed(contestant->system) || skip(contestant, "%s", masters_error());
}

bool engine_contestant_find(struct engine_contestant *contestant, const char *word)
{
    *contestant = (struct engine_contestant){0};
    if (!engine_find(word, &contestant->place))
        return skip(contestant, "there is no engine program " ENGINE_PREFIX "%.80s (see $REDLOCK_ENGINES)", word);
    get_to_know(contestant, NULL);
    return true;
}

static void add_library(struct engine_contestants *contestants, bool defaults)
{
    struct engine_contestant *library = &contestants->list[contestants->n++];

    *library = (struct engine_contestant){.place.name = LIBRARY, .system = MASTERS_REDIS, .defaults = defaults};
    snprintf(library->label, sizeof library->label, "%s%s", LIBRARY, defaults ? DEFAULTS : "");
}

static bool cut_defaults(char *word)
{
    size_t length = strlen(word), suffix = strlen(DEFAULTS);
    bool found = length > suffix && strcmp(word + length - suffix, DEFAULTS) == 0;

    if (found)
        word[length - suffix] = '\0';
    return found;
}

static bool add_named(struct engine_contestants *contestants, char *word)
{
    struct engine_contestant *contestant = &contestants->list[contestants->n];
    bool defaults = cut_defaults(word);
    char *system = strchr(word, '@');

    *contestant = (struct engine_contestant){.defaults = defaults};
    if (strcmp(word, LIBRARY) == 0) {
        add_library(contestants, defaults);
        return true;
    }
    if (system)
        *system++ = '\0';
    if (!engine_find(word, &contestant->place))
        return skip(contestant, "there is no engine program " ENGINE_PREFIX "%.80s (see $REDLOCK_ENGINES)", word);
    contestants->n++;
    return get_to_know(contestant, system);
}

static bool has_empty_item(const char *names)
{
    size_t length = strlen(names);

    return length == 0 || names[0] == ',' || names[length - 1] == ',' || strstr(names, ",,");
}

static bool add_list(struct engine_contestants *contestants, const char *names, char *ret_why, size_t size)
{
    char *copy = strdup(names);
    char *rest = NULL;
    bool ok = copy != NULL;

    if (has_empty_item(names)) {
        snprintf(ret_why, size, "empty item in the list of engines '%.80s'", names);
        free(copy);
        return false;
    }

    for (char *word = ok ? strtok_r(copy, ",", &rest) : NULL; word && ok; word = strtok_r(NULL, ",", &rest)) {
        ok = contestants->n < ENGINES_MAX && add_named(contestants, word);
        if (!ok)
            snprintf(ret_why, size, "%s", contestants->n < ENGINES_MAX ? contestants->list[contestants->n].skipped
                                                                       : "too many engines");
        if (!ok && contestants->n > 0 && !*ret_why)
            snprintf(ret_why, size, "%s", contestants->list[contestants->n - 1].skipped);
    }
    free(copy);
    return ok;
}

/* An engine with several usual systems is put on each of them. */
static void add_found(struct engine_contestants *contestants, const struct engine_place *place)
{
    struct engine_contestant *first = &contestants->list[contestants->n++];
    const char *more;

    *first = (struct engine_contestant){.place = *place};
    if (!get_to_know(first, NULL))
        return;
    more = strchr(first->hello.systems, ',');
    while (more && contestants->n < ENGINES_MAX) {
        struct engine_contestant *other = &contestants->list[contestants->n];
        char system[32];

        snprintf(system, sizeof system, "%.*s", (int)strcspn(more + 1, ",:"), more + 1);
        *other = (struct engine_contestant){.place = *place};
        get_to_know(other, system);
        contestants->n++;
        more = strchr(more + 1, ',');
    }
}

bool engine_contestants_find(struct engine_contestants *contestants, const char *names, char *ret_why, size_t size)
{
    struct engine_place places[ENGINES_MAX];
    size_t n;

    *contestants = (struct engine_contestants){0};
    *ret_why = '\0';
    if (names)
        return add_list(contestants, names, ret_why, size);
    add_library(contestants, false);
    n = engine_list(places);
    for (size_t i = 0; i < n && contestants->n < ENGINES_MAX; i++)
        add_found(contestants, &places[i]);
    return true;
}
