#include "cli/probe_queue.h"

#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the look: what has come so far is no picture. */
static bool fail(struct probe_queue *queue, const char *why)
{
    queue->answered = false;
    snprintf(queue->why, sizeof(queue->why), "%.*s", (int)sizeof(queue->why) - 1, why);
    queue->why[strcspn(queue->why, "\r\n")] = '\0';
    return false;
}

/* The next reply, of this type; the caller frees it. NULL: there is none, and the reason is noted. */
static redisReply *next_of_type(redisContext *context, int type, struct probe_queue *queue)
{
    void *got = NULL;
    redisReply *reply;

    if (redisGetReply(context, &got) != REDIS_OK) {
        fail(queue, context->errstr);
        return NULL;
    }
    reply = got;
    if (reply->type == type)
        return reply;
    fail(queue, reply->type == REDIS_REPLY_ERROR ? reply->str : "unexpected reply");
    freeReplyObject(reply);
    return NULL;
}

static bool take_length(redisContext *context, struct probe_queue *queue)
{
    redisReply *reply = next_of_type(context, REDIS_REPLY_INTEGER, queue);

    if (reply == NULL)
        return false;
    queue->length = (size_t)reply->integer;
    freeReplyObject(reply);
    return true;
}

static void take_place(const redisReply *value, const redisReply *score, struct probe_waiter *waiter)
{
    snprintf(waiter->value, sizeof(waiter->value), "%s", value->str);
    waiter->ticket = strtoull(score->str, NULL, 10);
}

/* Value and score by turns, lowest first. */
static bool take_places(redisContext *context, struct probe_queue *queue)
{
    redisReply *reply = next_of_type(context, REDIS_REPLY_ARRAY, queue);

    if (reply == NULL)
        return false;
    for (size_t i = 0; i + 1 < reply->elements && queue->n < PROBE_QUEUE_SHOWN; i += 2) {
        if (reply->element[i]->type == REDIS_REPLY_STRING && reply->element[i + 1]->type == REDIS_REPLY_STRING)
            take_place(reply->element[i], reply->element[i + 1], &queue->waiters[queue->n++]);
    }
    freeReplyObject(reply);
    return true;
}

static bool take_time(redisContext *context, struct probe_queue *queue, int64_t *ret_ms)
{
    redisReply *reply = next_of_type(context, REDIS_REPLY_ARRAY, queue);
    bool ok = reply != NULL && reply->elements == 2;

    if (ok)
        *ret_ms = strtoll(reply->element[0]->str, NULL, 10) * 1000 + strtoll(reply->element[1]->str, NULL, 10) / 1000;
    freeReplyObject(reply);
    return ok;
}

/* An entry begins with the end of the lease. */
static bool take_leases(redisContext *context, struct probe_queue *queue, int64_t now_ms)
{
    redisReply *reply = next_of_type(context, REDIS_REPLY_ARRAY, queue);

    if (reply == NULL)
        return false;
    for (size_t i = 0; i < reply->elements && i < queue->n; i++) {
        const redisReply *entry = reply->element[i];
        int64_t left_ms = entry->type == REDIS_REPLY_STRING ? strtoll(entry->str, NULL, 10) - now_ms : 0;

        queue->waiters[i].lease_ms = left_ms > 0 ? left_ms : 0;
    }
    freeReplyObject(reply);
    return true;
}

static void ask_for_leases(redisContext *context, const char *name, const struct probe_queue *queue)
{
    const char *argv[PROBE_QUEUE_SHOWN + 2] = {"HMGET", name};

    for (size_t i = 0; i < queue->n; i++)
        argv[i + 2] = queue->waiters[i].value;
    redisAppendCommandArgv(context, (int)queue->n + 2, argv, NULL);
}

void probe_queue_take(struct redisContext *context, const struct probe_queue_names *names, struct probe_queue *queue)
{
    int64_t now_ms = 0;

    redisAppendCommand(context, "ZCARD %s", names->queue);
    redisAppendCommand(context, "ZRANGE %s 0 %d WITHSCORES", names->queue, PROBE_QUEUE_SHOWN - 1);
    redisAppendCommand(context, "TIME");
    queue->answered =
        take_length(context, queue) && take_places(context, queue) && take_time(context, queue, &now_ms);
    if (!queue->answered || queue->n == 0)
        return;
    ask_for_leases(context, names->waiters, queue);
    queue->answered = take_leases(context, queue, now_ms);
}
