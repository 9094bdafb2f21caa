#include "cli/probe_queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/probe_votes.h"

/* Ends the look: what has come so far is no picture. */
static bool fail(struct probe_queue *queue, const char *why)
{
    queue->answered = false;
    snprintf(queue->why, sizeof(queue->why), "%.*s", (int)sizeof(queue->why) - 1, why);
    queue->why[strcspn(queue->why, "\r\n")] = '\0';
    return false;
}

/* The next reply, of this type; the caller frees it. NULL: there is none, and the reason is noted. */
static redisReply *next_of_type(struct wire *wire, int type, struct probe_queue *queue)
{
    redisReply *reply = wire_reply(wire);

    if (reply == NULL) {
        fail(queue, wire->why);
        return NULL;
    }
    if (reply->type == type)
        return reply;
    fail(queue, reply->type == REDIS_REPLY_ERROR ? reply->str : "unexpected reply");
    freeReplyObject(reply);
    return NULL;
}

static bool take_length(struct wire *wire, struct probe_queue *queue)
{
    redisReply *reply = next_of_type(wire, REDIS_REPLY_INTEGER, queue);

    if (reply == NULL)
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
    redisReply *reply = next_of_type(wire, REDIS_REPLY_ARRAY, queue);

    if (reply == NULL)
        return false;
    for (size_t i = 0; i + 1 < reply->elements && queue->n < PROBE_QUEUE_SHOWN; i += 2) {
        if (reply->element[i]->type == REDIS_REPLY_STRING && reply->element[i + 1]->type == REDIS_REPLY_STRING)
            take_place(reply->element[i], reply->element[i + 1], &queue->waiters[queue->n++]);
    }
    freeReplyObject(reply);
    return true;
}

static bool take_time(struct wire *wire, struct probe_queue *queue, int64_t *ret_ms)
{
    redisReply *reply = next_of_type(wire, REDIS_REPLY_ARRAY, queue);
    bool ok = reply != NULL && reply->elements == 2;

    if (ok)
        *ret_ms = strtoll(reply->element[0]->str, NULL, 10) * 1000 + strtoll(reply->element[1]->str, NULL, 10) / 1000;
    freeReplyObject(reply);
    return ok;
}

/* An entry begins with the end of the lease; before it stands a mode, 'r', 'u' or 'x^VALUE', unless it is exclusive. */
static const char *mode_and_rest(const char *entry, char *ret_mode)
{
    const char *rest = strchr(entry, ' ');

    *ret_mode = 'x';
    if (rest == NULL || entry[0] == '\0' || strchr("rux", entry[0]) == NULL)
        return entry;
    *ret_mode = entry[0];
    return rest + 1;
}

static bool take_leases(struct wire *wire, struct probe_queue *queue, int64_t now_ms)
{
    redisReply *reply = next_of_type(wire, REDIS_REPLY_ARRAY, queue);

    if (reply == NULL)
        return false;
    for (size_t i = 0; i < reply->elements && i < queue->n; i++) {
        const redisReply *entry = reply->element[i];
        const char *rest = mode_and_rest(entry->type == REDIS_REPLY_STRING ? entry->str : "", &queue->waiters[i].mode);
        int64_t left_ms = strtoll(rest, NULL, 10) - now_ms;

        queue->waiters[i].lease_ms = left_ms > 0 ? left_ms : 0;
    }
    freeReplyObject(reply);
    return true;
}

static void ask_for_leases(struct wire *wire, const char *name, const struct probe_queue *queue)
{
    const char *argv[PROBE_QUEUE_SHOWN + 2] = {"HMGET", name};

    for (size_t i = 0; i < queue->n; i++)
        argv[i + 2] = queue->waiters[i].value;
    wire_append(wire, (int)queue->n + 2, argv);
}

void probe_queue_take(struct wire *wire, const struct probe_names *names, struct probe_queue *queue)
{
    char last[16];
    const char *length[] = {"ZCARD", names->queue};
    const char *places[] = {"ZRANGE", names->queue, "0", last, "WITHSCORES"};
    const char *time[] = {"TIME"};
    int64_t now_ms = 0;

    snprintf(last, sizeof(last), "%d", PROBE_QUEUE_SHOWN - 1);
    wire_append(wire, 2, length);
    wire_append(wire, 5, places);
    wire_append(wire, 1, time);
    queue->answered = take_length(wire, queue) && take_places(wire, queue) && take_time(wire, queue, &now_ms);
    if (!queue->answered || queue->n == 0)
        return;
    ask_for_leases(wire, names->waiters, queue);
    queue->answered = take_leases(wire, queue, now_ms);
}
