/* The values of options: what they may look like, and where they go. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "cli/secrets.h"

/* --- Masters and durations --------------------------------------------------------------------------------------- */

bool cli_parse_duration(const char *text, uint32_t *ret_ms)
{
    static const struct {
        const char *suffix;
        uint64_t ms;
    } units[] = {{"", 1}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
    uint64_t number = 0;
    const char *p = text;

    for (; *p >= '0' && *p <= '9'; p++) {
        number = number * 10 + (uint64_t)(*p - '0');
        if (number > UINT32_MAX)
            return false;
    }
    if (p == text)
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(p, units[i].suffix) == 0 && number * units[i].ms <= UINT32_MAX) {
            *ret_ms = (uint32_t)(number * units[i].ms);
            return true;
        }
    return false;
}

static bool parse_wait(const char *text, int64_t *ret_ms)
{
    uint32_t ms;

    if (strcmp(text, "forever") == 0 || strcmp(text, "inf") == 0) {
        *ret_ms = REDLOCK_FOREVER;
        return true;
    }
    if (!cli_parse_duration(text, &ms))
        return false;
    *ret_ms = ms;
    return true;
}

/* A bare host:port or path is what people type; the library wants a URL. */
static const char *scheme_for(const char *text, const char **ret_rest)
{
    *ret_rest = text;
    if (strstr(text, "://") != NULL)
        return "";
    if (strncmp(text, "unix:", 5) == 0)
        *ret_rest = text + 5;
    return *text == '/' || *ret_rest != text ? "unix://" : "redis://";
}

bool cli_add_master(const char *command, struct cli_masters *masters, const char *text)
{
    const char *rest;
    const char *scheme = scheme_for(text, &rest);
    char *url;

    if (masters->count == REDLOCK_MAX_MASTERS) {
        cli_error(command, "more than %d masters", REDLOCK_MAX_MASTERS);
        return false;
    }
    if (asprintf(&url, "%s%s", scheme, rest) < 0) {
        cli_error(command, "out of memory");
        return false;
    }
    masters->urls[masters->count] = url;
    masters->owned[masters->count++] = url;
    return true;
}

static bool add_list(const char *command, struct cli_masters *masters, const char *list)
{
    char *copy = strdup(list);
    char *rest = copy;
    char masked[256];
    bool ok = copy != NULL;

    while (ok && rest != NULL) {
        const char *item = strsep(&rest, ",");

        if (*item == '\0') {
            cli_error(command, "empty item in the list of masters '%s'", cli_masked(list, masked, sizeof(masked)));
            ok = false;
        } else {
            ok = cli_add_master(command, masters, item);
        }
    }
    free(copy);
    return ok;
}

bool cli_masters_from_environment(const char *command, struct cli_masters *masters)
{
    const char *list = getenv("REDLOCK_NODES");

    if (masters->count > 0 || list == NULL || *list == '\0')
        return true;
    return add_list(command, masters, list);
}

bool cli_need_masters(const char *command, struct cli_masters *masters)
{
    if (!cli_masters_from_environment(command, masters))
        return false;
    if (masters->count == 0)
        cli_error(command, "no masters given: use --node, --nodes, --nodes-file or REDLOCK_NODES");
    return masters->count > 0 && cli_apply_password(command, masters);
}

/* --- By type of option ------------------------------------------------------------------------------------------- */

static bool bad_value(const char *command, const char *name, const char *text, const char *wanted)
{
    cli_error(command, "--%s: '%s' is not %s", name, text, wanted);
    return false;
}

static bool parse_number(const char *text, uint32_t *ret_number)
{
    uint64_t number = 0;
    const char *p = text;

    for (; *p >= '0' && *p <= '9' && number <= UINT32_MAX; p++)
        number = number * 10 + (uint64_t)(*p - '0');
    if (p == text || *p != '\0' || number > UINT32_MAX)
        return false;
    *ret_number = (uint32_t)number;
    return true;
}

static bool parse_profile(const char *text, enum redlock_profile *ret_profile)
{
    bool classic = strcmp(text, "classic") == 0;

    *ret_profile = classic ? REDLOCK_PROFILE_CLASSIC : REDLOCK_PROFILE_GUARDED;
    return classic || strcmp(text, "guarded") == 0;
}

/* Options about masters and how to deal with them. */
static bool store_master(const char *command, const struct cli_option *option, const char *text)
{
    if (option->number != NULL)
        return parse_number(text, option->number) || bad_value(command, option->name, text, "a number");
    if (option->profile != NULL)
        return parse_profile(text, option->profile) ||
               bad_value(command, option->name, text, "a profile (guarded, classic)");
    if (option->node_file != NULL)
        return cli_add_file(command, option->node_file, text);
    if (*text == '\0')
        return bad_value(command, option->name, text, "a master's URL");
    return option->node != NULL ? cli_add_master(command, option->node, text)
                                : add_list(command, option->node_list, text);
}

bool cli_store(const char *command, const struct cli_option *option, const char *text)
{
    if (option->flag != NULL) {
        *option->flag = true;
        return true;
    }
    if (option->text != NULL) {
        *option->text = text;
        return true;
    }
    if (option->duration_ms != NULL)
        return cli_parse_duration(text, option->duration_ms) ||
               bad_value(command, option->name, text, "a duration (500ms, 30s, 2m)");
    if (option->wait_ms != NULL)
        return parse_wait(text, option->wait_ms) ||
               bad_value(command, option->name, text, "a duration (500ms, 30s, 2m) or 'forever'");
    return store_master(command, option, text);
}
