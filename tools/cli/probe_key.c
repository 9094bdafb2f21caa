#include "cli/probe_key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/hash.h"
#include "cli/verdict.h"
#include "options/message.h"

/* Members that are no votes: '@u' and '@x' stand beside a vote that is not shared. */
enum { MARKS = 2 };

void probe_keep_value(const char *value, size_t size, char ret_value[PROBE_VALUE_SIZE], uint64_t *ret_hash)
{
    size_t length = size < PROBE_VALUE_SIZE ? size : PROBE_VALUE_SIZE - 1;

    *ret_hash = cli_hash(value, size);
    for (size_t i = 0; i < length; i++)
        ret_value[i] = value[i] >= ' ' && value[i] <= '~' ? value[i] : '?';
    ret_value[length] = '\0';
}

void probe_failed(struct probe *probe, const char *why)
{
    size_t size;

    probe->answered = false;
    shown_whole_words(why, probe->why, sizeof probe->why);
    size = strlen(probe->why);
    if (size > 0 && probe->why[size - 1] == '.') /* the masters' names follow */
        probe->why[size - 1] = '\0';
    for (char *byte = probe->why; *byte != '\0'; byte++) /* a server's words may have commands for a terminal */
        if (*byte < ' ' || *byte > '~')
            *byte = '?';
}

void probe_refused(struct probe *probe, const char *error)
{
    probe_failed(probe, error);
    probe->refused = true;
}

redisReply *probe_reply(struct wire *wire, struct probe *probe)
{
    redisReply *reply = wire_reply(wire);

    if (!reply)
        probe_failed(probe, wire->why);
    return reply;
}

static void take_value(const redisReply *reply, struct probe *probe)
{
    probe->exists = true;
    probe->is_text = true;
    probe->is_token = verdict_may_be_token(reply->str, reply->len, 0);
    probe_keep_value(reply->str, (size_t)reply->len, probe->value, &probe->value_hash);
}

static bool take_get(struct wire *wire, struct probe *probe)
{
    redisReply *reply = probe_reply(wire, probe);

    if (!reply)
        return false;
    probe->answered = true;
    if (reply->type == REDIS_REPLY_STRING) {
        take_value(reply, probe);
    } else if (reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "WRONGTYPE", 9) == 0) {
        probe->exists = true;
        snprintf(probe->why, sizeof probe->why, "not a string");
    } else if (reply->type == REDIS_REPLY_ERROR) {
        probe_refused(probe, reply->str);
    }
    freeReplyObject(reply);
    return probe->answered;
}

/* The key may end between the two commands: then it is absent. */
static void take_pttl(struct wire *wire, struct probe *probe)
{
    redisReply *reply = probe_reply(wire, probe);

    if (!reply)
        return;
    if (reply->type == REDIS_REPLY_ERROR)
        probe_failed(probe, reply->str);
    probe->pttl_ms = reply->integer;
    if (reply->type == REDIS_REPLY_INTEGER && reply->integer == -2)
        probe->exists = false;
    if (probe->pttl_ms == -1)
        probe->is_token = false;
    freeReplyObject(reply);
}

void probe_key_ask(struct wire *wire, const char *key)
{
    const char *get[] = {"GET", key};
    const char *pttl[] = {"PTTL", key};

    wire_append(wire, 2, get);
    wire_append(wire, 2, pttl);
}

bool probe_key_take(struct wire *wire, struct probe *probe)
{
    if (take_get(wire, probe)) {
        take_pttl(wire, probe);
        return true;
    }
    freeReplyObject(wire_reply(wire));
    return false;
}

/* 'r VALUE', 'u VALUE' or 'x VALUE'. */
static bool is_vote(const redisReply *member)
{
    return member->type == REDIS_REPLY_STRING && member->len >= 2 && strchr("rux", member->str[0]) &&
           member->str[1] == ' ';
}

static bool is_mark(const redisReply *member)
{
    return member->type == REDIS_REPLY_STRING && (strcmp(member->str, "@u") == 0 || strcmp(member->str, "@x") == 0);
}

static bool take_time(const redisReply *reply, int64_t *ret_ms)
{
    if (!reply || reply->type != REDIS_REPLY_ARRAY || reply->elements != 2)
        return false;
    *ret_ms = strtoll(reply->element[0]->str, NULL, 10) * 1000 + strtoll(reply->element[1]->str, NULL, 10) / 1000;
    return true;
}

static void add(struct probe_votes *votes, const redisReply *member, int64_t left_ms)
{
    struct probe_vote *vote;

    if (votes->n == PROBE_VOTES_SHOWN) {
        votes->more = true;
        return;
    }
    vote = &votes->votes[votes->n++];
    vote->mode = member->str[0];
    vote->left_ms = left_ms;
    probe_keep_value(member->str + 2, (size_t)member->len - 2, vote->value, &vote->value_hash);
}

