#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/clock.h"
#include "cli/hash.h"
#include "cli/ls/ls.h"
#include "cli/probe_key.h"
#include "options/message.h"

/* --- Patterns, as the servers have them --------------------------------------------------------------------------- */

/* The end of a class, which begins at '['; NULL: there is none. */
static const char *class_end(const char *pattern)
{
    for (pattern++; *pattern != '\0' && *pattern != ']'; pattern++)
        if (*pattern == '\\' && pattern[1] != '\0')
            pattern++;
    return *pattern == ']' ? pattern : NULL;
}

bool ls_pattern_fits(const char *command, const char *pattern)
{
    for (const char *at = pattern; *at != '\0'; at++) {
        if (*at == '\\' && at[1] == '\0') {
            cli_error(command, "PATTERN ends with '\\', behind which a character means itself: '\\\\' is a backslash");
            return false;
        }
        if (*at == '\\') {
            at++;
            continue;
        }
        if (*at == '[' && !(at = class_end(at))) {
            cli_error(command, "'[' in PATTERN has no ']': '\\[' is the character itself");
            return false;
        }
    }
    return true;
}

static unsigned char next_of_class(const char **at)
{
    *at += **at == '\\';
    return (unsigned char)*(*at)++;
}

static bool class_has(const char *at, const char *end, unsigned char byte)
{
    bool denied = *at == '^', found = false;

    for (at += denied; at < end;) {
        unsigned char first = next_of_class(&at), last = first;

        if (*at == '-' && at + 1 < end) {
            at++;
            last = next_of_class(&at);
        }
        found |= first <= last ? byte >= first && byte <= last : byte >= last && byte <= first;
    }
    return found != denied;
}

/* Goes beyond the first element of the pattern if the byte fits it. */
static bool fits_element(const char **pattern, unsigned char byte)
{
    const char *at = *pattern, *end = at;

    if (*at == '[') {
        end = class_end(at);
        if (!class_has(at + 1, end, byte))
            return false;
    } else if (*at == '\\') {
        end = at + 1;
    }
    if (*at != '[' && *at != '?' && (unsigned char)*end != byte)
        return false;
    *pattern = end + 1;
    return true;
}

