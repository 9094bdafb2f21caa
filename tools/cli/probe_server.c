#include "cli/probe_server.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/clock.h"
#include "options/message.h"

enum { MOST_WORDS = 6 };

/* NAME stands for a key that does not exist, CHANNEL for a channel of which nobody hears, MARKER for the key that every
 * user needs beside those of the locks. Where a command could create something it is malformed, in a
 * way that the master finds after it has looked at the user's rights. SELECT is left out, since a user who lacks it
 * does not come so far; CONFIG GET, since the client itself finds out whether it is allowed. */
#define NAME "?"
#define CHANNEL "&"
#define MARKER "*"

static const struct {
    const char *right;
    enum { NEEDED, VITAL, OPTIONAL } weight; /* some locks need it, or all; or they can do without: redlock(7) */
    const char *words[MOST_WORDS];
} commands[] = {
    {"+ping", NEEDED, {"PING"}},
    {"+client|setname", OPTIONAL, {"CLIENT", "SETNAME", "redlock"}},
    {"+info", VITAL, {"INFO"}},
    {"+time", VITAL, {"TIME"}},
    {"+get", NEEDED, {"GET", NAME}},
    {"+set", VITAL, {"SET", NAME, "", "NX", "XX"}},
    {"+del", NEEDED, {"DEL", NAME}},
    {"+pexpire", NEEDED, {"PEXPIRE", NAME, "1"}},
    {"+exists", NEEDED, {"EXISTS", NAME}},
    {"+pttl", NEEDED, {"PTTL", NAME}},
    {"+hget", NEEDED, {"HGET", NAME, "f"}},
    {"+hmget", NEEDED, {"HMGET", NAME, "f"}},
    {"+hkeys", NEEDED, {"HKEYS", NAME}},
    {"+hset", NEEDED, {"HSET", MARKER, "f", "v", "g"}},
    {"+hdel", NEEDED, {"HDEL", NAME, "f"}},
    {"+zadd", NEEDED, {"ZADD", NAME, "no number", "m"}},
    {"+zcard", NEEDED, {"ZCARD", NAME}},
    {"+zpopmin", NEEDED, {"ZPOPMIN", NAME}},
    {"+zrange", NEEDED, {"ZRANGE", NAME, "0", "0"}},
    {"+zrank", NEEDED, {"ZRANK", NAME, "m"}},
    {"+zrem", NEEDED, {"ZREM", NAME, "m"}},
    {"+zremrangebyscore", NEEDED, {"ZREMRANGEBYSCORE", NAME, "0", "0"}},
    {"+zscore", NEEDED, {"ZSCORE", NAME, "m"}},
    {"+publish", OPTIONAL, {"PUBLISH", CHANNEL, ""}},
    {"+eval", NEEDED, {"EVAL", "(", "0"}},
    {"+script|exists", OPTIONAL, {"SCRIPT", "EXISTS", "0000000000000000000000000000000000000000"}},
    {"+evalsha", VITAL, {"EVALSHA", "0000000000000000000000000000000000000000", "0"}},
    /* The last ones, since the connection is for messages then. */
    {"+subscribe", OPTIONAL, {"SUBSCRIBE", CHANNEL}},
    {"+unsubscribe", OPTIONAL, {"UNSUBSCRIBE", CHANNEL}},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

struct names {
    char key[REDLOCK_MAX_PREFIX_BYTES + 80];
    char channel[REDLOCK_MAX_PREFIX_BYTES + 80];
    char marker[REDLOCK_MAX_PREFIX_BYTES + 80];
};

static void make_names(const char *prefix, struct names *names)
{
    snprintf(names->key, sizeof names->key, "%sredlock:rights:%ld-%llx", prefix, (long)getpid(),
             (unsigned long long)clock_now_us());
    snprintf(names->channel, sizeof names->channel, "%sredlock:grant:%s", prefix, names->key + strlen(prefix));
    snprintf(names->marker, sizeof names->marker, "%sredlock:marker", prefix);
}

static const char *word_of(const char *word, const struct names *names)
{
    if (strcmp(word, NAME) == 0)
        return names->key;
    if (strcmp(word, CHANNEL) == 0)
        return names->channel;
    return strcmp(word, MARKER) == 0 ? names->marker : word;
}

static void append(struct wire *wire, size_t command, const struct names *names)
{
    const char *words[MOST_WORDS];
    int n = 0;

    for (; n < MOST_WORDS && commands[command].words[n]; n++)
        words[n] = word_of(commands[command].words[n], names);
    wire_append(wire, n, words);
}

static bool begins(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

/* "NOPERM this user has no permissions to run the 'zadd' command", "... User me has no permissions to run ..." since
 * Redis 7, and "No permissions to access a key" or "... channel"; Redis 6 says "one of the keys". */
static bool is_denied(const char *error)
{
    return begins(error, "NOPERM") && strstr(error, "permissions to run");
}

static void add_word(char list[PROBE_RIGHTS_SIZE], const char *word)
{
    size_t length = strlen(list);

    snprintf(list + length, PROBE_RIGHTS_SIZE - length, "%s%s", length > 0 ? " " : "", word);
}

static void note(struct probe_rights *rights, size_t command, const char *error)
{
    if (is_denied(error)) {
        add_word(rights->missing, commands[command].right);
        rights->needed |= commands[command].weight != OPTIONAL;
    } else if (strstr(error, "unknown command")) {
        add_word(rights->unknown, commands[command].words[0]);
    } else {
        rights->keys |= begins(error, "NOPERM") && strstr(error, "key");
        rights->marker |= rights->keys && strcmp(commands[command].right, "+hset") == 0;
        rights->channels |= begins(error, "NOPERM") && strstr(error, "channel");
        return;
    }
    rights->vital |= commands[command].weight == VITAL;
}

/* What a server says that takes no writes: the form of the command is looked at later. */
static bool is_refusal(const char *error)
{
    return !begins(error, "NOPERM") && !begins(error, "ERR") && !begins(error, "NOSCRIPT") &&
           !begins(error, "WRONGTYPE");
}

/* The number behind a name in INFO; 0 if it is not there. */
static double number_of(const char *info, const char *name)
{
    const char *at = strstr(info, name);

    return at ? strtod(at + strlen(name), NULL) : 0;
}

static void take_info(const char *info, struct probe_rights *rights)
{
    double most = number_of(info, "\r\nmaxmemory:");

    probe_run_id_take(info, rights);
    rights->sentinel = strstr(info, "redis_mode:sentinel") != NULL;
    rights->save_failed = strstr(info, "rdb_last_bgsave_status:err") ||
                          strstr(info, "aof_last_write_status:err");
    if (most > 0)
        rights->memory_percent = (unsigned)(number_of(info, "\r\nused_memory:") / most * 100);
}

bool probe_rights_take(struct wire *wire, const char *prefix, struct probe_rights *rights, char *ret_why, size_t size)
{
    bool takes_writes = true;
    struct names names;

    make_names(prefix, &names);
    for (size_t i = 0; i < COMMANDS; i++)
        append(wire, i, &names);
    for (size_t i = 0; i < COMMANDS; i++) {
        redisReply *reply = wire_reply(wire);

        /* A server that is paused for writes stops at the first one. */
        if (!reply && takes_writes && strcmp(commands[i].right, "+set") == 0) {
            snprintf(ret_why, size, "no answer to %s for %u ms", commands[i].words[0], wire->timeout_ms);
            return false;
        }
        if (!reply)
            return takes_writes;
        if (reply->type == REDIS_REPLY_ERROR && is_refusal(reply->str) && takes_writes) {
            takes_writes = false;
            shown_whole_words(reply->str, ret_why, size);
        } else if (reply->type == REDIS_REPLY_ERROR) {
            note(rights, i, reply->str);
        } else if (reply->type == REDIS_REPLY_STRING && strcmp(commands[i].right, "+info") == 0) {
            take_info(reply->str, rights);
        }
        freeReplyObject(reply);
    }
    return takes_writes;
}

/* --- What a second look at a master tells, which the first one cannot --------------------------------------------- */

/* A clock is looked at twice over so long; once more if it seems to stand, as it may have been set back meanwhile. */
enum { CLOCK_LOOK_US = 100000, CLOCK_LOOKS = 2 };

void probe_time_take(const redisReply *reply, int64_t before_us, struct probe_time *ret_time)
{
    *ret_time = (struct probe_time){.before_us = before_us, .after_us = clock_now_us()};
    if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 && reply->element[0]->type == REDIS_REPLY_STRING &&
        reply->element[1]->type == REDIS_REPLY_STRING)
        ret_time->shown_us = strtoll(reply->element[0]->str, NULL, 10) * 1000000 +
                             strtoll(reply->element[1]->str, NULL, 10);
}

static bool ask_for_time(struct wire *wire, struct probe_time *ret_time)
{
    const char *time[] = {"TIME"};
    int64_t before_us = clock_now_us();
    redisReply *reply;

    *ret_time = (struct probe_time){0};
    wire_append(wire, 1, time);
    reply = wire_reply(wire);
    if (reply)
        probe_time_take(reply, before_us, ret_time);
    freeReplyObject(reply);
    return ret_time->shown_us > 0;
}

bool probe_clock_stands(struct wire *wire, const struct probe_time *first)
{
    struct probe_time earlier = *first, later;

    if (first->shown_us <= 0)
        return false;
    for (int i = 0; i < CLOCK_LOOKS; i++) {
        int64_t left_us = earlier.after_us + CLOCK_LOOK_US - clock_now_us();

        if (left_us > 0)
            poll(NULL, 0, (int)((left_us + 999) / 1000));
        if (!ask_for_time(wire, &later) ||
            later.shown_us - earlier.shown_us >= (later.before_us - earlier.after_us) / 2)
            return false;
        earlier = later;
    }
    return true;
}

void probe_run_id_take(const char *info, struct probe_rights *rights)
{
    static const char name[] = "\r\nrun_id:";
    const char *at = strstr(info, name);
    size_t size = at ? strcspn(at + strlen(name), "\r\n") : 0;

    if (size == 0 || size >= PROBE_RUN_ID_SIZE || rights->met > PROBE_CONNECTIONS)
        return;
    memcpy(rights->run_ids[rights->met], at + strlen(name), size);
    rights->run_ids[rights->met++][size] = '\0';
}

void probe_note_crowd(const char *error, struct probe_rights *rights)
{
    rights->crowded |= strstr(error, "max number of clients") != NULL;
}

void probe_run_id_ask(struct wire *wire, struct probe_rights *rights)
{
    const char *info[] = {"INFO", "server"};
    redisReply *reply;

    wire_append(wire, 2, info);
    reply = wire_reply(wire);
    if (reply && reply->type == REDIS_REPLY_STRING)
        probe_run_id_take(reply->str, rights);
    else if (reply && reply->type == REDIS_REPLY_ERROR)
        probe_note_crowd(reply->str, rights);
    freeReplyObject(reply);
}