/* Members and their ends by turns, the latest end last. */
static void take_members(const redisReply *reply, int64_t now_ms, struct probe_votes *votes)
{
    for (size_t i = 0; i + 1 < reply->elements; i += 2)
        if (!is_vote(reply->element[i]) && !is_mark(reply->element[i]))
            return;
    votes->answered = true;
    for (size_t i = reply->elements / 2; i-- > 0;) {
        const redisReply *member = reply->element[2 * i];
        int64_t left_ms = strtoll(reply->element[2 * i + 1]->str, NULL, 10) - now_ms;

        if (is_vote(member) && left_ms >= 0)
            add(votes, member, left_ms);
    }
}

void probe_votes_ask(struct wire *wire, const char *key)
{
    const char *time[] = {"TIME"};
    const char *range[] = {"ZRANGE", key, "-103", "-1", "WITHSCORES"}; /* one more than is shown, and the marks */

    _Static_assert(PROBE_VOTES_SHOWN + 1 + MARKS == 103, "the range must reach beyond what is shown");
    wire_append(wire, 1, time);
    wire_append(wire, 5, range);
}

void probe_votes_take(struct wire *wire, struct probe *probe, struct probe_votes *votes)
{
    redisReply *when = wire_reply(wire);
    redisReply *members = when ? wire_reply(wire) : NULL;
    int64_t now_ms = 0;

    if (take_time(when, &now_ms) && members && members->type == REDIS_REPLY_ARRAY)
        take_members(members, now_ms, votes);
    freeReplyObject(when);
    freeReplyObject(members);
    if (!votes->answered)
        return;
    probe->why[0] = '\0';
    probe->exists = votes->n > 0;
}

/* --- Inside the probe: the look at a latch, on a connection that is open and greeted ------------------------------ */

enum { PARTIES, GENERATION, OPEN, WAS, N_FIELDS };

/* The next reply, of this type, or the error that the key is of another; the caller frees it. NULL: there is none, and
 * the first line of why. */
static redisReply *next_of_type(struct wire *wire, int type, bool or_wrong, char ret_why[PROBE_WHY_SIZE])
{
    redisReply *reply = wire_reply(wire);
    const char *why = wire->why;

    if (reply) {
        bool error = reply->type == REDIS_REPLY_ERROR;

        if (reply->type == type || (or_wrong && error && strncmp(reply->str, "WRONGTYPE", 9) == 0))
            return reply;
        why = error ? reply->str : "unexpected reply";
    }
    snprintf(ret_why, PROBE_WHY_SIZE, "%.*s", (int)strcspn(why, "\r\n"), why);
    freeReplyObject(reply);
    return NULL;
}

static const char *text_of(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_STRING ? reply->str : "";
}

/* Digits, up to a space or the end. */
static void copy_number(const char *from, char ret_number[24])
{
    size_t size = strspn(from, "0123456789");

    snprintf(ret_number, 24, "%.*s", (int)(size < 24 ? size : 0), from);
}

static void keep_fields(const redisReply *fields, struct probe_latch *latch)
{
    copy_number(text_of(fields->element[GENERATION]), latch->generation);
    copy_number(text_of(fields->element[WAS]), latch->before);
    latch->parties = (uint32_t)strtoul(text_of(fields->element[PARTIES]), NULL, 10);
    latch->open = fields->element[OPEN]->type == REDIS_REPLY_STRING;
    latch->is_latch = latch->parties > 0 && latch->generation[0] != '\0';
}

static bool take_fields(struct wire *wire, struct probe *probe, struct probe_latch *latch)
{
    redisReply *fields = next_of_type(wire, REDIS_REPLY_ARRAY, true, probe->why);

    if (!fields)
        return false;
    if (fields->type == REDIS_REPLY_ARRAY && fields->elements == N_FIELDS)
        keep_fields(fields, latch);
    freeReplyObject(fields);
    return true;
}

static void keep_name(const redisReply *field, struct probe_latch *latch)
{
    char *name;

    if (strncmp(text_of(field), "a:", 2) != 0 || latch->n == REDLOCK_MAX_PARTIES)
        return;
    name = latch->arrived[latch->n++];
    snprintf(name, sizeof latch->arrived[0], "%s", field->str + 2);
    for (char *byte = name; *byte != '\0'; byte++)
        if (*byte < ' ' || *byte > '~')
            *byte = '?';
}

static bool take_names(struct wire *wire, struct probe *probe, struct probe_latch *latch)
{
    redisReply *names = next_of_type(wire, REDIS_REPLY_ARRAY, true, probe->why);

    if (!names)
        return false;
    for (size_t i = 0; names->type == REDIS_REPLY_ARRAY && latch->is_latch && i < names->elements; i++)
        keep_name(names->element[i], latch);
    freeReplyObject(names);
    return true;
}

static bool take_latch_pttl(struct wire *wire, struct probe *probe)
{
    redisReply *pttl = next_of_type(wire, REDIS_REPLY_INTEGER, false, probe->why);

    if (!pttl)
        return false;
    probe->exists = pttl->integer != -2;
    probe->pttl_ms = pttl->integer;
    freeReplyObject(pttl);
    return true;
}

