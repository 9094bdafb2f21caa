#include "cli/probe_rights.h"

#include <stdio.h>
#include <string.h>

enum { MOST_WORDS = 6 };

/* NAME stands for the key or channel that does not exist. Where a command could create something it is malformed, in a
 * way that the master finds after it has looked at the user's rights. SELECT is left out, since a user who lacks it
 * does not come so far; CONFIG GET, since the client itself finds out whether it is allowed. */
#define NAME "?"

static const struct {
    const char *right;
    bool optional; /* locks work without it: redlock(7) */
    const char *words[MOST_WORDS];
} commands[] = {
    {"+ping", false, {"PING"}},
    {"+client|setname", true, {"CLIENT", "SETNAME", "redlock"}},
    {"+info", false, {"INFO", "server"}},
    {"+time", false, {"TIME"}},
    {"+get", false, {"GET", NAME}},
    {"+set", false, {"SET", NAME, "", "NX", "XX"}},
    {"+del", false, {"DEL", NAME}},
    {"+pexpire", false, {"PEXPIRE", NAME, "1"}},
    {"+exists", false, {"EXISTS", NAME}},
    {"+pttl", false, {"PTTL", NAME}},
    {"+hget", false, {"HGET", NAME, "f"}},
    {"+hmget", false, {"HMGET", NAME, "f"}},
    {"+hkeys", false, {"HKEYS", NAME}},
    {"+hset", false, {"HSET", NAME, "f", "v", "g"}},
    {"+hdel", false, {"HDEL", NAME, "f"}},
    {"+zadd", false, {"ZADD", NAME, "no number", "m"}},
    {"+zcard", false, {"ZCARD", NAME}},
    {"+zpopmin", false, {"ZPOPMIN", NAME}},
    {"+zrange", false, {"ZRANGE", NAME, "0", "0"}},
    {"+zrank", false, {"ZRANK", NAME, "m"}},
    {"+zrem", false, {"ZREM", NAME, "m"}},
    {"+zremrangebyscore", false, {"ZREMRANGEBYSCORE", NAME, "0", "0"}},
    {"+zscore", false, {"ZSCORE", NAME, "m"}},
    {"+publish", true, {"PUBLISH", NAME, ""}},
    {"+eval", false, {"EVAL", "(", "0"}},
    {"+evalsha", false, {"EVALSHA", "0000000000000000000000000000000000000000", "0"}},
    {"+script|load", true, {"SCRIPT", "LOAD", "("}},
    /* The last ones, since the connection is for messages then. */
    {"+subscribe", true, {"SUBSCRIBE", NAME}},
    {"+unsubscribe", true, {"UNSUBSCRIBE", NAME}},
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void append(struct wire *wire, size_t command, const char *name)
{
    const char *words[MOST_WORDS];
    int n = 0;

    for (; n < MOST_WORDS && commands[command].words[n] != NULL; n++)
        words[n] = strcmp(commands[command].words[n], NAME) == 0 ? name : commands[command].words[n];
    wire_append(wire, n, words);
}

/* "NOPERM this user has no permissions to run the 'zadd' command": other words tell of a key or a channel. */
static bool is_denied(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "NOPERM", 6) == 0 &&
           strstr(reply->str, "permissions to run") != NULL;
}

static void note(struct probe_rights *rights, size_t command)
{
    size_t length = strlen(rights->missing);

    snprintf(rights->missing + length, sizeof(rights->missing) - length, "%s%s", length > 0 ? " " : "",
             commands[command].right);
    rights->needed |= !commands[command].optional;
}

void probe_rights_take(struct wire *wire, const char *name, struct probe_rights *rights)
{
    for (size_t i = 0; i < COMMANDS; i++)
        append(wire, i, name);
    for (size_t i = 0; i < COMMANDS; i++) {
        redisReply *reply = wire_reply(wire);

        if (reply == NULL)
            return;
        if (is_denied(reply))
            note(rights, i);
        freeReplyObject(reply);
    }
}