static bool matches(const char *pattern, const char *text)
{
    const char *star = NULL, *again = NULL;

    while (*text != '\0') {
        if (*pattern == '*') {
            star = ++pattern;
            again = text;
        } else if (*pattern != '\0' && fits_element(&pattern, (unsigned char)*text)) {
            text++;
        } else if (star) {
            pattern = star;
            text = ++again;
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}

/* Names beside a lock's key have more in front and behind it: those are sorted out here. NULL: no memory. */
static char *server_pattern(const struct ls_request *request)
{
    const char *prefix = request->common.prefix;
    const char *pattern = request->pattern ? request->pattern : "";
    char *whole = malloc(2 * strlen(prefix) + strlen(pattern) + 3), *end = whole;

    if (!whole)
        return NULL;
    for (; *prefix != '\0'; *end++ = *prefix++)
        if (strchr("*?[]\\", *prefix))
            *end++ = '\\';
    sprintf(end, "*%s%s", pattern, *pattern != '\0' ? "*" : "");
    return whole;
}

/* --- What a name stands for --------------------------------------------------------------------------------------- */

/* Without the "#3" of a permit, and the "#gate" of those who want several. */
static size_t base_size(const char *key)
{
    const char *mark = strrchr(key, '#');

    if (!mark || mark == key || mark[1] == '\0')
        return strlen(key);
    return strcmp(mark, "#gate") == 0 || mark[1 + strspn(mark + 1, "0123456789")] == '\0' ? (size_t)(mark - key)
                                                                                          : strlen(key);
}

static bool is_wanted(const struct ls *ls, const char *key, size_t size)
{
    char base[REDLOCK_MAX_KEY_BYTES + 1];

    if (!ls->request->pattern || matches(ls->request->pattern, key))
        return true;
    snprintf(base, sizeof base, "%.*s", (int)size, key);
    return size < sizeof base && matches(ls->request->pattern, base);
}

static size_t hash_of(const char *key, bool latch)
{
    return (size_t)cli_hash(key, strlen(key)) ^ latch;
}

/* Where it is, or would be. */
static size_t *place_of(const struct ls_subjects *subjects, const char *key, bool latch)
{
    size_t mask = 2 * subjects->room - 1;
    size_t at = hash_of(key, latch) & mask;

    for (; subjects->table[at] != 0; at = (at + 1) & mask) {
        const struct ls_subject *there = &subjects->items[subjects->table[at] - 1];

        if (there->latch == latch && strcmp(there->key, key) == 0)
            break;
    }
    return &subjects->table[at];
}

static bool make_room(struct ls_subjects *subjects)
{
    size_t room = subjects->room ? 2 * subjects->room : 1024;
    struct ls_subject *items = realloc(subjects->items, room * sizeof *items);
    size_t *table = calloc(2 * room, sizeof *table);

    subjects->items = items ? items : subjects->items;
    if (!items || !table) {
        free(table);
        return false;
    }
    free(subjects->table);
    subjects->table = table;
    subjects->room = room;
    for (size_t i = 0; i < subjects->n; i++)
        *place_of(subjects, items[i].key, items[i].latch) = i + 1;
    return true;
}

/* NULL: it is not wanted, or there is no room. */
static struct ls_subject *subject_of_key(struct ls *ls, const char *key, bool latch)
{
    struct ls_subjects *subjects = &ls->subjects;
    size_t size = latch ? strlen(key) : base_size(key);
    size_t *place;

    if (!is_wanted(ls, key, size))
        return NULL;
    if (subjects->n == subjects->room && subjects->n < LS_MOST_SUBJECTS && !make_room(subjects))
        ls->no_memory = true;
    place = subjects->room ? place_of(subjects, key, latch) : NULL;
    if (place && *place == 0) {
        char *copy = subjects->n < subjects->room ? strdup(key) : NULL;

        if (!copy) {
            ls->full |= subjects->n == LS_MOST_SUBJECTS;
            ls->no_memory |= subjects->n < LS_MOST_SUBJECTS;
            return NULL;
        }
        subjects->items[subjects->n] = (struct ls_subject){.key = copy, .base_size = size, .latch = latch};
        *place = ++subjects->n;
    }
    return place ? &subjects->items[*place - 1] : NULL;
}

static const char *behind(const char *name, const char *beginning)
{
    size_t size = strlen(beginning);

    return strncmp(name, beginning, size) == 0 ? name + size : NULL;
}

/* The library's own names: redlock(7). */
static void take_name(struct ls *ls, const redisReply *reply)
{
    static const char *const others[] = {"redlock:fence:", "redlock:waiters:", "redlock:permits:",
                                         "redlock:permit-waiters:"};
    const char *name = reply->str + strlen(ls->request->common.prefix);
    const char *key = behind(name, "redlock:queue:");
    struct ls_subject *subject;

    if (strlen(reply->str) != reply->len) {
        ls->unusual++;
        return;
    }
    if (key) {
        subject = subject_of_key(ls, key, false);
        if (subject)
            subject->queued = true;
        return;
    }
    key = behind(name, "redlock:latch:");
    if (key) {
        subject_of_key(ls, key, true);
        return;
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (behind(name, others[i]))
            return;
    if (*name != '\0' && strcmp(name, "redlock:marker") != 0)
        subject_of_key(ls, name, false);
}

/* Permits behind each other, in the order of their numbers. */
static int by_place(const void *a, const void *b)
{
    const struct ls_subject *one = a, *other = b;
    size_t size = one->base_size < other->base_size ? one->base_size : other->base_size;
    int order = memcmp(one->key, other->key, size);

    if (order == 0)
        order = (one->base_size > other->base_size) - (one->base_size < other->base_size);
    if (order == 0)
        order = one->latch - other->latch;
    if (order == 0)
        order = (int)(strlen(one->key) > strlen(other->key)) - (int)(strlen(one->key) < strlen(other->key));
    return order != 0 ? order : strcmp(one->key, other->key);
}

/* --- The walk ----------------------------------------------------------------------------------------------------- */

/* As many keys go by in one SCAN: fifty of them in a second, and none that takes long. */
static uint32_t step_of(uint32_t rate)
{
    return rate < 500 ? 10 : rate > 25000 ? 500 : rate / 50;
}

static bool rest(const struct ls_pace *pace, uint32_t ms)
{
    if (pace->rest)
        return pace->rest(pace->data, ms);
    poll(NULL, 0, (int)ms);
    return true;
}

bool ls_pace(struct ls_pace *pace, uint64_t keys)
{
    int64_t left_us;

    if (pace->begun_us == 0)
        pace->begun_us = clock_now_us();
    left_us = pace->begun_us + (int64_t)(pace->done * 1000000 / pace->rate) - clock_now_us();
    for (; left_us > 1000000000; left_us -= 1000000000)
        if (!rest(pace, 1000000))
            return false;
    pace->done += keys;
    return rest(pace, left_us > 0 ? (uint32_t)(left_us / 1000) : 0);
}

/* It may still be looked at. */
static void stop(struct ls *ls, size_t node, const char *why)
{
    probe_failed(&ls->probes[node], why);
    ls->probes[node].answered = !ls->wires[node].failed;
    ls->masters[node].forbidden = strncmp(why, "NOPERM", 6) == 0;
    ls->masters[node].cursor[0] = '\0';
}

static void take_step(struct ls *ls, size_t node)
{
    struct ls_master *master = &ls->masters[node];
    redisReply *reply = wire_reply(&ls->wires[node]);
    const redisReply *names = reply && reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 ? reply->element[1]
                                                                                               : NULL;

    if (!reply || !names || reply->element[0]->type != REDIS_REPLY_STRING || names->type != REDIS_REPLY_ARRAY) {
        stop(ls, node, !reply ? ls->wires[node].why : reply->type == REDIS_REPLY_ERROR ? reply->str : "no cursor");
    } else {
        for (size_t i = 0; i < names->elements; i++)
            if (names->element[i]->type == REDIS_REPLY_STRING)
                take_name(ls, names->element[i]);
        snprintf(master->cursor, sizeof master->cursor, "%s", reply->element[0]->str);
        master->walked = strcmp(master->cursor, "0") == 0;
        if (master->walked)
            master->cursor[0] = '\0';
    }
    freeReplyObject(reply);
}

/* One step on each master that has more. False: none has. */
static bool take_steps(struct ls *ls, const char *pattern, const char *count)
{
    bool any = false;

    for (size_t i = 0; i < ls->n; i++) {
        const char *scan[] = {"SCAN", ls->masters[i].cursor, "MATCH", pattern, "COUNT", count};

        if (ls->masters[i].cursor[0] == '\0')
            continue;
        wire_append(&ls->wires[i], 6, scan);
        wire_flush(&ls->wires[i]);
        any = true;
    }
    for (size_t i = 0; i < ls->n; i++)
        if (ls->masters[i].cursor[0] != '\0')
            take_step(ls, i);
    return any;
}

static void open_all(struct ls *ls)
{
    struct probe_masters masters = probe_masters_of(&ls->request->common);

    masters.places = ls->request->places;
    probe_open(&masters, ls->probes, ls->wires);
    for (size_t i = 0; i < ls->n; i++) {
        ls->masters[i].open = ls->probes[i].answered;
        strcpy(ls->masters[i].cursor, ls->masters[i].open ? "0" : "");
    }
}

void ls_walk(struct ls *ls)
{
    uint32_t step = step_of(ls->request->rate);
    char *pattern = server_pattern(ls->request);
    char count[16];

    ls->no_memory |= !pattern;
    snprintf(count, sizeof count, "%u", step);
    open_all(ls);
    for (bool more = pattern; more && !ls->full && !ls->no_memory; more = take_steps(ls, pattern, count))
        if (!ls_pace(&ls->pace, step))
            break;
    free(pattern);
    if (ls->subjects.n > 0)
        qsort(ls->subjects.items, ls->subjects.n, sizeof ls->subjects.items[0], by_place);
}

bool ls_is_whole(const struct ls *ls)
{
    size_t walked = 0, answered = 0;

    for (size_t i = 0; i < ls->n; i++) {
        walked += ls->masters[i].walked;
        answered += ls->probes[i].answered;
    }
    return walked + ls->quorum > ls->n && answered >= ls->quorum && !ls->full && !ls->no_memory;
}