bool probe_latch_take(struct wire *wire, const char *key, struct probe *probe, struct probe_latch *latch)
{
    const char *fields[] = {"HMGET", key, "n", "gen", "open", "was"};
    const char *names[] = {"HKEYS", key};
    const char *pttl[] = {"PTTL", key};
    bool answers[3];

    wire_append(wire, 6, fields);
    wire_append(wire, 2, names);
    wire_append(wire, 2, pttl);
    answers[0] = take_fields(wire, probe, latch);
    answers[1] = take_names(wire, probe, latch);
    answers[2] = take_latch_pttl(wire, probe);
    probe->answered = answers[0] && answers[1] && answers[2];
    if (probe->answered && probe->exists && !latch->is_latch)
        snprintf(probe->why, sizeof probe->why, "not a latch");
    return probe->answered;
}

/* --- Inside the probe: the look at a key's queue, on a connection that is open and greeted ------------------------ */

static bool take_length(struct wire *wire, struct probe_queue *queue)
{
    redisReply *reply = next_of_type(wire, REDIS_REPLY_INTEGER, false, queue->why);

    if (!reply)
        return false;
    queue->length = (size_t)reply->integer;
    freeReplyObject(reply);
    return true;
}

static void take_place(const redisReply *value, const redisReply *score, struct probe_waiter *waiter)
{
    probe_keep_value(value->str, (size_t)value->len, waiter->value, &waiter->value_hash);
    waiter->ticket = strtoull(score->str, NULL, 10);
}

/* Value and score by turns, lowest first. */
static bool take_places(struct wire *wire, struct probe_queue *queue)
{
    redisReply *reply = next_of_type(wire, REDIS_REPLY_ARRAY, false, queue->why);

    if (!reply)
        return false;
    for (size_t i = 0; i + 1 < reply->elements && queue->n < PROBE_QUEUE_SHOWN; i += 2) {
        if (reply->element[i]->type == REDIS_REPLY_STRING && reply->element[i + 1]->type == REDIS_REPLY_STRING)
            take_place(reply->element[i], reply->element[i + 1], &queue->waiters[queue->n++]);
    }
    freeReplyObject(reply);
    return true;
}

static bool take_queue_time(struct wire *wire, struct probe_queue *queue)
{
    redisReply *reply = next_of_type(wire, REDIS_REPLY_ARRAY, false, queue->why);
    bool ok = take_time(reply, &queue->now_ms);

    freeReplyObject(reply);
    return ok;
}

/* An entry begins with the end of the lease; before it stands a mode, 'r', 'u' or 'x^VALUE', unless it is exclusive. */
static const char *mode_and_rest(const char *entry, char *ret_mode)
{
    const char *rest = strchr(entry, ' ');

    *ret_mode = 'x';
    if (!rest || entry[0] == '\0' || !strchr("rux", entry[0]))
        return entry;
    *ret_mode = entry[0];
    return rest + 1;
}

static bool take_leases(struct wire *wire, struct probe_queue *queue)
{
    redisReply *reply = next_of_type(wire, REDIS_REPLY_ARRAY, false, queue->why);

    if (!reply)
        return false;
    for (size_t i = 0; i < reply->elements && i < queue->n; i++) {
        const redisReply *entry = reply->element[i];
        const char *rest = mode_and_rest(entry->type == REDIS_REPLY_STRING ? entry->str : "", &queue->waiters[i].mode);
        int64_t left_ms = strtoll(rest, NULL, 10) - queue->now_ms;

        queue->waiters[i].lease_ms = left_ms > 0 ? left_ms : 0;
    }
    freeReplyObject(reply);
    return true;
}

void probe_queue_ask(struct wire *wire, const char *name)
{
    char last[16];
    const char *length[] = {"ZCARD", name};
    const char *places[] = {"ZRANGE", name, "0", last, "WITHSCORES"};
    const char *time[] = {"TIME"};

    snprintf(last, sizeof last, "%d", PROBE_QUEUE_SHOWN - 1);
    wire_append(wire, 2, length);
    wire_append(wire, 5, places);
    wire_append(wire, 1, time);
}

void probe_queue_take(struct wire *wire, struct probe_queue *queue)
{
    bool length = take_length(wire, queue), places = take_places(wire, queue);

    queue->answered = take_queue_time(wire, queue) && length && places;
}

void probe_leases_ask(struct wire *wire, const char *name, const struct probe_queue *queue)
{
    const char *argv[PROBE_QUEUE_SHOWN + 2] = {"HMGET", name};

    for (size_t i = 0; i < queue->n; i++)
        argv[i + 2] = queue->waiters[i].value;
    if (queue->answered && queue->n > 0)
        wire_append(wire, (int)queue->n + 2, argv);
}

void probe_leases_take(struct wire *wire, struct probe_queue *queue)
{
    if (queue->answered && queue->n > 0)
        queue->answered = take_leases(wire, queue);
}
