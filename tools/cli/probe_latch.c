#include "cli/probe_latch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTIES, GENERATION, OPEN, WAS, N_FIELDS };

static bool fail(struct probe *probe, const char *why)
{
    probe->answered = false;
    snprintf(probe->why, sizeof(probe->why), "%.*s", (int)sizeof(probe->why) - 1, why);
    probe->why[strcspn(probe->why, "\r\n")] = '\0';
    return false;
}

static bool is_wrong_type(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "WRONGTYPE", 9) == 0;
}

/* The next reply, of this type or the error WRONGTYPE; the caller frees it. NULL: there is none. */
static redisReply *next_of_type(struct wire *wire, int type, struct probe *probe)
{
    redisReply *reply = wire_reply(wire);

    if (reply == NULL) {
        fail(probe, wire->why);
        return NULL;
    }
    if (reply->type == type || is_wrong_type(reply))
        return reply;
    fail(probe, reply->type == REDIS_REPLY_ERROR ? reply->str : "unexpected reply");
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
    redisReply *fields = next_of_type(wire, REDIS_REPLY_ARRAY, probe);

    if (fields == NULL)
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
    snprintf(name, sizeof(latch->arrived[0]), "%s", field->str + 2);
    for (char *byte = name; *byte != '\0'; byte++)
        if (*byte < ' ' || *byte > '~')
            *byte = '?';
}

static bool take_names(struct wire *wire, struct probe *probe, struct probe_latch *latch)
{
    redisReply *names = next_of_type(wire, REDIS_REPLY_ARRAY, probe);

    if (names == NULL)
        return false;
    for (size_t i = 0; names->type == REDIS_REPLY_ARRAY && latch->is_latch && i < names->elements; i++)
        keep_name(names->element[i], latch);
    freeReplyObject(names);
    return true;
}

static bool take_pttl(struct wire *wire, struct probe *probe)
{
    redisReply *pttl = next_of_type(wire, REDIS_REPLY_INTEGER, probe);

    if (pttl == NULL)
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

    wire_append(wire, 6, fields);
    wire_append(wire, 2, names);
    wire_append(wire, 2, pttl);
    probe->answered = true;
    if (!take_fields(wire, probe, latch) || !take_names(wire, probe, latch) || !take_pttl(wire, probe))
        return false;
    if (probe->exists && !latch->is_latch)
        snprintf(probe->why, sizeof(probe->why), "not a latch");
    return true;
}
