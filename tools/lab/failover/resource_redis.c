/* A Redis server, in which each record is a list. The guard is tools/fencing/redis.lua. */
#include "resource.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page/page.h"

static const char *const lists[FO_STORE_RECORDS] = {[FO_GUARDED] = "guarded", [FO_UNGUARDED] = "unguarded"};

/* A list that does not exist is empty. */
static bool prepare(struct fo_resource *resource, char *ret_why, size_t size)
{
    return true;
}

/* No time limit is set: one would make a read fail with EINTR in a process that is stopped and continued. */
static void *connect_to(const struct fo_resource *resource, char *ret_why, size_t size)
{
    redisContext *context = redisConnectUnix(resource->url + strlen("unix://"));

    if (context && !context->err)
        return context;
    snprintf(ret_why, size, "the Redis of --resource: %s", context ? context->errstr : "out of memory");
    if (context)
        redisFree(context);
    return NULL;
}

static void disconnect(void *connection)
{
    redisFree(connection);
}

static enum fo_answer answer_of(redisReply *reply)
{
    static const char late[] = "FENCE late write";
    enum fo_answer answer = FO_STORE_BROKE;

    if (reply && reply->type == REDIS_REPLY_INTEGER)
        answer = FO_STORE_TOOK;
    else if (reply && reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, late, sizeof late - 1) == 0)
        answer = FO_STORE_REFUSED;
    if (reply)
        freeReplyObject(reply);
    return answer;
}

static enum fo_answer write_to(void *connection, enum fo_store_record record, bool guarded, uint64_t token,
                               uint64_t turn)
{
    if (!guarded)
        return answer_of(redisCommand(connection, "RPUSH %s %llu", lists[record], (unsigned long long)turn));
    return answer_of(redisCommand(connection, "EVAL %s 2 fence:%s %s %llu RPUSH %llu", FO_GUARD_REDIS, lists[record],
                                  lists[record], (unsigned long long)token, (unsigned long long)turn));
}

static bool read_all(void *connection, enum fo_store_record record, struct fo_stored *ret_stored)
{
    redisReply *reply = redisCommand(connection, "LRANGE %s 0 -1", lists[record]);
    bool ok = reply && reply->type == REDIS_REPLY_ARRAY;

    for (size_t i = 0; ok && i < reply->elements; i++)
        fo_stored_take(ret_stored, strtoull(reply->element[i]->str, NULL, 10));
    if (reply)
        freeReplyObject(reply);
    return ok;
}

const struct fo_resource_type fo_resource_redis = {.system = MASTERS_REDIS,
                                                   .prepare = prepare,
                                                   .connect = connect_to,
                                                   .disconnect = disconnect,
                                                   .write = write_to,
                                                   .read = read_all};
